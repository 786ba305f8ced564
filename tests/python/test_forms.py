"""`equinorm forms` and the page made from it."""

from __future__ import annotations

import json
from pathlib import Path

from conftest import Run

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_of_forms_is_what_the_command_prints(equinorm: Run) -> None:
    table = equinorm("forms", "--markdown").stdout
    assert table.count("\n") > 10
    assert table in (ROOT / "docs" / "forms.md").read_text(encoding="utf-8")


def test_json_has_every_form_with_formula_source_and_options(equinorm: Run) -> None:
    forms = {form["name"]: form for form in json.loads(equinorm("forms", "--json").stdout)}
    assert forms["LayerNorm"]["eps"] == 1e-5 and forms["LayerNorm"]["bias"] is True
    assert forms["RmsNormClamp"]["spread"] == "clamped"
    assert forms["ScaledStandardize"]["parameters"] == "gamma (1)"
    assert all(form["formula"] and form["source"] for form in forms.values())
    text = equinorm("forms").stdout
    assert all(name in text for name in forms)


def test_compare_knows_every_form(equinorm: Run, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("the cat sat on the mat and ate the rat that ran past. " * 200)
    names = [form["name"] for form in json.loads(equinorm("forms", "--json").stdout)]
    done = equinorm(
        "compare", f"--text={text}", f"--out={tmp_path / 'out'}", f"--norm={','.join(names)}",
        "--placement=pre", "--depth=1", "--width=16", "--heads=2", "--context=16", "--batch=4",
        "--steps=4", "--eval-every=4", "--instrument-every=0", "--seeds=1", "--lr=0.001", "--quiet",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for name in names:
        assert f"{name}-pre" in done.stdout
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "AdaNorm" in page
