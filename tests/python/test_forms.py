"""`equinorm forms` and the page made from it."""

from __future__ import annotations

import json
from pathlib import Path

from conftest import Run

ROOT = Path(__file__).resolve().parents[2]


def listed(equinorm: Run) -> dict[str, list[dict]]:
    return json.loads(equinorm("forms", "--json").stdout)


def test_the_page_of_forms_is_what_the_command_prints(equinorm: Run) -> None:
    page = (ROOT / "docs" / "forms.md").read_text(encoding="utf-8")
    tables = equinorm("forms", "--markdown").stdout.split("\n\n")
    lists = listed(equinorm)
    assert list(lists) == ["norms", "operators", "placements"]
    for table, count in zip(tables, (len(entries) for entries in lists.values()), strict=True):
        assert len(table.strip().splitlines()) == count + 2
        assert f"\n\n<!-- equinorm forms --markdown -->\n{table.strip()}\n" in page


def test_json_has_every_form_with_formula_source_and_options(equinorm: Run) -> None:
    forms = {form["name"]: form for form in listed(equinorm)["norms"]}
    assert forms["LayerNorm"]["eps"] == 1e-5 and forms["LayerNorm"]["bias"] is True
    assert forms["RmsNormClamp"]["spread"] == "clamped"
    assert forms["ScaledStandardize"]["parameters"] == "gamma (1)"
    assert all(form["formula"] and form["source"] for form in forms.values())
    text = equinorm("forms").stdout
    assert all(name in text for name in forms)


def test_every_operator_names_a_function_that_a_header_declares(equinorm: Run) -> None:
    operators = {entry["name"]: entry for entry in listed(equinorm)["operators"]}
    assert {"BatchNorm", "GroupNorm", "DyT", "AdaLN", "QKNorm"} <= set(operators)
    headers = "".join(
        header.read_text(encoding="utf-8") for header in (ROOT / "include/equinorm").glob("*.hpp")
    )
    for entry in operators.values():
        for direction in ("forward", "backward"):
            assert f"Status {entry['function']}_{direction}(" in headers, entry["name"]
        assert entry["formula"] and entry["source"] and entry["options"] and entry["parameters"]


def test_json_has_every_placement_with_formula_source_and_norms(equinorm: Run) -> None:
    placements = {entry["name"]: entry for entry in listed(equinorm)["placements"]}
    assert len(placements) >= 14
    assert placements["pre"]["norms"] == ["before", "final"]
    assert placements["peri"]["norms"] == ["embedding", "before", "branch", "final"]
    assert placements["normformer"]["norms"] == ["before", "attention", "hidden", "final"]
    assert [name for name, entry in placements.items() if not entry["norms"]] == [
        "rezero", "tfixup", "none",
    ]  # fmt: skip
    assert all(entry["formula"] and entry["source"] for entry in placements.values())
    text = equinorm("forms").stdout
    assert all(f"\n{name}\n" in text for name in placements)


def operators_of_compare(equinorm: Run) -> dict[str, list[str]]:
    """Each operator that compare knows, with the option that asks for it and the option's value."""
    entries = listed(equinorm)["operators"]
    return {entry["name"]: entry["compare"].split() for entry in entries if entry["compare"]}


def test_operators_say_how_compare_knows_them(equinorm: Run) -> None:
    known = operators_of_compare(equinorm)
    assert known["BatchNorm"] == known["MaskedBatchNorm"] == ["--norm", "batch"]
    for name in ("DyT", "BlendedLayerNorm", "PowerNorm", "PerStepBatchNorm"):
        assert known[name] == ["--norm", name]
    assert known["QKNorm"] == ["--qk-norm", "l2"]
    assert known["QKNormLearned"] == ["--qk-norm", "rms|layer"]
    assert not {"AdaLN", "GroupNorm", "ResidualNorm", "QuantizedNorm"} & set(known)
    text = equinorm("forms").stdout
    assert "\n  equinorm compare --norm DyT\n" in text and "\n  not in compare\n" in text


def test_compare_knows_every_form(equinorm: Run, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("the cat sat on the mat and ate the rat that ran past. " * 200)
    names = [form["name"] for form in listed(equinorm)["norms"]]
    operators = operators_of_compare(equinorm).values()
    names += sorted({value for option, value in operators if option == "--norm"})
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


def test_compare_knows_every_norm_of_queries_and_keys(equinorm: Run, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("the cat sat on the mat and ate the rat that ran past. " * 200)
    options = operators_of_compare(equinorm).values()
    names = {
        name for option, value in options if option == "--qk-norm" for name in value.split("|")
    }
    assert names == {"l2", "rms", "layer"}
    losses = set()
    for name in sorted(names | {"none"}):
        done = equinorm(
            "compare", f"--text={text}", f"--out={tmp_path / name}", f"--qk-norm={name}",
            "--norm=layer", "--placement=pre", "--depth=1", "--width=16", "--heads=2",
            "--context=16", "--batch=4", "--steps=4", "--eval-every=4", "--instrument-every=0",
            "--seeds=1", "--lr=0.001", "--quiet",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        (run,) = (tmp_path / name / "runs").iterdir()
        assert json.loads((run / "config.json").read_text()).get("qk_norm", "none") == name
        losses.add(json.loads((run / "result.json").read_text())["final_loss"])
    assert len(losses) == 4


def test_compare_knows_every_placement(equinorm: Run, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("the cat sat on the mat and ate the rat that ran past. " * 200)
    lists = listed(equinorm)["placements"]
    names = [entry["name"] for entry in lists]
    done = equinorm(
        "compare", f"--text={text}", f"--out={tmp_path / 'out'}", f"--placement={','.join(names)}",
        "--norm=layer", "--depth=2", "--width=16", "--heads=2", "--context=16", "--batch=4",
        "--steps=4", "--eval-every=4", "--instrument-every=2", "--seeds=1", "--lr=0.001", "--quiet",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    arms = [line.split()[0] for line in done.stdout.splitlines() if line.strip()]
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    for entry in lists:
        arm = f"layer-{entry['name']}" if entry["norms"] else entry["name"]
        assert arm in arms
        label = f"LayerNorm ({entry['name']})" if entry["norms"] else entry["title"]
        assert label in page
