"""Adds up the results that test.sh left in the given folders and prints one closing line.

GoogleTest programs are counted by their test cases (their JSON files), other CTest entries and
pytest by theirs. Exits 1 when a test failed or none ran.
"""

import json
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path


def count(folder: Path) -> tuple[int, int]:
    """Returns (passed, failed) of one results folder."""
    total = failed = 0
    programs = set()
    for path in folder.glob("*.json"):
        result = json.loads(path.read_text())
        programs.add(path.stem)
        total += result["tests"] - result.get("disabled", 0)
        failed += result["failures"] + result.get("errors", 0)
    for path in folder.glob("*.xml"):
        for case in ElementTree.parse(path).iter("testcase"):
            bad = case.find("failure") is not None or case.find("error") is not None
            # A GoogleTest program counts again only when it died without saying which test failed.
            if path.stem == "ctest" and case.get("name") in programs:
                continue
            total += 1
            failed += bad
    return total - failed, failed


def main() -> int:
    passed = failed = 0
    for name in sys.argv[1:]:
        p, f = count(Path(name))
        print(f"{name}: {p} passed, {f} failed")
        passed, failed = passed + p, failed + f
    if passed + failed == 0:
        print("error: no test ran")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
