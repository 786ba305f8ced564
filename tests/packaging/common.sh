# Sourced by the tests of this folder: consumers of an installed tree. Not a test of its own.
# Trap: programs linked against a shared library outside the system's folders need a run path.
source_tree=$1
consumer=$source_tree/tests/packaging/consumer
example_output='0.000000 1.224736 -1.224736'

fail() {
  echo "$*" >&2
  exit 1
}

# expect NAME PROGRAM: the program must print the three normalized numbers.
expect() {
  local got
  got=$("$2") || fail "$1: $2 ended with $?"
  [[ $got == "$example_output" ]] || fail "$1 printed '$got', must print '$example_output'"
  echo "$1: ok"
}

# expect_examples NAME FOLDER: what the consumer project built there.
expect_examples() {
  expect "C through $1" "$2/consumer_c"
  expect "C++ through $1" "$2/consumer_cpp"
  [[ $("$2/consumer_c_block") == *'mean square 1.0000' ]] || fail "c_block through $1 is wrong"
  "$2/consumer_mapped_file" --help >/dev/null || fail "mapped_file through $1 does not start"
}

# use_cmake_package NAME PREFIX WORK
use_cmake_package() {
  cmake -S "$consumer" -B "$3" -DCMAKE_PREFIX_PATH="$2" -DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF \
    >/dev/null
  cmake --build "$3" >/dev/null
  expect_examples "$1" "$3"
  expect "the oracle through $1" "$3/consumer_reference"
  if [[ -x $3/consumer_static ]]; then expect "the archive through $1" "$3/consumer_static"; fi
}

# use_pkg_config NAME PREFIX WORK
use_pkg_config() {
  local libraries name=$1 prefix=$2 work=$3
  mkdir -p "$work"
  libraries=$(dirname "$(find "$prefix" -name equinorm.pc)")
  export PKG_CONFIG_LIBDIR=$libraries
  # shellcheck disable=SC2046
  cc -std=c11 -Wall -Wextra -Werror -pedantic "$source_tree/examples/c_norm.c" -o "$work/pkg_c" \
    $(pkg-config --cflags --libs equinorm) -Wl,-rpath,"$(pkg-config --variable=libdir equinorm)"
  expect "C through pkg-config, $name" "$work/pkg_c"
  # shellcheck disable=SC2046
  c++ -std=c++20 "$source_tree/examples/cpp_norm.cpp" -o "$work/pkg_static" \
    $(pkg-config --cflags equinorm) "$(pkg-config --variable=libdir equinorm)/libequinorm.a" \
    $(pkg-config --static --libs-only-other --libs-only-l equinorm | sed 's/-lequinorm//')
  if ldd "$work/pkg_static" | grep -q equinorm; then fail "pkg_static loads a shared library"; fi
  expect "C++ through pkg-config --static, $name" "$work/pkg_static"
}
