#!/usr/bin/env bash
# Usage: install_test.sh SOURCE BUILD WORK. Installs BUILD, moves the tree, builds and runs consumers.
set -euo pipefail
source=$1 build=$2 work=$3
consumer=$source/tests/packaging/consumer
want='0.000000 1.224736 -1.224736'

rm -rf "$work" && mkdir -p "$work"
cmake --install "$build" --prefix "$work/first" --component development >/dev/null
cmake --install "$build" --prefix "$work/first" --component library >/dev/null
mv "$work/first" "$work/moved"

expect() {
  local got
  got=$("$2")
  [[ $got == "$want" ]] || { echo "$1 printed '$got', must print '$want'" >&2; exit 1; }
  echo "$1: ok"
}

cmake -S "$consumer" -B "$work/package" -DCMAKE_PREFIX_PATH="$work/moved" >/dev/null
cmake --build "$work/package" >/dev/null
expect 'C through find_package' "$work/package/consumer_c"
expect 'C++ through find_package' "$work/package/consumer_cpp"

if command -v pkg-config >/dev/null; then
  export PKG_CONFIG_PATH=$work/moved/lib/pkgconfig:$work/moved/lib/x86_64-linux-gnu/pkgconfig
  # shellcheck disable=SC2046
  cc -std=c11 -Wall -Wextra -Werror -pedantic "$source/examples/c_norm.c" -o "$work/pkg_c" \
    $(pkg-config --cflags --libs equinorm) -Wl,-rpath,"$(pkg-config --variable=libdir equinorm)"
  expect 'C through pkg-config' "$work/pkg_c"
fi

cmake -S "$consumer" -B "$work/subdirectory" -G Ninja -DEQUINORM_SOURCE="$source" >/dev/null
cmake --build "$work/subdirectory" --target consumer_c consumer_cpp >/dev/null
expect 'C through add_subdirectory' "$work/subdirectory/consumer_c"
expect 'C++ through add_subdirectory' "$work/subdirectory/consumer_cpp"
