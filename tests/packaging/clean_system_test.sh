#!/usr/bin/env bash
# Usage: clean_system_test.sh SOURCE PACKAGES. Installs the Debian packages in the folder PACKAGES
# into a fresh Debian, builds and runs the examples there, and removes the packages again.
#
# Not among the ordinary tests: it downloads some 150 MB. `./test.sh --packages` runs it, as root or
# where user namespaces are allowed.
set -euo pipefail
source=$(realpath "$1") packages=$(realpath "$2")
log=$packages/clean-system.log

# What runs inside, with everything in /inside.
inside() {
  set -eu
  cd /inside
  want='0.000000 1.224736 -1.224736'
  export DEBIAN_FRONTEND=noninteractive
  apt-get install -y -q --no-install-recommends ./*.deb
  dpkg --verify libequinorm0 libequinorm-dev equinorm
  cc -std=c11 c_norm.c -o from_c $(pkg-config --cflags --libs equinorm)
  [ "$(./from_c)" = "$want" ]
  cmake -S consumer -B build
  cmake --build build
  for name in c cpp static reference; do [ "$(./build/consumer_$name)" = "$want" ]; done
  ./build/consumer_c_block | grep 'mean square 1.0000'
  ./build/consumer_mapped_file --make --rows 1000 --cols 256 rows.f32
  ./build/consumer_mapped_file --cols 256 rows.f32
  equinorm info
  equinorm explain 1000 1001 999 | grep 1.2247
  apt-get purge -y -q equinorm libequinorm-dev libequinorm0
  if ldconfig -p | grep equinorm; then exit 1; fi
  [ -z "$(find /usr -path '*equinorm*' -not -path '/usr/share/doc/*')" ]
  echo 'everything passed'
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/inside/examples"
cp "$packages"/*.deb "$source"/examples/* "$work/inside"
cp "$source"/examples/* "$work/inside/examples"
cp -r "$source/tests/packaging/consumer" "$work/inside"
# The consumer looks for the examples where they are in the source tree.
sed -i 's|\${CMAKE_CURRENT_SOURCE_DIR}/../../../examples|/inside/examples|' \
  "$work/inside/consumer/CMakeLists.txt"
{ declare -f inside; echo inside; } >"$work/inside/inside.sh"

mmdebstrap --variant=minbase --include=g++,make,cmake,pkg-config \
  --customize-hook="copy-in $work/inside /" \
  --customize-hook='chroot "$1" sh /inside/inside.sh' \
  bookworm /dev/null >"$log" 2>&1 || { tail -n 40 "$log" >&2; exit 1; }
grep -q '^everything passed$' "$log" || { echo "no end in $log" >&2; exit 1; }
echo "installed, used and removed: $(cd "$packages" && echo *.deb); log in $log"
