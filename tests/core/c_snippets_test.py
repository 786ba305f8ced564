#!/usr/bin/env python3
"""Usage: c_snippets_test.py SOURCE. Every piece of C in docs/c_api.md stands in an example that is
compiled and run, line by line; and its table has every function of equinorm.h.

Indentation does not count: a piece of a function stands at the margin in the text.
"""

import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1])
document = (source / "docs/c_api.md").read_text()
header = (source / "include/equinorm/equinorm.h").read_text()


def lines(text: str) -> str:
    return "\n" + "\n".join(line.strip() for line in text.strip().splitlines()) + "\n"


programs = [lines(path.read_text()) for path in sorted((source / "examples").glob("*.c"))]
snippets = re.findall(r"^```c\n(.*?)^```", document, re.DOTALL | re.MULTILINE)
missing = [s for s in snippets if not any(lines(s) in program for program in programs)]
for snippet in missing:
    print(f"in no example:\n{snippet}", file=sys.stderr)

functions = set(re.findall(r"^\w[\w *]*\b(equinorm_\w+)\(", header, re.MULTILINE))
listed = set(re.findall(r"^\| `(equinorm_\w+)` \|", document, re.MULTILINE))
for name in sorted(functions ^ listed):
    where = "docs/c_api.md" if name in functions else "equinorm.h"
    print(f"{name} is missing in {where}", file=sys.stderr)

if len(snippets) < 4 or len(functions) < 30:
    sys.exit("too few snippets or functions found to believe in this test")
sys.exit(1 if missing or functions != listed else 0)
