# Sourced by run.sh and test.sh: installs what is missing and configures the build.
# Not a program of its own. Trap: everything here must be quick when nothing is missing.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=$root/.venv
torch_version=2.13.0

build_packages=(g++ cmake ninja-build ccache git python3 python3-venv
  libhwy-dev libcli11-dev libfmt-dev nlohmann-json3-dev libmpfr-dev libkainjow-mustache-dev libtomlplusplus-dev
  libboost-dev zlib1g-dev libssl-dev libgtest-dev libgmock-dev librapidcheck-dev)
data_packages=(dataset-fashion-mnist sword-text-web sword-text-sparv libsword-utils python3-sklearn)
test_packages=(binutils pkg-config dpkg-dev file chromium fonts-dejavu-core)
clean_system_packages=(mmdebstrap)
arm_packages=(g++-aarch64-linux-gnu qemu-user googletest)

say() { printf '==> %s\n' "$*" >&2; }
fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

is_installed() {
  [ "$(dpkg-query -W -f '${db:Status-Abbrev}' "$1" 2>/dev/null)" = 'ii ' ]
}

# install_packages NAME...: Debian packages, as root or through sudo.
install_packages() {
  local missing=() name sudo=()
  command -v dpkg-query >/dev/null || fail "this script installs Debian packages and found no dpkg;" \
    "install the counterparts of: $*"
  for name in "$@"; do is_installed "$name" || missing+=("$name"); done
  [ ${#missing[@]} -eq 0 ] && return
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || fail "missing Debian packages, and neither root nor sudo is" \
      "available. Run as root: apt-get install --no-install-recommends ${missing[*]}"
    sudo=(sudo)
  fi
  say "Installing Debian packages: ${missing[*]}"
  "${sudo[@]}" apt-get update -q >&2 || say "apt-get update failed; going on with the old lists"
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -q --no-install-recommends "${missing[@]}" >&2 ||
    fail "apt-get could not install: ${missing[*]}"
}

# install_python: a project-local virtual environment with PyTorch.
install_python() {
  if [ ! -x "$venv/bin/python" ] || ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
    say "Creating ${venv#"$root"/}"
    python3 -m venv --clear "$venv" || fail "python3 -m venv failed; is python3-venv installed?"
  fi
  local have
  have=$("$venv/bin/python" -c \
    'from importlib.metadata import version; print(version("torch").split("+")[0])' 2>/dev/null)
  if [ "$have" != "$torch_version" ]; then
    say "Installing PyTorch $torch_version into ${venv#"$root"/}"
    "$venv/bin/python" -m pip install -q "torch==$torch_version" >&2 ||
      fail "pip could not install torch==$torch_version"
  fi
}

# build PRESET [TARGET...]: configures and builds; all targets when none is named.
build() {
  local preset=$1 log
  shift
  log=$root/build/$preset.log
  mkdir -p "$root/build"
  say "Building (preset $preset${*:+, target $*}); log in ${log#"$root"/}"
  (cd "$root" && cmake --preset "$preset" >"$log" 2>&1) ||
    { tail -n 30 "$log" >&2; fail "cmake --preset $preset failed"; }
  if [ -t 2 ]; then
    cmake --build "$root/build/$preset" ${*:+--target "$@"} 2>&1 | tee -a "$log" |
      sed -un 's/^\(\[[0-9]*\/[0-9]*\]\).*/\r\1/p' | tr -d '\n' >&2
  else
    cmake --build "$root/build/$preset" ${*:+--target "$@"} >>"$log" 2>&1
  fi
  [ "${PIPESTATUS[0]}" -eq 0 ] ||
    { grep -E -A5 'error|FAILED' "$log" | tail -n 40 >&2; fail "the build failed; see $log"; }
}
