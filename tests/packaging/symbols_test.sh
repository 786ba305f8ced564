#!/usr/bin/env bash
# Usage: symbols_test.sh SOURCE BUILD NM. What leaves the shared library is what packaging/symbols
# lists, each with a version; every struct of C has its layout stated; and the library can neither
# print nor end the process.
set -euo pipefail
source=$1 build=$2 nm=$3
library=$build/src/api/libequinorm.so

if "$nm" -D --defined-only "$library" | awk '$2 != "A" && $3 !~ /@@EQUINORM_[0-9]+$/' | grep .; then
  echo "the symbols above leave $library without a version" >&2
  exit 1
fi
read -r _ package _ <"$source/packaging/symbols"
# The version of the last column is when a symbol came; the library does not know it.
without_version() { sed 's/ [0-9.]*$//' "$@"; }
diff -u <(without_version "$source/packaging/symbols") \
  <("$source/packaging/list_symbols.sh" "$library" "$package" 0 | without_version) || {
  echo "the library's symbols differ from packaging/symbols: a '-' breaks programs that use it, a" \
    "'+' is to be added with this version; packaging/list_symbols.sh prints the list" >&2
  exit 1
}
layout=$source/tests/packaging/consumer/layout.c
for struct in $(sed -n 's/^typedef struct \(equinorm_[a-z_]*\) {$/\1/p' \
  "$source/include/equinorm/equinorm.h"); do
  grep -q "^FIELD($struct, " "$layout" || { echo "$struct is not in $layout" >&2; exit 1; }
done
"$source/tests/core/symbols_test.sh" "$nm" "$library" dynamic
