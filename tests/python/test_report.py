"""report.html from made-up runs, as text and as headless Chromium shows it."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
from chromium import Page
from conftest import Run
from synthetic_runs import write_comparison

NASTY = "/data/<script>console.error('injected')</script> & \"notes\".txt"
FIGURES = ["curves", "rates", "gradient-norm", "gradients", "activations", "time"]
SVG = "{http://www.w3.org/2000/svg}"


def make_report(equinorm: Run, out: Path, **arguments: object) -> Path:
    write_comparison(out, **arguments)
    result = equinorm("report", out)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == str(out / "report.html")
    return out / "report.html"


@pytest.fixture(scope="session")
def report(equinorm: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_report(equinorm, tmp_path_factory.mktemp("report"), source=NASTY)


@pytest.fixture(scope="session")
def html(report: Path) -> str:
    return report.read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def pictures(html: str) -> dict[str, ElementTree.Element]:
    """Every figure's SVGs by id; fails to parse when one is not well-formed."""
    roots = [ElementTree.fromstring(svg) for svg in re.findall(r"<svg.*?</svg>", html, re.DOTALL)]
    return {
        root.attrib["aria-labelledby"].split()[0].removesuffix("-title"): root
        for root in roots
        if "aria-labelledby" in root.attrib
    }


def downloads(html: str) -> dict[str, list[dict[str, str]]]:
    links = re.findall(r'download="([^"]+)" href="data:text/csv;charset=utf-8,([^"]*)"', html)
    return {name: list(csv.DictReader(io.StringIO(unquote(data)))) for name, data in links}


class Links(HTMLParser):
    """Collects what a browser would fetch or follow."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [
            v or "" for k, v in attrs if k in ("src", "href", "srcset", "action", "data")
        ]


def test_the_page_opens_without_console_errors_and_fetches_nothing(report: Path) -> None:
    with Page(report) as page:
        assert page.problems == []
        assert [url for url in page.requests if not url.startswith("data:")] == [page.url]


def test_the_browser_check_notices_an_injected_error(report: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.html"
    whole = report.read_text(encoding="utf-8")
    for fault in ("console.error('planted')", "undefinedFunction()"):
        script = f"<script>{fault}</script></body>"
        broken.write_text(whole.replace("</body>", script), encoding="utf-8")
        with Page(broken) as page:
            assert len(page.problems) == 1, fault
    broken.write_text("<!DOCTYPE html><title>x</title><img src='missing.png'>")
    with Page(broken) as page:
        assert page.problems


@pytest.mark.parametrize("width", [360, 768, 961, 1400])
def test_nothing_sticks_out_sideways(report: Path, width: int) -> None:
    with Page(report, width) as page:
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        assert page.evaluate("document.documentElement.scrollWidth") == width
        outside = page.evaluate(
            "[...document.querySelectorAll('body *')].filter(e => !e.closest('thead') && "
            "(e.getBoundingClientRect().right > innerWidth + 1"
            " || e.getBoundingClientRect().left < -1))"
            ".map(e => e.tagName + ': ' + e.textContent.slice(0, 60))"
        )
        assert outside == []


def test_text_in_figures_is_legible_on_a_phone(report: Path) -> None:
    with Page(report, 360) as page:
        smallest = page.evaluate(
            "Math.min(...[...document.querySelectorAll('figure svg text:not(.raised)')]"
            ".map(t => parseFloat(getComputedStyle(t).fontSize) * t.getScreenCTM().a))"
        )
        assert smallest >= 9.0


def test_every_task_has_every_figure_and_none_is_empty(
    pictures: dict[str, ElementTree.Element], html: str
) -> None:
    for task in ("task-1", "task-2"):
        for name in FIGURES:
            assert f'<figure id="{task}-{name}"' in html
            panels = [root for key, root in pictures.items() if key.startswith(f"{task}-{name}")]
            assert panels, (task, name)
            for root in panels:
                drawn = [e for e in root.iter() if e.tag in (f"{SVG}path", f"{SVG}rect")]
                assert len(drawn) >= 2, root.attrib
    assert sum(key.startswith("numerics-") for key in pictures) == 3


def test_every_figure_is_visible_in_the_browser(report: Path) -> None:
    with Page(report) as page:
        sizes = page.evaluate(
            "[...document.querySelectorAll('figure .panel svg')]"
            ".map(s => [s.getBoundingClientRect().width, s.getBoundingClientRect().height])"
        )
        assert len(sizes) >= 2 * len(FIGURES)
        assert all(width > 200 and height > 30 for width, height in sizes)


def test_no_number_in_a_figure_is_missing_or_infinite(
    pictures: dict[str, ElementTree.Element],
) -> None:
    for key, root in pictures.items():
        for element in root.iter():
            for value in element.attrib.values():
                assert not re.search(r"\b(nan|inf)\b", value), (key, element.attrib)


def test_every_picture_has_a_title_and_a_description(
    pictures: dict[str, ElementTree.Element],
) -> None:
    for key, root in pictures.items():
        assert root.attrib["role"] == "img", key
        assert root.findtext(f"{SVG}title"), key
        assert root.findtext(f"{SVG}desc"), key


def test_ids_are_unique(html: str) -> None:
    ids = re.findall(r'\bid="([^"]+)"', html)
    assert sorted(ids) == sorted(set(ids))


def test_no_external_resource_is_named(html: str) -> None:
    parser = Links()
    parser.feed(html)
    assert parser.found
    assert all(link.startswith(("#", "data:")) for link in parser.found)
    assert "@import" not in html and not re.search(r"url\((?!#)", html)


def test_names_from_the_user_are_escaped(html: str) -> None:
    assert "<script" not in html
    assert "script&gt; &amp; &quot;notes&quot;.txt" in html


def test_every_figure_offers_its_numbers_as_csv(html: str) -> None:
    tables = downloads(html)
    for task in ("task-1", "task-2"):
        for name in FIGURES:
            rows = tables[f"{task}-{name}.csv"]
            assert len(rows) >= 7, (task, name)
            assert all(None not in row and None not in row.values() for row in rows)
    assert {row["algorithm"] for row in tables["numerics.csv"]} == {
        "one-pass",
        "two-pass",
        "pytorch",
        "equinorm",
    }
    assert len(tables["runs.csv"]) == 168


def test_the_curves_csv_holds_the_means_of_the_runs(report: Path, html: str) -> None:
    out = report.parent
    rows = downloads(html)["task-1-curves.csv"]
    row = next(
        r for r in rows if (r["arm"], r["quantity"], r["step"]) == ("rms-pre", "loss", "100")
    )
    losses = []
    for directory in (out / "runs").glob("fashion-mnist-rms-pre-lr0.001-*"):
        events = map(json.loads, (directory / "metrics.jsonl").read_text().splitlines())
        losses += [e["loss"] for e in events if e["event"] == "eval" and e["step"] == 100]
    assert int(row["n"]) == len(losses) == 3
    assert float(row["mean"]) == pytest.approx(sum(losses) / 3, rel=1e-12)
    assert (float(row["low"]), float(row["high"])) == (min(losses), max(losses))


def test_the_articles_table_stands_beside_the_measurement(html: str) -> None:
    row = re.search(r'<th scope="row">BatchNorm \(pre\)</th>(.*?)</tr>', html).group(1)
    cells = re.findall(r"<td[^>]*>(.*?)</td>", row)
    assert cells[:3] == ["medium", "81.5\u00a0%", "medium"]
    assert re.fullmatch(r"\d+\.\d\u00a0%\u00a0\u00b1\u00a0\d+\.\d \(n\u00a0=\u00a03\)", cells[3])


def test_where_no_difference_is_found_no_winner_is_named(html: str) -> None:
    section = html.split("Paired differences to")[1].split("</table>")[0]
    rows = re.findall(r"<tr>(.*?)</tr>", section)
    undecided = [row for row in rows if "no difference found" in row]
    assert undecided
    for row in undecided:
        assert ">not decided<" in row
        assert ">reproduced<" not in row and ">opposite<" not in row


def test_the_answer_names_n_and_cannot_be_read_the_wrong_way_round(html: str) -> None:
    answer = re.search(r'<p class="answer">(.*?)</p>', html, re.DOTALL).group(1)
    assert answer.startswith("On Fashion-MNIST (n\u00a0=\u00a03), the model without norm")
    assert "did worse than LayerNorm (pre)" in answer
    assert "no norm did" not in answer


def test_the_same_runs_give_the_same_bytes(equinorm: Run, report: Path, html: str) -> None:
    assert equinorm("report", report.parent).returncode == 0
    assert report.read_text(encoding="utf-8") == html


def test_one_seed_claims_nothing(equinorm: Run, tmp_path: Path) -> None:
    page = make_report(equinorm, tmp_path, tasks=("fashion-mnist",), seeds=[0]).read_text()
    assert "reproduced" not in page and "opposite" not in page
    assert "not measurable with fewer than 3 seeds" in page
    assert re.search(r"n\u00a0=\u00a01\)", page)


def test_a_comparison_of_one_arm_at_one_rate_has_a_report(equinorm: Run, tmp_path: Path) -> None:
    page = make_report(
        equinorm, tmp_path, tasks=("text",), arms=[("layer", "pre")], rates=[1e-3], source="a.txt"
    )
    with Page(page, 360) as browser:
        assert browser.problems == []
        assert browser.evaluate("document.documentElement.scrollWidth") == 360


@pytest.fixture(scope="session")
def placements(equinorm: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of one norm at every placement, and of what has no norm."""
    entries = json.loads(equinorm("forms", "--json").stdout)["placements"]
    arms = [("layer", entry["name"]) for entry in entries if entry["norms"]]
    arms += [("none", "pre")] + [
        ("none", e["name"]) for e in entries if not e["norms"] and e["name"] != "none"
    ]
    out = tmp_path_factory.mktemp("placements")
    return make_report(equinorm, out, tasks=("fashion-mnist",), arms=arms, rates=[1e-3])


def test_placements_of_one_norm_share_panels_and_differ_in_the_legend(placements: Path) -> None:
    page = placements.read_text(encoding="utf-8")
    legend = re.search(r'<figure id="task-1-curves".*?</figure>', page, re.DOTALL).group(0)
    swatches = re.findall(r'(<svg class="swatch".*?</svg>)\s*([^<]*)', legend, re.DOTALL)
    names = [name.strip() for _, name in swatches]
    assert "LayerNorm (pre_no_final)" in names and "ReZero" in names and "no norm" in names
    without_colour = {
        re.sub(r'(stroke|fill)="#(?!ffffff)[^"]*"', r"\1", svg) for svg, _ in swatches
    }
    assert len(without_colour) == len(names) == len(set(names))
    assert 'id="task-1-curves-loss-title"' in page


def test_the_article_says_nothing_about_placements_it_does_not_name(placements: Path) -> None:
    page = placements.read_text(encoding="utf-8")
    for arm in ("LayerNorm (deepnorm)", "ReZero"):
        row = re.search(rf'<th scope="row">{re.escape(arm)}</th>(.*?)</tr>', page).group(1)
        assert re.findall(r"<td[^>]*>(.*?)</td>", row)[:3] == ["\u2013"] * 3
    answer = re.search(r'<p class="answer">(.*?)</p>', page, re.DOTALL).group(1)
    assert "ReZero" in answer and answer.count("the model without norm") == 1


@pytest.mark.parametrize("width", [360, 1400])
def test_no_label_of_many_placements_is_cut_off(placements: Path, width: int) -> None:
    with Page(placements, width) as page:
        assert page.problems == []
        assert page.evaluate("document.documentElement.scrollWidth") == width
        outside = page.evaluate(
            "[...document.querySelectorAll('figure .panel svg text')].filter(t => {"
            " const a = t.getBoundingClientRect();"
            " const b = t.closest('svg').getBoundingClientRect();"
            " return a.left < b.left - 1 || a.right > b.right + 1 })"
            ".map(t => t.textContent)"
        )
        assert outside == []


def test_runs_that_all_failed_and_runs_that_crashed_have_a_report(
    equinorm: Run, tmp_path: Path
) -> None:
    write_comparison(
        tmp_path, tasks=("fashion-mnist",), arms=[("none", "pre"), ("layer", "post")], rates=[1e-2]
    )
    victim = next((tmp_path / "runs").glob("*-layer-post-*"))
    (victim / "result.json").unlink()
    (victim / "error.json").write_text('{"exit_code": null, "signal": 9, "stderr": "killed"}')
    assert equinorm("report", tmp_path).returncode == 0
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "crashed: signal 9" in page
    assert "no run trained" in page
    assert not re.search(r">-?(nan|inf)\b", page)


def test_unfinished_runs_are_left_out_and_counted(equinorm: Run, tmp_path: Path) -> None:
    write_comparison(tmp_path, tasks=("fashion-mnist",))
    for victim in list((tmp_path / "runs").iterdir())[:5]:
        shutil.rmtree(victim)
    assert equinorm("report", tmp_path).returncode == 0
    assert "5 more runs were planned" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_an_arm_whose_runs_all_failed_has_a_dash_for_its_time(
    equinorm: Run, tmp_path: Path
) -> None:
    write_comparison(tmp_path, tasks=("text",), source="a.txt", rates=[1e-2])
    assert equinorm("report", tmp_path).returncode == 0
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    descriptions = re.findall(r"<desc[^>]*>(.*?)</desc>", html, re.DOTALL)
    assert any(" ms, " in text for text in descriptions)
    assert not any("nan" in text.split() for text in descriptions)


def test_a_report_needs_no_numerics_file(equinorm: Run, tmp_path: Path) -> None:
    write_comparison(tmp_path, tasks=("text",), source="a.txt")
    (tmp_path / "numerics.json").unlink()
    assert equinorm("report", tmp_path).returncode == 0
    assert 'id="section-numerics"' not in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_damaged_input_exits_with_3_and_names_the_file(equinorm: Run, tmp_path: Path) -> None:
    write_comparison(tmp_path, tasks=("text",), source="a.txt", seeds=[0], rates=[1e-3])
    for content in ("", '{"columns": 768', '{"columns": 768}'):
        (tmp_path / "numerics.json").write_text(content)
        result = equinorm("report", tmp_path)
        assert (result.returncode, result.stdout) == (3, "")
        assert str(tmp_path / "numerics.json") in result.stderr
    missing = equinorm("report", tmp_path / "nowhere")
    assert missing.returncode == 3
    assert "compare.json" in missing.stderr
