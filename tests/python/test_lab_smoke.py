"""Every experiment that trains, in the smoke tier: its runs, metrics, verdicts and figures."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

import pytest
from lab_command import ROOT, run, tomllib

# A run takes a fraction of a second; those of these take up to three.
HEAVY = {"E11", "E11b", "E13", "E16"}
VERDICTS = {
    "reproduced", "opposite", "not found", "true by construction", "not measurable here", "not run"
}  # fmt: skip
# What one rate or a few steps do not give.
NEEDS_MORE = {"sensitivity", "best_learning_rate", "steps_to_target", "seconds_to_target"}
# What arms that round, scale their loss or have an alpha give alone.
OF_SOME_ARMS = {
    "overflow_share", "underflow_share", "silent_zero_share", "skipped_steps", "loss_scale", "alpha"
}  # fmt: skip


def trains(declaration: dict[str, Any]) -> bool:
    arms = declaration.get("arm", [])  # none where it only has tables about others
    parts = [declaration.get("base", {}), *arms]
    return bool(arms) and not any("measurement" in part for part in parts)


DECLARATIONS = {
    declaration["id"]: declaration
    for path in sorted((ROOT / "lab" / "experiments").glob("E*.toml"))
    if trains(declaration := tomllib.loads(path.read_text()))
}
SEEDS = {experiment: 1 if experiment in HEAVY else 3 for experiment in DECLARATIONS}
every_experiment = pytest.mark.parametrize("experiment", DECLARATIONS)


@pytest.fixture(scope="module")
def smoke(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("smoke")
    for seeds in (1, 3):
        chosen = [experiment for experiment in DECLARATIONS if SEEDS[experiment] == seeds]
        options = ("--tier", "smoke", "--seeds", seeds, "--out", out, "--quiet")
        done = run("run", *chosen, *options, timeout=900)
        assert done.returncode == 0, done.stderr
        assert "\nNo finding, being of the smoke tier: " in done.stdout
    return out


@pytest.fixture(scope="module")
def document(smoke: Path) -> dict[str, Any]:
    return json.loads(run("report", "--out", smoke, "--json").stdout)


@every_experiment
def test_every_arm_runs_and_gives_every_metric(experiment: str, document: dict[str, Any]) -> None:
    declared = DECLARATIONS[experiment]
    found = next(entry for entry in document["experiments"] if entry["id"] == experiment)
    assert found["tier"] == "smoke"
    assert found["done"] == found["planned"] == SEEDS[experiment] * len(declared["arm"])
    assert [cell["arm"] for cell in found["cells"]] == [arm["name"] for arm in declared["arm"]]
    wanted = {declared["metric"], *declared.get("columns", [])}
    for cell in found["cells"]:
        assert cell["metrics"].keys() == wanted
        trained = SEEDS[experiment] - cell["failed_at_best"]
        for name in wanted - NEEDS_MORE - OF_SOME_ARMS:
            assert cell["metrics"][name]["n"] >= trained, f"{cell['arm']}: {name}"
    for name in wanted & OF_SOME_ARMS:
        assert any(cell["metrics"][name]["n"] > 0 for cell in found["cells"]), name


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
        assert row["detail"].startswith("smoke tier, no finding"), row
        assert row["n"] == 3 or row["verdict"] in ("not measurable here", "not run"), row


@every_experiment
def test_every_figure_is_drawn_or_its_absence_explained(experiment: str, smoke: Path) -> None:
    page = (smoke / "report.html").read_text(encoding="utf-8")
    section = page.split(f'<section id="{experiment}">')[1].split("</section>")[0]
    for figure in DECLARATIONS[experiment].get("figure", []):
        assert figure["title"] in html.unescape(section)


def test_the_report_says_which_experiments_are_no_findings(
    smoke: Path, document: dict[str, Any]
) -> None:
    ids = ", ".join(entry["id"] for entry in document["experiments"])
    page = (smoke / "report.html").read_text(encoding="utf-8")
    assert f"No finding, being of the smoke tier: {ids}." in page


def test_a_declaration_of_the_users_own_has_a_smoke_tier(tiny: Path, tmp_path: Path) -> None:
    done = run("run", tiny, "--tier", "smoke", "--out", tmp_path, "--quiet")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("mine ") == 1
    assert "No finding, being of the smoke tier: tiny." in done.stdout
    for path in (tmp_path / "runs").glob("*/result.json"):
        assert json.loads(path.read_text())["steps_done"] == 4
