"""How `equinorm compare` drives its runs: resuming, interruption, locks, crashes, output."""

from __future__ import annotations

import csv
import json
import os
import random
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from compare_command import BINARY, TINY, command, metrics, results, run, start, write_text

LONG = [option for option in TINY if not option.startswith("--steps")] + ["--steps=100000"]


@pytest.fixture(name="text", scope="module")
def fixture_text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_text(tmp_path_factory.mktemp("data") / "mine.txt")


@pytest.fixture(name="whole", scope="module")
def fixture_whole(tmp_path_factory: pytest.TempPathFactory, text: Path) -> Path:
    """A comparison that ran through without interruption."""
    out = tmp_path_factory.mktemp("whole")
    done = run(f"--text={text}", f"--out={out}", *TINY)
    assert done.returncode == 0, done.stderr
    return out


def wait_until_training(out: Path, process: subprocess.Popen[str], runs: int = 1) -> None:
    """Until `runs` run directories have metrics."""
    deadline = time.monotonic() + 300
    while len(list((out / "runs").glob("*/metrics.jsonl"))) < runs:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_everything_of_a_comparison_is_in_its_folder(whole: Path) -> None:
    for name in ("compare.json", "numerics.json", "results.csv", "report.html"):
        assert (whole / name).stat().st_size > 0, name
    assert len(metrics(whole)) == 4
    with (whole / "results.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    assert [row["status"] for row in rows] == ["finished"] * 4
    assert {row["norm"] for row in rows} == {"layer", "rms"}


def test_two_comparisons_give_the_same_bytes(whole: Path, text: Path, tmp_path: Path) -> None:
    done = run(f"--text={text}", f"--out={tmp_path}", *TINY, "--jobs=1")
    assert done.returncode == 0, done.stderr
    assert metrics(tmp_path) == metrics(whole)
    assert results(tmp_path) == results(whole)


def test_a_second_start_trains_nothing_and_says_the_same(text: Path, tmp_path: Path) -> None:
    first = run(f"--text={text}", f"--out={tmp_path}", *TINY)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "runs").glob("*/*")}
    second = run(f"--text={text}", f"--out={tmp_path}", *TINY)
    after = {path: path.stat().st_mtime_ns for path in (tmp_path / "runs").glob("*/*")}
    assert second.returncode == 0
    assert second.stdout == first.stdout
    assert after == before


def test_a_run_that_lost_lines_is_named_by_the_report_and_trained_anew(
    text: Path, tmp_path: Path
) -> None:
    run(f"--text={text}", f"--out={tmp_path}", *TINY)
    before = metrics(tmp_path)
    damaged = sorted((tmp_path / "runs").glob("*/metrics.jsonl"))[1]
    damaged.write_bytes(b"".join(damaged.read_bytes().splitlines(keepends=True)[:2]))
    report = subprocess.run(
        [BINARY, "report", tmp_path], capture_output=True, text=True, check=False
    )
    assert report.returncode == 3
    assert f"{damaged}: incomplete: 1 of 12 training steps" in report.stderr
    again = run(f"--text={text}", f"--out={tmp_path}", *TINY)
    assert again.returncode == 0, again.stderr
    assert "1 run done now, 3 before" in again.stderr
    assert metrics(tmp_path) == before


@pytest.mark.parametrize("content", ["", '{"columns": 768', '{"columns": 768}', "[]"])
def test_damaged_numerics_are_measured_anew(
    whole: Path, text: Path, tmp_path: Path, content: str
) -> None:
    shutil.copytree(whole, tmp_path / "out")
    numerics = tmp_path / "out" / "numerics.json"
    numerics.write_text(content)
    done = run(f"--text={text}", f"--out={tmp_path / 'out'}", *TINY)
    assert done.returncode == 0, done.stderr
    assert numerics.read_bytes() == (whole / "numerics.json").read_bytes()


def test_kill_9_at_random_moments_and_resuming_gives_the_bytes_of_an_uninterrupted_comparison(
    whole: Path, text: Path, tmp_path: Path
) -> None:
    seed = 11
    moments = random.Random(seed)
    for _ in range(4):
        process = start(f"--text={text}", f"--out={tmp_path}", *TINY, "--jobs=1")
        time.sleep(moments.uniform(0.1, 1.5))
        process.kill()
        process.communicate()
    # A killed comparison takes its children with it, so the lock is free at once or very soon.
    deadline = time.monotonic() + 20
    done = run(f"--text={text}", f"--out={tmp_path}", *TINY)
    while done.returncode == 3 and time.monotonic() < deadline:
        time.sleep(0.1)
        done = run(f"--text={text}", f"--out={tmp_path}", *TINY)
    assert done.returncode == 0, (seed, done.stderr)
    assert metrics(tmp_path) == metrics(whole), seed
    assert results(tmp_path) == results(whole), seed


def test_ctrl_c_stops_every_child_and_says_how_to_resume(text: Path, tmp_path: Path) -> None:
    process = start(f"--text={text}", f"--out={tmp_path}", *LONG)
    wait_until_training(tmp_path, process, runs=2)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the children too
    stdout, stderr = process.communicate(timeout=300)
    assert process.returncode == 130
    assert stdout == ""
    assert "To resume" in stderr
    assert f"--out={tmp_path}" in stderr
    assert list((tmp_path / "runs").glob("*")) == []
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_before_training_says_that_nothing_was_trained(
    number: signal.Signals, tmp_path: Path
) -> None:
    # Reading and unpacking the data takes a while; the lock is there before.
    process = start("--task=bible", f"--out={tmp_path}", f"--cache={tmp_path / 'cache'}", *TINY)
    deadline = time.monotonic() + 60
    while not (tmp_path / "lock").exists():
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.002)
    time.sleep(0.05)
    os.killpg(process.pid, number)
    stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stdout) == (130, "")
    assert "Interrupted before training. To start again:" in stderr
    assert f"--out={tmp_path}" in stderr


def test_ctrl_c_keeps_what_is_finished(whole: Path, text: Path, tmp_path: Path) -> None:
    process = start(f"--text={text}", f"--out={tmp_path}", *TINY, "--seeds=40")
    deadline = time.monotonic() + 300
    while not results(tmp_path).keys() >= results(whole).keys():
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.002)
    before = results(tmp_path)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=300)
    assert process.returncode == 130
    assert results(tmp_path).items() >= before.items()
    assert results(tmp_path).items() >= results(whole).items()
    kept = metrics(tmp_path)
    assert kept.items() >= metrics(whole).items()
    assert len(results(tmp_path)) == len(kept) == len(list((tmp_path / "runs").glob("*")))


def test_two_comparisons_cannot_use_one_folder_at_once(text: Path, tmp_path: Path) -> None:
    first = start(f"--text={text}", f"--out={tmp_path}", *LONG)
    try:
        wait_until_training(tmp_path, first)
        second = run(f"--text={text}", f"--out={tmp_path}", *LONG)
        assert second.returncode == 3
        assert str(tmp_path) in second.stderr
        assert str(first.pid) in second.stderr
    finally:
        first.kill()
        first.communicate()


def test_a_changed_setting_is_a_new_run_and_keeps_the_old_ones(text: Path, tmp_path: Path) -> None:
    run(f"--text={text}", f"--out={tmp_path}", *TINY)
    before = metrics(tmp_path)
    done = run(f"--text={text}", f"--out={tmp_path}", *TINY, "--dropout=0.2")
    assert done.returncode == 0, done.stderr
    after = metrics(tmp_path)
    assert len(after) == 8
    assert after.items() >= before.items()


def test_a_changed_text_is_a_new_run(tmp_path: Path) -> None:
    text = write_text(tmp_path / "mine.txt")
    run(f"--text={text}", f"--out={tmp_path / 'out'}", *TINY, "--seeds=1")
    text.write_text(text.read_text() + "more")
    done = run(f"--text={text}", f"--out={tmp_path / 'out'}", *TINY, "--seeds=1")
    assert done.returncode == 0, done.stderr
    assert len(metrics(tmp_path / "out")) == 4


def test_a_crashed_run_is_reported_and_tried_again(text: Path, tmp_path: Path) -> None:
    process = start(f"--text={text}", f"--out={tmp_path}", *TINY, "--steps=400", "--jobs=1")
    wait_until_training(tmp_path, process)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    os.kill(int(children[0]), signal.SIGSEGV)
    stdout, stderr = process.communicate(timeout=300)
    assert process.returncode == 1
    assert "signal 11" in stderr
    assert "1 crashed" in stdout
    again = run(f"--text={text}", f"--out={tmp_path}", *TINY, "--steps=400")
    assert again.returncode == 0, again.stderr
    assert "crashed" not in again.stdout.replace(str(tmp_path), "").split("failed runs", 1)[1]


def test_a_full_disk_crashes_runs_and_keeps_the_results_of_the_others(
    text: Path, tmp_path: Path
) -> None:
    namespace = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    mount = f"mount -t tmpfs -o size=64k none {tmp_path}"
    if subprocess.run([*namespace, mount], capture_output=True).returncode:
        pytest.skip("this system allows no mount namespaces")
    script = f'{mount} && "$@"; code=$?; find {tmp_path} -name "*.tmp*" >&2; exit $code'
    few = [option for option in TINY if not option.startswith(("--norm", "--jobs"))]
    done = subprocess.run(
        [*namespace, script, "sh"]
        + command(
            f"--text={text}", f"--out={tmp_path}", *few, "--norm=layer", "--seeds=6", "--jobs=1"
        ),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert "No space left on device" in done.stderr.split("runs crashed")[1]
    assert "no report: " in done.stderr
    assert re.search(r"^layer-pre .* crashed$", done.stdout, re.MULTILINE)
    assert "Report:" not in done.stdout
    assert ".tmp" not in done.stderr


def test_what_a_killed_comparison_left_half_written_is_removed(text: Path, tmp_path: Path) -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    left = tmp_path / f"report.html.tmp{dead.pid}"
    left.write_text("half")
    run(f"--text={text}", f"--out={tmp_path}", *TINY, "--seeds=1")
    assert not left.exists()


def test_json_is_one_document_with_every_arm(text: Path, tmp_path: Path) -> None:
    learns = [o for o in TINY if not o.startswith(("--steps", "--lr", "--norm"))]
    done = run(
        f"--text={text}", f"--out={tmp_path}", *learns, "--steps=80", "--lr=0.01",
        "--norm=none,layer", "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["runs_finished"] == 4
    (task,) = document["tasks"]
    assert [arm["arm"] for arm in task["arms"]] == ["none", "layer-pre"]
    assert task["metric"] == "loss"
    assert Path(document["report"]).is_file()
    (difference,) = task["differences"]
    assert difference["baseline"] == "layer-pre"
    assert difference["difference"]["n"] == 2


def test_none_runs_once_for_both_placements(text: Path, tmp_path: Path) -> None:
    done = run(
        f"--text={text}", f"--out={tmp_path}", *TINY, "--norm=none", "--placement=pre,post",
        "--seeds=1", "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len(metrics(tmp_path)) == 1


def test_progress_elsewhere_than_on_a_terminal_is_plain_lines(text: Path, tmp_path: Path) -> None:
    done = run(f"--text={text}", f"--out={tmp_path}", *TINY)
    assert "\r" not in done.stderr
    assert "0/4 runs" in done.stderr
