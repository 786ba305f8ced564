#!/usr/bin/env bash
# Usage: subdirectory_test.sh SOURCE WORK. Builds and runs consumers that take Equinorm in by
# add_subdirectory, as a static and then as a shared library of the same objects.
set -euo pipefail
work=$2
source "$(dirname "$0")/common.sh"

for shared in OFF ON; do
  cmake -S "$consumer" -B "$work" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DEQUINORM_SOURCE="$source_tree" -DBUILD_SHARED_LIBS="$shared" >/dev/null
  cmake --build "$work" --target consumer_c consumer_c_block consumer_cpp \
    consumer_mapped_file >/dev/null
  loads=OFF
  if readelf -d "$work/consumer_c" | grep -q 'NEEDED.*libequinorm\.so\.0'; then loads=ON; fi
  [[ $loads == "$shared" ]] || fail "BUILD_SHARED_LIBS=$shared, but linked as if $loads"
  expect_examples "add_subdirectory, BUILD_SHARED_LIBS=$shared" "$work"
done
