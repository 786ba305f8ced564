#!/usr/bin/env bash
# Installs what is missing, builds Equinorm, compares norms on real data and prints the results.
set -u -o pipefail
cd "$(dirname "$0")" || exit 1

usage() {
  cat <<'TEXT'
Usage: ./run.sh [--out DIR] [compare options...]

Installs the Debian packages and the PyTorch that are missing (PyTorch into .venv), builds the
equinorm command and trains small Transformers with each norm and placement on Fashion-MNIST and on
Bible text, about 3 minutes on 2 cores. Prints the results table and where the report is.

Running it again resumes what was interrupted and repeats nothing that is done.
Options after ./run.sh replace the default comparison; see build/release/cli/equinorm compare --help.

Examples:
  ./run.sh
  ./run.sh --out out/mine --text notes.txt --seeds 5
TEXT
}
case "${1-}" in -h | --help) usage; exit 0 ;; esac

source scripts/setup.sh
install_packages "${build_packages[@]}" "${data_packages[@]}"
install_python
build release equinorm_cli
if [ $# -eq 0 ]; then
  # Two tasks, seven arms, two learning rates, three seeds: 84 runs in under 3 minutes on 2 cores.
  set -- --task fashion-mnist,bible
fi
exec build/release/cli/equinorm compare "$@"
