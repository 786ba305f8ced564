"""Every experiment that trains, in the smoke tier: its runs, metrics, verdicts and figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from lab_command import ROOT, run

try:
    import tomllib
except ModuleNotFoundError:  # before Python 3.11; pytest brings this one
    import tomli as tomllib

SEEDS = 3
VERDICTS = {
    "reproduced", "opposite", "not found", "true by construction", "not measurable here", "not run"
}  # fmt: skip
# What one rate or a few steps do not give.
NEEDS_MORE = {"sensitivity", "best_learning_rate", "steps_to_target", "seconds_to_target"}


# Given in low precision alone, and with a loss scale.
OF_SOME_ARMS = {"silent_zero_share", "overflow_share", "skipped_steps"}


def trains(declaration: dict[str, Any]) -> bool:
    arms = declaration.get("arm", [])
    parts = [declaration.get("base", {}), *arms]
    return bool(arms) and not any("measurement" in part for part in parts)


DECLARATIONS = {
    declaration["id"]: declaration
    for path in sorted((ROOT / "lab" / "experiments").glob("E*.toml"))
    if trains(declaration := tomllib.loads(path.read_text()))
}
every_experiment = pytest.mark.parametrize("experiment", DECLARATIONS)


@pytest.fixture(scope="module")
def smoke(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("smoke")
    done = run("run", *DECLARATIONS, "--tier", "smoke", "--out", out, "--quiet", timeout=600)
    assert done.returncode == 0, done.stderr
    assert f"No finding, being of the smoke tier: {next(iter(DECLARATIONS))}, " in done.stdout
    return out


@pytest.fixture(scope="module")
def document(smoke: Path) -> dict[str, Any]:
    return json.loads(run("report", "--out", smoke, "--json").stdout)


@every_experiment
def test_every_arm_runs_and_gives_every_metric(experiment: str, document: dict[str, Any]) -> None:
    declared = DECLARATIONS[experiment]
    found = next(entry for entry in document["experiments"] if entry["id"] == experiment)
    assert found["tier"] == "smoke"
    assert found["done"] == found["planned"] == SEEDS * len(declared["arm"])
    assert [cell["arm"] for cell in found["cells"]] == [arm["name"] for arm in declared["arm"]]
    wanted = {declared["metric"], *declared.get("columns", [])}
    for cell in found["cells"]:
        assert cell["metrics"].keys() == wanted
        for name in wanted - NEEDS_MORE - OF_SOME_ARMS:
            assert cell["metrics"][name]["n"] == SEEDS, f"{cell['arm']}: {name}"
    for name in wanted & OF_SOME_ARMS:
        assert {cell["metrics"][name]["n"] for cell in found["cells"]} == {0, SEEDS}, name


@every_experiment
def test_every_rule_is_judged_and_nothing_is_found(
    experiment: str, document: dict[str, Any]
) -> None:
    for rule in DECLARATIONS[experiment].get("verdict", []):
        (row,) = [
            row
            for row in document["verdicts"]
            if (row["experiment"], row["claim"], row["tested"])
            == (experiment, rule["claim"], rule["says"])
        ]
        assert row["verdict"] in VERDICTS
        assert row["detail"].startswith("smoke tier, no finding: "), row
        assert row["n"] == SEEDS or row["verdict"] in ("not measurable here", "not run"), row


@every_experiment
def test_every_figure_is_drawn_or_its_absence_explained(experiment: str, smoke: Path) -> None:
    html = (smoke / "report.html").read_text(encoding="utf-8")
    section = html.split(f'<section id="{experiment}">')[1].split("</section>")[0]
    for figure in DECLARATIONS[experiment].get("figure", []):
        title = figure["title"]
        assert section.count(title) > 0, title


def test_the_report_says_which_experiments_are_no_findings(smoke: Path) -> None:
    html = (smoke / "report.html").read_text(encoding="utf-8")
    assert f"No finding, being of the smoke tier: {', '.join(document_order(smoke))}." in html


def document_order(out: Path) -> list[str]:
    document = json.loads(run("report", "--out", out, "--json").stdout)
    return [entry["id"] for entry in document["experiments"]]


def test_a_declaration_of_the_users_own_has_a_smoke_tier(tiny: Path, tmp_path: Path) -> None:
    done = run("run", tiny, "--tier", "smoke", "--out", tmp_path, "--quiet")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("mine ") == 1
    assert "No finding, being of the smoke tier: tiny." in done.stdout
    for path in (tmp_path / "runs").glob("*/result.json"):
        assert json.loads(path.read_text())["steps_done"] == 4
