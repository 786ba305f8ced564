#!/usr/bin/env bash
# Usage: symbols_test.sh NM LIBRARY [dynamic]. Fails if the library can print, end the process or
# load code; with `dynamic` it is a shared library, of which the dynamic symbols count.
set -euo pipefail
forbidden='^(v?f?n?s?n?printf|puts|fputs|putchar|fputc|fwrite|write|perror|abort|_?exit|_Exit'
forbidden+='|quick_exit|system|popen|dlopen|__assert_fail|fopen|__printf_chk|__fprintf_chk)$'
forbidden+='|^_ZSt(4cout|4cerr|4clog)$|^_ZN3hwy5Abort'
symbols=$("$1" ${3:+--dynamic} "$2" | awk 'NF > 1 && $(NF - 1) == "U" { sub(/@.*/, "", $NF); print $NF }' | sort -u)
if [[ -z $symbols ]]; then
  echo "no symbols found in $2" >&2
  exit 1
fi
if found=$(grep -E "$forbidden" <<<"$symbols"); then
  echo "$2 must not refer to: $found" >&2
  exit 1
fi
echo "$(wc -l <<<"$symbols") undefined symbols in $2, none forbidden"
