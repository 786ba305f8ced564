#!/usr/bin/env bash
# Usage: mapped_file_test.sh PROGRAM WORK. A file larger than usual caches, in place and into a
# second file, in several chunk sizes; its numbers against Python's; and every kind of error.
set -euo pipefail
program=$1 work=$2
rm -rf "$work" && mkdir -p "$work"
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() { echo "$*" >&2; exit 1; }
# refuses STATUS TEXT ARGUMENT...: the program must end so and say so.
refuses() {
  local want=$1 text=$2 status=0 said
  shift 2
  said=$("$program" "$@" 2>&1 >/dev/null) || status=$?
  [[ $status == "$want" && $said == *"$text"* ]] ||
    fail "'$*' ended with $status and '$said', must be $want and '$text'"
}

"$program" --make --rows 24571 --cols 1024 rows.f32 >/dev/null
[[ $(stat -c %s rows.f32) == $((24571 * 1024 * 4)) ]] || fail "rows.f32 has a wrong size"
cp rows.f32 first.f32
said=$("$program" --cols 1024 rows.f32 normalized.f32)
want='24571 rows of 1024 numbers, 96.0 MiB, in chunks of 4096 rows'
[[ $said == "$want"* ]] || fail "printed '$said', must begin with '$want'"
[[ $said == *'root mean square 0.99998'*' to 0.99998'* ]] || fail "printed '$said'"
cmp rows.f32 first.f32
"$program" --cols 1024 --chunk-rows 7 rows.f32 ./rows.f32 >/dev/null  # the same file twice
cmp rows.f32 normalized.f32
"$program" --cols 1024 --rms first.f32 rms.f32 >/dev/null

python3 - <<'PYTHON'
import array
import math

def row(name: str, index: int) -> list[float]:
    numbers = array.array("f")
    with open(name, "rb") as file:
        file.seek(index * 4096)
        numbers.fromfile(file, 1024)
    return list(numbers)

for index in (0, 4095, 4096, 24570):  # both sides of a chunk's end, and the last row
    x = row("first.f32", index)
    mean = math.fsum(x) / 1024
    spread = math.sqrt(math.fsum((v - mean) ** 2 for v in x) / 1024 + 1e-5)
    length = math.sqrt(math.fsum(v * v for v in x) / 1024 + 1e-5)
    # The library's bound: 3 units of 2^-23 of the row's largest output.
    for name, want in (("normalized.f32", [(v - mean) / spread for v in x]),
                       ("rms.f32", [v / length for v in x])):
        bound = 3 * 2.0**-23 * max(map(abs, want))
        worst = max(abs(a - b) for a, b in zip(row(name, index), want, strict=True))
        assert worst <= bound, f"{name}, row {index}: off by {worst}, at most {bound}"
PYTHON

refuses 2 Usage
refuses 2 "unknown option '--column'" --column 4 rows.f32
refuses 2 "--cols = '0': must be from 1 to 2^40" --cols 0 rows.f32
refuses 2 '--cols: needs a number' --cols
refuses 2 '--cols is missing' rows.f32
refuses 2 'FILE is missing' --cols 4
refuses 2 'too many files' --cols 4 a b c
refuses 2 '--make and --rows belong together' --cols 4 --rows 4 rows.f32
refuses 2 'must be below 2^40' --make --cols 1099511627776 --rows 2 huge.f32
refuses 1 'missing.f32: cannot be opened' --cols 4 missing.f32
refuses 1 'nowhere/out.f32: cannot be opened' --cols 1024 rows.f32 nowhere/out.f32
refuses 1 '/dev/null: is not a regular file' --cols 4 /dev/null
refuses 1 'are not a whole number of rows of 4004 bytes' --cols 1001 rows.f32
if (($(stat -f -c '%a * %S' .) < 2 ** 42)); then  # it would make the file where there is space
  refuses 1 'are free' --make --cols 1024 --rows 1073741823 huge.f32
fi
: >empty.f32
refuses 1 'empty.f32: 0 bytes are not a whole number of rows' --cols 4 empty.f32
"$program" --help | grep -q 'mapped_file --cols 1024 rows.f32 normalized.f32'
echo ok
