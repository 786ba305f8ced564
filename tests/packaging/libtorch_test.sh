#!/usr/bin/env bash
# Usage: libtorch_test.sh SOURCE BUILD WORK TORCH. Installed headers of the LibTorch front end with
# the LibTorch of the Python package in TORCH.
set -euo pipefail
build=$2 work=$3 torch=$4
source "$(dirname "$0")/common.sh"

rm -rf "$work" && mkdir -p "$work"
for component in development library; do
  cmake --install "$build" --prefix "$work/tree" --component "$component" >/dev/null
done
cmake -S "$consumer" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/tree" -DTORCH_FOLDER="$torch" \
  -DCMAKE_CXX_COMPILER_LAUNCHER="$(command -v ccache || true)" >/dev/null
cmake --build "$work/build" --target consumer_libtorch >/dev/null
got=$("$work/build/consumer_libtorch")
[[ $got == *'mean square 1' ]] || fail "printed '$got', must end with 'mean square 1'"
echo ok
