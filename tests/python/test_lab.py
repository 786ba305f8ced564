"""`equinorm lab` from the outside: what it lists, refuses, runs, resumes, merges and reports."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from chromium import Page
from compare_command import TINY
from compare_command import run as run_compare
from lab_command import BINARY, QUICK, ROOT, results, run, start, tomllib


def test_the_list_names_every_experiment_with_its_runs() -> None:
    listed = json.loads(run("list", "--json").stdout)
    ids = [entry["id"] for entry in listed]
    assert {"E1", "E2", "E4", "E18", "E20"} <= set(ids)
    for entry in listed:
        counts = entry["runs"]
        assert 0 < counts["quick"] <= counts["standard"] <= counts["full"], entry["id"]


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        (["run", "E99"], "experiment 'E99': must be a .toml or .json file or one of all, EX", 3),
        (["status", "--out", ""], "--out = '': must name a folder", 2),
        (["run", "E20", "--shard", ""], "--shard = ''", 2),
        (["run", "missing.toml"], "missing.toml", 3),
        (["run", "E20", "--tier", "huge"], "--tier", 2),
        (["run", "E20", "--tier", "qick"], "'qick': must be one of smoke, quick, ", 2),
        (["run", "E20", "--tier", "qick"], "Did you mean quick?", 2),
        (["run", "e20"], "Did you mean E20?", 3),
        (["run", "E20", "--seeds", "0"], "--seeds", 2),
        (["run", "E20", "--shard", "3/2"], "--shard = '3/2': must be like 1/4", 2),
        (["run", "E20", "E20"], "asked for twice", 2),
        (["runn"], "equinorm lab: unexpected argument 'runn'\nDid you mean run?", 2),
        (["runn"], "Try 'equinorm lab --help'.", 2),
        (["run", "E20", "--seds", "1"], "equinorm lab run: unknown option --seds\nDid you", 2),
        (["run", "E20", "--seeds", "0"], "Try 'equinorm lab run --help'.", 2),
        (["run", "E20", "--shard", "3/2"], "equinorm lab run: --shard = ", 2),
        (["diff", "one"], "equinorm lab diff: ", 2),
        (["report", "--out", __file__], "': is a file, must be a folder", 3),
        (["status", "--out", "/nonexistent"], "no folder that equinorm lab run has filled", 3),
    ],
)
def test_wrong_command_lines_are_explained(
    arguments: list[str], message: str, code: int, tmp_path: Path
) -> None:
    if arguments[0] == "run":
        arguments = [*arguments, "--out", str(tmp_path / "out")]
    done = run(*arguments)
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert done.stdout == ""
    assert not (tmp_path / "out").exists()


def test_without_a_rule_the_console_points_to_the_report(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(
        'id = "mine"\ntitle = "t"\nquestion = "q"\n'
        'metric = "output_over_longest_value"\n'
        '[base]\nmeasurement = "attention_bound"\n'
        '[[arm]]\nname = "few"\nkeys = 4\n[[arm]]\nname = "many"\nkeys = 64\n'
    )
    done = run("run", mine, "--out", tmp_path / "out", "--quiet")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("No rule asks for a verdict; the report has the numbers.\n")


def test_the_worked_example_of_the_manual_runs(tmp_path: Path) -> None:
    manual = (ROOT / "docs" / "lab.md").read_text()
    example = tmp_path / "my_depth.toml"
    example.write_text(re.search(r"```toml\n(id = .*?)```", manual, re.DOTALL)[1])
    done = run("run", example, "--tier", "smoke", "--out", tmp_path / "out", "--quiet")
    assert done.returncode == 0, done.stderr
    # The console says why there is no number.
    assert (
        "DeepNorm ends lower with 6 layers, by 0.05 nats (smoke tier, no finding: " in done.stdout
    )
    # 2 arms, 3 seeds, the first depth
    assert len(list((tmp_path / "out" / "runs").glob("*/result.json"))) == 6

    in_json = tmp_path / "my_depth.json"
    in_json.write_text(json.dumps(tomllib.loads(example.read_text())))
    again = run("run", in_json, "--tier", "smoke", "--out", tmp_path / "out", "--quiet")
    assert again.returncode == 0, again.stderr
    assert again.stdout == done.stdout  # the same runs, and nothing new
    assert len(list((tmp_path / "out" / "runs").glob("*/result.json"))) == 6


def test_a_changed_copy_of_a_builtin_needs_an_id_of_its_own(tmp_path: Path) -> None:
    copy = tmp_path / "E20.toml"
    text = (ROOT / "lab" / "experiments" / "E20.toml").read_text()
    copy.write_text(text.replace('title = "', 'title = "Changed: ', 1))
    done = run("run", copy, "--out", tmp_path / "out")
    assert done.returncode == 3
    assert f"{copy}: id = 'E20': an experiment that comes with the program has it" in done.stderr
    assert not (tmp_path / "out").exists()
    copy.write_text(text)  # as it came
    assert run("run", copy, "--tier", "smoke", "--out", tmp_path / "out").returncode == 0


def test_a_wrong_declaration_is_named_with_file_line_key_value_and_rule(
    tiny: Path, tmp_path: Path
) -> None:
    wrong = tmp_path / "wrong.toml"
    text = tiny.read_text()
    line = text.split("\n").index("depth = 1") + 1
    wrong.write_text(text.replace("depth = 1", "depth = 0"))
    done = run("run", wrong, "--out", tmp_path / "out")
    assert done.returncode == 3
    assert f"{wrong}:{line}: depth = 0: must be at least 1" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("right", "wrong", "meant"),
    [
        ('norm = "rms"', 'norm = "rmz"', "rms"),
        ('norm = "rms"', 'nrom = "rms"', "norm"),
        ('norm = "rms"', 'placement = "psot"', "post"),
        ('task = "text"', 'task = "bibel"', "bible"),
        ('metric = "loss"', 'metric = "los"', "loss"),
        ('"sensitivity"', '"sensitivty"', "sensitivity"),
        ("seeds = 3", "sedes = 3", "seeds"),
    ],
)
def test_a_misspelt_value_is_told_from_what_was_meant(
    right: str, wrong: str, meant: str, tiny: Path, tmp_path: Path
) -> None:
    text = tiny.read_text()
    assert right in text
    (tmp_path / "wrong.toml").write_text(text.replace(right, wrong))
    done = run("run", tmp_path / "wrong.toml", "--out", tmp_path / "out")
    assert done.returncode == 3, done.stderr
    assert f"Did you mean {meant}?" in done.stderr


def test_a_text_without_a_source_is_told_the_key(tiny: Path, tmp_path: Path) -> None:
    lines = [line for line in tiny.read_text().split("\n") if not line.startswith("source")]
    wrong = tmp_path / "wrong.toml"
    wrong.write_text("\n".join(lines))
    done = run("run", wrong, "--out", tmp_path / "out")
    assert done.returncode == 3, done.stderr
    line = lines.index('task = "text"') + 1
    assert f"{wrong}:{line}: task = 'text': needs source = \"FILE\"" in done.stderr
    assert "--text" not in done.stderr


def test_a_relative_source_lies_beside_the_declaration(
    tiny: Path, trained: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    shutil.copy(tiny.with_name("text.txt"), folder)
    text = re.sub('source = ".*"', 'source = "text.txt"', tiny.read_text())
    (folder / "mine.toml").write_text(text)
    done = run("run", folder / "mine.toml", "--out", tmp_path / "out", "--quiet")
    assert done.returncode == 0, done.stderr
    assert results(tmp_path / "out") == results(trained)
    moved = shutil.move(tmp_path / "out", tmp_path / "moved")
    assert run("report", "--out", moved).returncode == 0


def test_an_edited_request_is_named_with_its_key(quick: Path, tmp_path: Path) -> None:
    shutil.copytree(quick, tmp_path / "copy")
    path = tmp_path / "copy" / "experiments" / "E20.json"
    for seeds in (-2, "three"):
        path.write_text(json.dumps({**json.loads(path.read_text()), "seeds": seeds}))
        done = run("status", "--out", tmp_path / "copy")
        assert done.returncode == 3
        expected = f"{path}: seeds = {json.dumps(seeds)}: must be null or a whole number"
        assert expected in done.stderr


def test_a_folder_of_compare_is_refused_and_so_back(
    tiny: Path, trained: Path, tmp_path: Path
) -> None:
    (tmp_path / "compare.json").write_text("{}")
    (tmp_path / "report.html").write_text("theirs")
    done = run("run", tiny, "--out", tmp_path)
    assert done.returncode == 3
    assert "is a folder of 'equinorm compare'; choose another --out" in done.stderr
    assert (tmp_path / "report.html").read_text() == "theirs"
    report = (trained / "report.html").read_bytes()
    done = run_compare(f"--out={trained}", f"--text={tiny.with_name('text.txt')}", *TINY)
    assert done.returncode == 3
    assert "is a folder of 'equinorm lab'; choose another --out" in done.stderr
    assert (trained / "report.html").read_bytes() == report


def test_ctrl_c_before_any_training_says_how_to_resume(tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = start("run", "E8", "--out", out, "--cache", tmp_path / "cache")
    deadline = time.monotonic() + 60
    while not (out / "lock").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)  # the data is still being prepared
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130, errors
    assert f"To resume:\n  {BINARY} lab run E8 --out {out}" in errors
    assert not list((out / "runs").iterdir())


def test_a_closed_standard_error_does_not_write_into_files(tiny: Path, tmp_path: Path) -> None:
    command = [BINARY, "lab", "run", str(tiny), "--seeds", "1", "--out", str(tmp_path)]
    done = subprocess.run(["sh", "-c", 'exec "$@" 2>&-', "sh", *command], check=False, timeout=120)
    assert done.returncode == 0
    assert re.fullmatch(r"\d+\n", (tmp_path / "lock").read_text())


def test_exact_claims_are_true_by_construction_or_refuted(quick: Path) -> None:
    document = json.loads(run("report", "--out", quick, "--json").stdout)
    by_claim: dict[str, list[str]] = {}
    for row in document["verdicts"]:
        by_claim.setdefault(row["claim"], []).append(row["verdict"])
    for claim in ("A1-2", "A3-1", "A3-12", "A3-3"):
        assert by_claim[claim][0] == "true by construction", claim
    assert by_claim["A3-4"] == ["opposite"]  # the printed example is wrong
    assert by_claim["A3-7"] == ["opposite"]  # attention is bounded
    assert "not run" in by_claim["A2-5"]
    assert len(by_claim) == 58


def test_status_counts_the_runs(quick: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(quick, copy)
    victims = sorted((copy / "runs").glob("dependence-*"))[:2]
    shutil.rmtree(victims[0])
    (victims[1] / "result.json").unlink()
    (victims[1] / "error.json").write_text('{"exit_code": 1, "signal": null, "stderr": "x"}')
    line = next(s for s in run("status", "--out", copy).stdout.splitlines() if "E20" in s)
    assert re.match(r"E20 +quick +30 +28 +1 +1 ", line), line


def test_shards_give_the_same_report_as_one_run(quick: Path, tmp_path: Path) -> None:
    shards = [tmp_path / "a", tmp_path / "b", tmp_path / "c"]
    for i, out in enumerate(shards, 1):
        done = run("run", *QUICK, "--shard", f"{i}/3", "--out", out, "--quiet")
        assert done.returncode == 0, done.stderr
        part, whole = len(results(out)), len(results(quick))
        assert done.stdout.startswith(f"So far, with {part} of {whole} runs:\n")
    counts = [len(results(out)) for out in shards]
    assert sum(counts) == len(results(quick))
    assert min(counts) > 0
    merged = tmp_path / "merged"
    for out in shards:
        shutil.copytree(out, merged, dirs_exist_ok=True)
    assert run("report", "--out", merged).returncode == 0
    assert (merged / "report.html").read_bytes() == (quick / "report.html").read_bytes()


def test_shards_share_a_folder_side_by_side(quick: Path, tmp_path: Path) -> None:
    processes = [
        start("run", "E20", "--shard", f"{i}/2", "--out", tmp_path, "--jobs", 1, "--quiet")
        for i in (1, 2)
    ]
    for process in processes:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    names = set(results(tmp_path))
    assert names == {name for name in results(quick) if name.startswith("dependence")}


def test_a_second_writer_is_refused(tiny: Path, tmp_path: Path) -> None:
    first = start("run", tiny, "--out", tmp_path, "--jobs", 1)
    deadline = time.monotonic() + 30
    while not any((tmp_path / "runs").glob("*/config.json")):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    second = run("run", tiny, "--out", tmp_path)
    first.send_signal(signal.SIGINT)
    first.communicate(timeout=60)
    assert first.returncode == 130
    assert second.returncode == 3
    assert "is writing there" in second.stderr


def test_runs_are_not_repeated(trained: Path, tiny: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in (trained / "runs").glob("*/result.json")}
    assert run("run", tiny, "--out", trained, "--quiet").returncode == 0
    after = {path: path.stat().st_mtime_ns for path in (trained / "runs").glob("*/result.json")}
    assert before == after


def test_a_declaration_of_the_users_own_is_trained_judged_and_reported(trained: Path) -> None:
    document = json.loads(run("report", "--out", trained, "--json").stdout)
    experiment = document["experiments"][0]
    assert (experiment["planned"], experiment["done"]) == (12, 12)
    assert {cell["arm"] for cell in experiment["cells"]} == {"layer", "rms"}
    row = document["verdicts"][-1]
    assert (row["claim"], row["n"]) == ("mine", 3)
    assert row["verdict"] in ("reproduced", "opposite", "not found")


def test_diff_says_what_differs(trained: Path, tmp_path: Path) -> None:
    same = run("diff", trained, trained).stdout
    assert "No verdict changed." in same
    assert "0 differ beyond their interval, 0 are undecided" in same
    copy = tmp_path / "copy"
    shutil.copytree(trained, copy)
    for path in (copy / "runs").glob("*rms*/result.json"):
        result = json.loads(path.read_text())
        result["final_loss"] += 1
        path.write_text(json.dumps(result))
    changed = run("diff", trained, copy).stdout
    assert re.search(r"tiny rms +loss .* differs", changed), changed
    assert "tiny layer" not in changed


def test_diff_names_verdicts_of_one_side(trained: Path, quick: Path) -> None:
    text = run("diff", trained, quick).stdout
    assert re.search(r"mine +tiny +(reproduced|opposite|not found) +- ", text), text
    assert re.search(r"A1-2 +E20 +- +true by construction", text), text


def test_diff_calls_equal_what_is_equal_at_every_seed_of_both(
    trained: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(trained, copy)
    for path in (copy / "runs").glob("*-s2-*"):
        shutil.rmtree(path)
    counts = "4 metrics are equal, 0 differ beyond their interval, 0 are undecided"
    assert counts in run("diff", trained, copy).stdout


@pytest.mark.parametrize("width", [360, 1400])
def test_the_report_is_sound_in_a_browser(trained: Path, quick: Path, width: int) -> None:
    for out in (trained, quick):
        assert run("report", "--out", out).returncode == 0
        with Page(out / "report.html", width) as page:
            assert page.problems == []
            assert [url for url in page.requests if not url.startswith("data:")] == [page.url]
            page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
            assert page.evaluate("document.documentElement.scrollWidth") == width
            outside = page.evaluate(
                "[...document.querySelectorAll('body *')].filter(e => !e.closest('thead') && "
                "(e.getBoundingClientRect().right > innerWidth + 1"
                " || e.getBoundingClientRect().left < -1))"
                ".map(e => e.tagName + ': ' + e.textContent.slice(0, 60))"
            )
            assert outside == []


def test_every_claim_and_contradiction_is_on_the_page(quick: Path) -> None:
    html = (quick / "report.html").read_text(encoding="utf-8")
    for article, count in (("A1", 18), ("A2", 28), ("A3", 12)):
        for i in range(1, count + 1):
            assert f'<th scope="row">{article}-{i}</th>' in html
    assert "easier to optimize and, elsewhere" in html
    assert not re.search(r">-?(nan|inf)\b", html)
