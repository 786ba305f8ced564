#!/usr/bin/env bash
# Installs what is missing, builds everything and runs every test; the last line counts them.
set -u -o pipefail
cd "$(dirname "$0")" || exit 1

usage() {
  cat <<'TEXT'
Usage: ./test.sh [--sanitize | --arm | --packages]

  (nothing)    build everything; run the C++ and the Python tests
  --sanitize   the core's tests under AddressSanitizer + UndefinedBehaviorSanitizer, then the
               threaded ones under ThreadSanitizer
  --arm        the core's tests for 64-bit Arm under qemu-aarch64
  --packages   installs the Debian packages into a fresh Debian, uses and removes them; downloads
               150 MB

Exit status: 0 when every test passed.
TEXT
}

mode=all
case "${1-}" in
  '') ;;
  --sanitize) mode=sanitize ;;
  --arm) mode=arm ;;
  --packages) mode=packages ;;
  -h | --help) usage; exit 0 ;;
  *) usage >&2; printf "error: unknown option '%s'\n" "$1" >&2; exit 2 ;;
esac

source scripts/setup.sh
status=0

# run_ctest PRESET [ctest options]: runs the C++ tests and keeps GoogleTest's own results.
run_ctest() {
  local preset=$1
  shift
  rm -rf "build/$preset/results" && mkdir -p "build/$preset/results"
  say "Running the C++ tests (preset $preset)"
  GTEST_OUTPUT="json:$root/build/$preset/results/" ctest --test-dir "build/$preset" \
    --output-on-failure --no-tests=error -j 2 \
    --output-junit "$root/build/$preset/results/ctest.xml" "$@" || status=1
}

case $mode in
  all)
    install_packages "${build_packages[@]}" "${data_packages[@]}" "${test_packages[@]}"
    install_python
    "$venv/bin/python" -m pip install -q -r tests/python/requirements.txt >&2 ||
      fail "pip could not install tests/python/requirements.txt"
    preset=release
    build "$preset"
    run_ctest "$preset"
    say "Running the Python tests"
    EQUINORM_BIN=$root/build/$preset/cli/equinorm "$venv/bin/python" -m pytest tests/python -q \
      --junit-xml "build/$preset/results/pytest.xml" || status=1
    results=("build/$preset/results")
    ;;
  sanitize)
    install_packages "${build_packages[@]}" "${test_packages[@]}"
    build asan equinorm_tests
    EQUINORM_TEST_SCALE=small run_ctest asan
    build tsan equinorm_thread_tests
    EQUINORM_TEST_SCALE=small run_ctest tsan -L threads
    results=(build/asan/results build/tsan/results)
    ;;
  arm)
    install_packages "${build_packages[@]}" "${arm_packages[@]}"
    build arm64 equinorm_tests
    EQUINORM_TEST_SCALE=small run_ctest arm64
    results=(build/arm64/results)
    ;;
  packages)
    install_packages "${build_packages[@]}" "${test_packages[@]}" "${clean_system_packages[@]}"
    build package
    cpack --preset package >build/package/cpack.log 2>&1 ||
      { cat build/package/cpack.log >&2; fail "cpack failed"; }
    say "Installing the packages into a fresh Debian"
    exec tests/packaging/clean_system_test.sh . build/package/packages
    ;;
esac
python3 scripts/count_tests.py "${results[@]}" || status=1
exit $status
