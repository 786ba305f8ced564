"""`--tensorboard`: event files read back by TensorBoard hold every number of metrics.jsonl."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from pathlib import Path

import lab_command
import pytest
from compare_command import TINY, run, write_text
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

Scalars = dict[str, list[tuple[int, float]]]


def numbers(tag: str, value: object) -> Iterator[tuple[str, float]]:
    """Every number in `value`, lists counted from 1 in the tag."""
    if isinstance(value, list):
        for place, part in enumerate(value, 1):
            yield from numbers(f"{tag}/{place}", part)
    elif isinstance(value, dict):
        for name, part in value.items():
            yield from numbers(f"{tag}/{name}", part)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield tag, value


def instrument(name: str, value: object) -> Iterator[tuple[str, float]]:
    parts = dict(value) if isinstance(value, dict) else {"layers": value}
    layers = parts.pop("layers")
    if not isinstance(layers, list):
        yield from numbers(name, layers)
        return
    for layer, part in enumerate(layers, 1):
        yield from numbers(f"layers/{layer}/{name}", part)
    yield from numbers(name, parts)


def expected(metrics: Path) -> Scalars:
    scalars: Scalars = {}
    for line in metrics.read_text().splitlines():
        event = json.loads(line)
        kind, step = event.pop("event"), event.pop("step")
        for name, value in event.items():
            found = (
                instrument(name, value) if kind == "layers" else numbers(f"{kind}/{name}", value)
            )
            for tag, number in found:
                rounded = struct.unpack("f", struct.pack("f", number))[0]
                scalars.setdefault(tag, []).append((step, rounded))
    return scalars


def read_back(folder: Path) -> Scalars:
    accumulator = EventAccumulator(str(folder), size_guidance={"scalars": 0}).Reload()
    scalars = {}
    for tag in accumulator.Tags()["scalars"]:
        events = accumulator.Scalars(tag)
        assert [event.wall_time for event in events] == [event.step for event in events]
        scalars[tag] = [(event.step, event.value) for event in events]
    return scalars


def check(out: Path) -> list[Path]:
    """Compares every run of `out` with its event file; returns the folders of the files."""
    folders = sorted((out / "tensorboard").iterdir())
    finished = sorted(path.parent.name for path in (out / "runs").glob("*/metrics.jsonl"))
    assert [folder.name for folder in folders] == finished
    for folder in folders:
        assert [path.name for path in folder.iterdir()] == ["events.out.tfevents.equinorm"]
        assert read_back(folder) == expected(out / "runs" / folder.name / "metrics.jsonl")
    return folders


@pytest.fixture(name="text", scope="module")
def fixture_text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_text(tmp_path_factory.mktemp("data") / "mine.txt")


def test_tensorboard_reads_every_number_of_runs_that_were_finished_before(
    text: Path, tmp_path: Path
) -> None:
    options = [f"--text={text}", f"--out={tmp_path}", *TINY, "--depth=2"]
    assert run(*options).returncode == 0
    assert not (tmp_path / "tensorboard").exists()
    done = run(*options, "--tensorboard")
    assert done.returncode == 0, done.stderr
    assert "0 runs done now, 4 before" in done.stderr
    folders = check(tmp_path)
    assert len(folders) == 4
    tags = read_back(folders[0])
    assert {"train/loss", "train/grad_norm", "train/learning_rate", "eval/loss"} <= tags.keys()
    assert {"eval/accuracy", "layers/2/activation_rms", "layers/2/grad_norm/qkv"} <= tags.keys()
    assert {"layers/1/attention_entropy/2", "update_ratio/total", "logsumexp"} <= tags.keys()
    assert len(tags["train/loss"]) == 12


def test_the_lab_writes_event_files_of_its_training_runs(text: Path, tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(lab_command.TRAINING.format(source=text))
    out = tmp_path / "out"
    done = lab_command.run(
        "run", tmp_path / "tiny.toml", f"--out={out}", "--seeds=1", "--tensorboard"
    )
    assert done.returncode == 0, done.stderr
    before = {path: path.stat().st_mtime_ns for path in (out / "tensorboard").glob("*/*")}
    assert len(check(out)) == len(before) == 4
    missing = next(iter(before))
    missing.unlink()
    again = lab_command.run(
        "run", tmp_path / "tiny.toml", f"--out={out}", "--seeds=1", "--tensorboard"
    )
    assert again.returncode == 0, again.stderr
    after = {path: path.stat().st_mtime_ns for path in before}
    assert {path for path in before if after[path] != before[path]} == {missing}
    check(out)
