#!/usr/bin/env bash
# Usage: install_test.sh SOURCE BUILD WORK. Installs BUILD, moves the tree, builds and runs
# consumers.
set -euo pipefail
build=$2 work=$3
source "$(dirname "$0")/common.sh"

rm -rf "$work" && mkdir -p "$work"
for component in development library; do
  cmake --install "$build" --prefix "$work/first" --component "$component" >/dev/null
done
mv "$work/first" "$work/moved"

use_cmake_package find_package "$work/moved" "$work/package"
use_pkg_config 'a moved tree' "$work/moved" "$work/pkg"
if [[ -n $(find "$work/moved" -name libequinorm.so) ]]; then
  cmake -S "$source_tree/tests/packaging/consumer_c" -B "$work/c_only" \
    -DCMAKE_PREFIX_PATH="$work/moved" >/dev/null
  cmake --build "$work/c_only" >/dev/null
  expect 'a project in C alone' "$work/c_only/consumer_c"
fi
