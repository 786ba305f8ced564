#!/usr/bin/env bash
# Usage: shared_build_test.sh SOURCE BUILD. Builds what the other tests of shared libraries and of
# Debian packages start from, with the preset of the packages.
set -euo pipefail
cd "$1"
cmake --preset package -B "$2" >/dev/null
cmake --build "$2"
