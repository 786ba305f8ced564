#!/usr/bin/env python3
"""Writes the generated part of docs/results.md from a folder of `equinorm lab`.

    EQUINORM_BIN=build/release/cli/equinorm .venv/bin/python scripts/results_page.py out/lab

Everything behind the line that says so is replaced; pictures of the report go to docs/results/.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "python"))

from chromium import Page  # noqa: E402

PAGE = ROOT / "docs" / "results.md"
PICTURES = ROOT / "docs" / "results"
MARK = "<!-- Below: written by scripts/results_page.py -->"


def cell(text: object) -> str:
    return str(text).replace("|", "\\|")


def table(header: list[str], rows: list[list[object]]) -> list[str]:
    lines = ["| " + " | ".join(header) + " |", "| " + " | ".join("---" for _ in header) + " |"]
    return lines + ["| " + " | ".join(cell(c) for c in row) + " |" for row in rows]


def estimate(metric: dict | None) -> str:
    if metric is None or metric["mean"] is None:
        return "–"
    return re.sub(r" \(n = \d+\)", "", metric["text"]).replace("+-", "±")


def verdicts(document: dict) -> list[str]:
    rows = []
    for row in document["verdicts"]:
        judged = row["tested"] or row["says"]
        detail = row["number"] or row["detail"]
        endings = (" stalled", " never reached the target")
        ends = [part for part in row["detail"].split("; ") if part.endswith(endings)]
        if row["number"] and ends:
            detail += f" ({'; '.join(ends)})"
        rows.append(
            [row["claim"], judged, row["verdict"], detail, row["n"] or "", row["experiment"] or ""]
        )
    header = ["claim", "what was judged", "verdict", "number", "n", "from"]
    return table(header, rows)


def experiment(entry: dict, figures: list[str]) -> list[str]:
    lines = [f"### {entry['id']}: {entry['title']}", ""]
    lines.append(f"Tier {entry['tier']}, {entry['done']} of {entry['planned']} runs.")
    lines.append("")
    cells = entry["cells"]
    axes = list(cells[0]["point"]) if cells else []
    metrics = list(cells[0]["metrics"]) if cells else []
    swept = any(c["best_learning_rate"] for c in cells)
    header = ["arm", *axes, *(m.replace("_", " ") for m in metrics)]
    rows = [
        [c["arm"], *(c["point"][a] for a in axes), *(estimate(c["metrics"][m]) for m in metrics)]
        + ([f"{c['best_learning_rate']:g}" if c["best_learning_rate"] else "–"] if swept else [])
        for c in cells
    ]
    lines += table(header + (["best rate"] if swept else []), rows)
    for name in figures:
        lines += ["", f"![{entry['id']}: {entry['title']}](results/{name})"]
    return lines + [""]


def pictures(report: Path) -> dict[str, list[str]]:
    """One picture per figure of the report, by experiment."""
    PICTURES.mkdir(exist_ok=True)
    for old in PICTURES.glob("*.png"):
        old.unlink()
    found: dict[str, list[str]] = {}
    with Page(report, width=1000) as page:
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        boxes = page.evaluate(
            "[...document.querySelectorAll('figure[id]')].map(f => {"
            "const b = f.getBoundingClientRect();"
            "return [f.id, b.left + scrollX, b.top + scrollY, b.width, b.height]})"
        )
        for name, *clip in boxes:
            path = PICTURES / f"{name}.png"
            page.screenshot(path, clip=tuple(clip))
            found.setdefault(name.split("-figure-")[0], []).append(path.name)
    return found


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    out = Path(sys.argv[1])
    binary = os.environ.get("EQUINORM_BIN", str(ROOT / "build/release/cli/equinorm"))
    command = [binary, "lab", "report", "--out", str(out), "--json"]
    document = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    figures = pictures(out / "report.html")
    lines = [MARK, "", "## Verdicts", "", *verdicts(document), "", "## Experiments", ""]
    for entry in document["experiments"]:
        if entry["done"] == 0:
            continue
        lines += experiment(entry, figures.get(entry["id"], []))
    written = PAGE.read_text().split(MARK)[0].rstrip() if PAGE.exists() else "# Results"
    PAGE.write_text(written + "\n\n" + "\n".join(lines).rstrip() + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
