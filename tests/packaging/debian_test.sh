#!/usr/bin/env bash
# Usage: debian_test.sh SOURCE BUILD WORK. Makes the Debian packages of a shared build, reads their
# control files, unpacks them into an empty tree and uses it. The machine's own package database is
# only read; `./test.sh --packages` installs them into a fresh system.
set -euo pipefail
build=$2 work=$3
source "$(dirname "$0")/common.sh"

rm -rf "$work" "$build/packages" && mkdir -p "$work/tree"
(cd "$build" && cpack -G DEB >"$work/cpack.log" 2>&1) ||
  { cat "$work/cpack.log"; fail 'cpack failed'; }
mapfile -t packages < <(find "$build/packages" -maxdepth 1 -name '*.deb' | sort)
architecture=$(dpkg --print-architecture)
version=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$build/CMakeCache.txt")

# package_file NAME
package_file() {
  local file
  for file in "${packages[@]}"; do
    if [[ ${file##*/} == "$1_${version}_$architecture.deb" ]]; then echo "$file"; return; fi
  done
  fail "no package $1 $version for $architecture among: ${packages[*]}"
}

# has NAME FIELD PART...: the field of the control file holds all parts.
has() {
  local name=$1 field=$2 value part
  shift 2
  value=$(dpkg-deb -f "$(package_file "$name")" "$field")
  for part in "$@"; do
    [[ $value == *"$part"* ]] || fail "$name: $field is '$value' and lacks '$part'"
  done
}

[[ ${#packages[@]} == 3 ]] || fail "made ${#packages[@]} packages, must be 3: ${packages[*]}"
has libequinorm0 Section libs
has libequinorm0 Depends 'libc6 (>=' 'libstdc++6 (>=' 'libgomp1 (>='
has libequinorm-dev Section libdevel
has libequinorm-dev Depends "libequinorm0 (= $version)" libmpfr-dev
has equinorm Section science
has equinorm Depends "libequinorm0 (= $version)" 'libfmt9 (>=' 'libssl3 (>=' 'zlib1g (>=' 'libmpfr6'
for name in libequinorm0 libequinorm-dev equinorm; do
  has "$name" Description 'Transformer normalization kernels: '
  has "$name" Maintainer @
  file=$(package_file "$name")
  dpkg-deb -c "$file" | awk '!/ root\/root / { print; bad = 1 } END { exit bad }' ||
    fail "$name: the files above do not belong to root"
  dpkg-deb -x "$file" "$work/only-$name"
  dpkg-deb -x "$file" "$work/tree"
  doc=$work/only-$name/usr/share/doc/$name
  [[ -s $doc/copyright && -s $doc/changelog.gz ]] || fail "$name: no copyright or changelog"
done
control=$(dpkg-deb --ctrl-tarfile "$(package_file libequinorm0)" | tar -t)
for part in symbols shlibs triggers; do
  [[ $control == *"./$part"* ]] || fail "libequinorm0 has no control file '$part'"
done

# No file is in two packages, no header is missing, and nothing knows where it was built.
twice=$(cd "$work" && find only-* -not -type d -printf '%P\n' | sort | uniq -d)
[[ -z $twice ]] || fail "files in two packages: $twice"
diff <(cd "$source_tree/include" && find . -name '*.h' -o -name '*.hpp' | sort) \
  <(cd "$work/tree/usr/include" && find . -type f | sort) || fail 'headers differ'
if grep -rlF "$build" "$work/tree"; then fail "the files above hold the path $build"; fi

use_cmake_package 'an unpacked find_package' "$work/tree/usr" "$work/package"
use_pkg_config 'unpacked packages' "$work/tree/usr" "$work/pkg"

# The command finds its libraries beside itself.
loaded=$(ldd "$work/tree/usr/bin/equinorm")
[[ $loaded == *"$work/tree/usr/"*libequinorm.so.0* && $loaded != *'not found'* ]] ||
  fail "the command loads: $loaded"
steps=$("$work/tree/usr/bin/equinorm" explain 1000 1001 999)
[[ $steps == *1.2247* ]] || fail "the packaged command explains: $steps"
"$work/tree/usr/bin/equinorm" check --help >/dev/null
gzip -t "$work/tree/usr/share/man/man1/equinorm.1.gz"
echo "${packages[@]##*/}"
