#!/usr/bin/env bash
# Usage: list_symbols.sh LIBRARY PACKAGE VERSION. Prints the exported symbols of a shared library as
# Debian's `symbols` file lists them, each as new in VERSION. Data of the linker (A) is left out.
set -euo pipefail
library=$1 package=$2 version=$3
soname=$(readelf -d "$library" | sed -n 's/.*Library soname: \[\(.*\)\]$/\1/p')
[[ -n $soname ]] || { echo "$library has no soname" >&2; exit 1; }
printf '%s %s #MINVER#\n' "$soname" "$package"
# A symbol without a version is listed with @Base, as dpkg-gensymbols does.
nm -D --defined-only "$library" | awk -v version="$version" '$2 != "A" {
  name = $3
  sub(/@@/, "@", name)
  if (name !~ /@/) name = name "@Base"
  print " " name " " version
}' | LC_ALL=C sort
