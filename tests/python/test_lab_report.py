"""The report of `equinorm lab` and what it says of folders that are not whole."""

from __future__ import annotations

import json
import re
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
    done = run("run", tables, "E4", "--out", out, "--quiet")
    assert done.returncode == 0, done.stderr
    return out


def test_a_table_runs_what_it_shows_and_stands_beside_its_claim(measured: Path) -> None:
    html = (measured / "report.html").read_text(encoding="utf-8")
    assert '<section id="E20">' in html  # was not asked for by name
    claim = html[html.index('<th scope="row">A3-12</th>') :].split("</tr>")[0]
    assert '<a href="#mine-table-1">Who sees whom</a>' in claim
    table = html[html.index('<div id="mine-table-1">') :].split("</div>")[0]
    row = re.search(r'<th scope="row">layer</th>(<td.*?)</tr>', table)
    assert row and re.findall(r">([^<]+)</td>", row[1]) == ["0 \u00b1 0 (n = 3)"] * 2
    assert "From E20, tier quick, model = transformer." in table


def test_status_says_whose_tables_an_experiment_shows(measured: Path) -> None:
    assert re.search(r"mine +quick +- +- +- +- +tables of E20", run("status", "--out", measured).stdout)


def test_a_table_of_an_unknown_experiment_is_refused_before_anything_runs(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(
        'id = "w"\ntitle = "t"\nquestion = "q"\n[[table]]\ntitle = "x"\nfrom = "E99"\ncolumns = ["loss"]\n'
    )
    done = run("run", wrong, "--out", tmp_path / "out")
    assert done.returncode == 3
    assert f"{wrong}:6: table.from = 'E99': must be an experiment with runs" in done.stderr
    assert not (tmp_path / "out").exists()


def test_the_lost_tables_count_the_runs_of_their_experiments() -> None:
    runs = {entry["id"]: entry["runs"] for entry in json.loads(run("list", "--json").stdout)}
    for tier, count in runs["E21"].items():
        assert count == runs["E11"][tier] + runs["E20"][tier]
