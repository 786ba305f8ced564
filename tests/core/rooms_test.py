#!/usr/bin/env python3
"""Checks which rooms include which: python3 rooms_test.py SOURCE_TREE.

An #include may only follow the arrows of docs/architecture.md. Standard and third-party headers
are not rooms and pass, except that the kernels may have Highway alone and include/ no one's.
"""

import re
import sys
from pathlib import Path

# A room and the rooms that it may include besides itself. Longest path wins.
ALLOWED = {
    "include/equinorm/torch": {"include/equinorm"},
    "include/equinorm": set(),
    "src/kernels": set(),
    "src/parallel": {"include/equinorm"},
    "src/api": {"include/equinorm", "src/parallel", "src/kernels"},
    "src/reference": {"include/equinorm"},
    "src/conformance": {"include/equinorm", "src/kernels", "src/reference"},
    "lab": {"include/equinorm", "include/equinorm/torch"},
    "cli": {"include/equinorm", "include/equinorm/torch", "lab", "bench", "src/conformance"},
}
# They may see everything.
FREE = ("bench", "tests", "examples")
ROOMS = sorted([*ALLOWED, *FREE], key=len, reverse=True)
ROOTS = ("", "include", "src")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
SUFFIXES = {".h", ".hpp", ".cpp", ".inc"}


def room_of(path: str) -> str | None:
    return next((room for room in ROOMS if path.startswith(room + "/")), None)


def target_of(tree: Path, file: Path, name: str) -> str | None:
    """The file in the tree that `name` means, relative to the tree."""
    for folder in (file.parent, *(tree / root for root in ROOTS)):
        found = (folder / name).resolve()
        if found.is_file() and found.is_relative_to(tree):
            return found.relative_to(tree).as_posix()
    return None


def faults(tree: Path) -> list[str]:
    found = []
    for file in sorted(f for room in ALLOWED for f in (tree / room).rglob("*")):
        if file.suffix not in SUFFIXES:
            continue
        own = file.relative_to(tree).as_posix()
        room = room_of(own)
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if match is None:
                continue
            name = match.group(1)
            target = target_of(tree, file, name)
            other = room_of(target) if target else None
            if other and other != room and other not in ALLOWED[room]:
                found.append(f"{own}:{number}: {room} must not include {name} of {other}")
            if other is None and name.startswith("hwy/") and room != "src/kernels":
                found.append(f"{own}:{number}: only src/kernels may include {name}")
            if name.startswith(("torch/", "ATen/")) and not room.startswith(
                ("include/equinorm/torch", "lab", "cli")
            ):
                found.append(f"{own}:{number}: {room} must not include {name}")
    return sorted(set(found))


def main() -> int:
    tree = Path(sys.argv[1]).resolve()
    found = faults(tree)
    for fault in found:
        print(fault, file=sys.stderr)
    print(f"{len(found)} includes against the arrows")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
