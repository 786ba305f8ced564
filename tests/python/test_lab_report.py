"""The report of `equinorm lab` and what it says of folders that are not whole."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from lab_command import run


@pytest.fixture(scope="session")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of measurements alone, with a table of them."""
    out = tmp_path_factory.mktemp("measured")
    tables = out / "tables.toml"
    tables.write_text(
        'id = "mine"\ntitle = "t"\nquestion = "q"\n[[table]]\ntitle = "Who sees whom"\n'
        'claim = "A3-12"\nfrom = "E20"\ncolumns = ["batch_change", "mode_change"]\n'
        'at = { model = "transformer" }\n'
    )
    done = run("run", tables, "E4", "E9", "--out", out, "--quiet")
    assert done.returncode == 0, done.stderr
    return out


def test_a_table_runs_what_it_shows_and_stands_beside_its_claim(measured: Path) -> None:
    html = (measured / "report.html").read_text(encoding="utf-8")
    assert '<section id="E20">' in html  # was not asked for by name
    claim = html[html.index('<th scope="row">A3-12</th>') :].split("</tr>")[0]
    assert '<a href="#mine-table-1">Who sees whom</a>' in claim
    table = html[html.index('<div id="mine-table-1">') :].split("</div>")[0]
    row = re.search(r'<th scope="row">layer</th>(<td.*?)</tr>', table)
    assert row and re.findall(r">([^<]+)</td>", row[1]) == ["0 \u00b1 0 (n\u00a0=\u00a03)"] * 2
    assert "From E20, tier quick, model = transformer." in table


def test_status_says_whose_tables_an_experiment_shows(measured: Path) -> None:
    status = run("status", "--out", measured).stdout
    assert re.search(r"mine +quick +- +- +- +- +tables of E20", status)


def test_a_table_of_an_unknown_experiment_is_refused_before_anything_runs(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(
        'id = "w"\ntitle = "t"\nquestion = "q"\n[[table]]\ntitle = "x"\nfrom = "E99"\n'
        'columns = ["loss"]\n'
    )
    done = run("run", wrong, "--out", tmp_path / "out")
    assert done.returncode == 3
    assert f"{wrong}:6: table.from = 'E99': must be an experiment with runs" in done.stderr
    assert not (tmp_path / "out").exists()


def test_the_lost_tables_count_the_runs_of_their_experiments() -> None:
    runs = {entry["id"]: entry["runs"] for entry in json.loads(run("list", "--json").stdout)}
    for tier, count in runs["E21"].items():
        assert count == runs["E11"][tier] + runs["E20"][tier]


def test_a_damaged_run_counts_as_missing_and_stops_nothing(measured: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(measured, copy)
    victims = sorted((copy / "runs").glob("dependence-*"))[:2]
    victims[0].joinpath("result.json").write_text('{"metrics": {"batch_ch')
    victims[1].joinpath("config.json").write_bytes(b"\xff\x00garbage")
    for command in ("status", "report"):
        done = run(command, "--out", copy)
        assert done.returncode == 0, done.stderr
        for victim, file in zip(victims, ("result.json", "config.json"), strict=True):
            warning = f"warning: {victim / file}: no complete JSON: the run is damaged"
            assert warning in done.stderr
    assert re.search(r"E20 +quick +30 +28 +2 +0 ", run("status", "--out", copy).stdout)
    counts = {"id": "E20", "tier": "quick", "planned": 30, "done": 28, "missing": 2, "crashed": 0}
    assert counts in json.loads(run("status", "--json", "--out", copy).stdout)
    html = (copy / "report.html").read_text(encoding="utf-8")
    assert f"Damaged runs, which count as missing: {victims[0].name}, {victims[1].name}." in html
    repaired = run("run", "E20", "--out", copy, "--quiet")
    assert (repaired.returncode, repaired.stderr) == (0, "")
    assert (copy / "report.html").read_bytes() == (measured / "report.html").read_bytes()


def test_contradictions_stand_beside_the_measurement(measured: Path) -> None:
    html = (measured / "report.html").read_text(encoding="utf-8")
    for experiment, expected in (("E9", True), ("E20", False)):
        section = html[html.index(f'<section id="{experiment}">') :].split("</section>")[0]
        assert ("Four places for eps" in section) == expected


def test_every_figure_has_numbers_alt_text_and_a_command(measured: Path) -> None:
    html = (measured / "report.html").read_text(encoding="utf-8")
    figures = re.findall(r"<figure.*?</figure>", html, flags=re.DOTALL)
    assert figures
    for figure in figures:
        assert re.search(r"equinorm lab run E\d+ --tier quick", figure)
        assert re.search(r"\bn = \d", figure)
        assert 'href="data:text/csv' in figure
        for svg in re.findall(r"<svg.*?</svg>", figure, flags=re.DOTALL):
            assert 'aria-hidden="true"' in svg or "<desc" in svg


def test_a_damaged_record_of_a_machine_stops_nothing(measured: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(measured, copy)
    record = copy / "environments" / "0123456789ab.json"
    record.write_text('{"machine')
    warning = f"warning: {record}: no complete JSON: the report leaves this machine out\n"
    for command in (("report",), ("run", "E20", "--quiet")):
        done = run(*command, "--out", copy)
        assert (done.returncode, done.stderr) == (0, warning)
        assert (copy / "report.html").read_bytes() == (measured / "report.html").read_bytes()
