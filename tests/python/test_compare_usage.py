"""What `equinorm compare` says to wrong command lines, data and folders, before any work."""

from __future__ import annotations

import gzip
import os
import subprocess
from pathlib import Path

import pytest
from compare_command import TINY, command, run, write_text


@pytest.mark.parametrize(
    ("option", "value", "rule"),
    [
        ("--steps", "0", "whole number from 1"),
        ("--steps", "ten", "whole number from 1"),
        ("--steps", "1e3", "whole number from 1"),
        ("--depth", "-1", "whole number from 1"),
        ("--width", "99999999999999999999", "whole number from 1"),
        ("--heads", "2.5", "whole number from 1"),
        ("--context", "1", "whole number from 2"),
        ("--warmup", "-5", "whole number from 0"),
        ("--jobs", "0", "whole number from 1"),
        ("--seeds", "0", "whole number from 1"),
        ("--seeds", "1,1", "must not name '1' twice"),
        ("--seeds", "1,,2", "without empty parts"),
        ("--seed", "-1", "whole number from 0"),
        ("--dropout", "1", "at least 0 and below 1"),
        ("--dropout", "nan", "at least 0 and below 1"),
        ("--clip", "-0.5", "at least 0"),
        ("--lr", "0", "above 0"),
        ("--lr", "inf", "above 0"),
        ("--lr", "0.001,1e-3", "must not name 0.001 twice"),
        ("--norm", "layers", "one of none, batch, layer, rms"),
        ("--norm", "rms,rms", "must not name 'rms' twice"),
        ("--qk-norm", "cosine", "one of none, rms, layer, l2"),
        ("--placement", "middle", "one of post, pre, pre_no_final, deepnorm"),
        ("--task", "mnist", "one of fashion-mnist, bible"),
        ("--norm", "layer,rmz", "Did you mean rms?"),
        ("--qk-norm", "layr", "Did you mean layer?"),
        ("--placement", "psot", "Did you mean post?"),
        ("--task", "bibel", "Did you mean bible?"),
        ("--target", "1.5", "accuracy above 0 and at most 1"),
    ],
)
def test_a_bad_value_names_the_option_the_value_and_the_rule(
    option: str, value: str, rule: str, tmp_path: Path
) -> None:
    done = run(f"--out={tmp_path / 'out'}", f"{option}={value}")
    assert done.returncode == 2, done.stderr
    assert option in done.stderr
    assert rule in done.stderr
    assert value.split(",")[0] in done.stderr
    assert done.stdout == ""
    assert not (tmp_path / "out").exists()


def test_heads_that_do_not_divide_the_width_are_refused(tmp_path: Path) -> None:
    done = run("--width=64", "--heads=5", f"--out={tmp_path / 'out'}")
    assert done.returncode == 2
    assert "--width = 64: must be a multiple of heads = 5" in done.stderr
    assert not (tmp_path / "out").exists()


def test_instruments_at_every_step_are_refused_and_the_help_says_so(tmp_path: Path) -> None:
    done = run("--instrument-every=1", f"--out={tmp_path / 'out'}")
    assert done.returncode == 2
    assert "--instrument-every = 1: must be 0 (off) or at least 2" in done.stderr
    assert "at least 2, or 0 for none" in run("--help").stdout


def test_a_target_cannot_count_accuracy_and_loss_at_once(tmp_path: Path) -> None:
    done = run("--task=fashion-mnist,bible", "--target=0.7", f"--out={tmp_path / 'out'}")
    assert done.returncode == 2
    assert "--target" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "rule"), [(["--out="], "DIR missing"), (["--out", ""], "must not be empty")]
)
def test_an_empty_value_is_a_usage_error(arguments: list[str], rule: str) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert "--out" in done.stderr
    assert rule in done.stderr


def test_an_unknown_option_is_a_usage_error() -> None:
    done = run("--nrom=layer")
    assert done.returncode == 2
    assert "--nrom" in done.stderr


def test_help_shows_every_option_and_an_example() -> None:
    done = run("--help")
    assert done.returncode == 0
    for option in [
        "--task",
        "--text",
        "--idx",
        "--norm",
        "--placement",
        "--seeds",
        "--lr",
        "--steps",
        "--depth",
        "--width",
        "--heads",
        "--qk-norm",
        "--ffn",
        "--context",
        "--dropout",
        "--batch",
        "--warmup",
        "--clip",
        "--eval-every",
        "--instrument-every",
        "--target",
        "--jobs",
        "--out",
        "--seed",
        "--quiet",
        "--json",
        "--cache",
    ]:
        assert option in done.stdout
    assert "equinorm compare" in done.stdout


def test_an_output_folder_under_a_file_is_an_output_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    done = run(f"--out={tmp_path / 'file' / 'out'}", "--text=does-not-matter.txt")
    assert done.returncode == 3
    assert str(tmp_path / "file") in done.stderr
    assert "does-not-matter" not in done.stderr  # the output was looked at first


def test_an_output_folder_that_nobody_can_make_is_an_output_error() -> None:
    done = run("--out=/proc/equinorm")
    assert done.returncode == 3
    assert "/proc/equinorm" in done.stderr


@pytest.mark.parametrize(
    ("task", "hide", "package"),
    [
        ("bible", "/usr/share/sword", "sword-text-web"),
        ("fashion-mnist", "/usr/share/datasets", "dataset-fashion-mnist"),
    ],
)
def test_missing_data_names_the_package(task: str, hide: str, package: str, tmp_path: Path) -> None:
    # An empty file system over the data, seen by this one process.
    hidden = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    script = f'mount -t tmpfs none {hide} && exec "$@"'
    if subprocess.run([*hidden, f"mount -t tmpfs none {hide}"], capture_output=True).returncode:
        pytest.skip("this system allows no mount namespaces")
    done = subprocess.run(
        [*hidden, script, "sh", *command(f"--task={task}", f"--out={tmp_path / 'out'}", *TINY)],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")},
        check=False,
    )
    assert done.returncode == 3, done.stderr
    assert "apt-get install" in done.stderr and package in done.stderr
    assert done.stdout == ""
    assert not list((tmp_path / "cache").rglob("manifest.json"))


def test_a_missing_text_is_an_input_error(tmp_path: Path) -> None:
    done = run(f"--text={tmp_path / 'no.txt'}", f"--out={tmp_path / 'out'}")
    assert done.returncode == 3
    assert "no.txt" in done.stderr


def test_a_text_that_is_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for text in (tmp_path / "pipe", "/dev/stdin", "/dev/zero"):
        done = run(f"--text={text}", f"--out={tmp_path / 'out'}", *TINY, stdin=subprocess.PIPE)
        assert done.returncode == 3, done.stderr
        assert f"'{text}' is a pipe or a device: must be a regular file" in done.stderr


def test_a_text_that_cannot_be_read_is_an_input_error_that_names_it(tmp_path: Path) -> None:
    done = run("--text=/proc/self/mem", f"--out={tmp_path / 'out'}", *TINY)
    assert done.returncode == 3, done.stderr
    assert "'/proc/self/mem': Input/output error" in done.stderr


@pytest.mark.parametrize("form", ["", ".gz"])
def test_a_missing_idx_file_is_named_in_both_forms_with_all_four(form: str, tmp_path: Path) -> None:
    (tmp_path / f"train-images-idx3-ubyte{form}").write_bytes(b"")
    done = run(f"--idx={tmp_path}", f"--out={tmp_path / 'out'}", *TINY)
    assert done.returncode == 3, done.stderr
    assert "no train-labels-idx1-ubyte and no train-labels-idx1-ubyte.gz" in done.stderr
    assert "needs the four files" in done.stderr


@pytest.mark.parametrize("content", [b"", b"a", bytes(range(256)) * 100])
def test_a_text_that_is_empty_or_one_character_or_binary_is_refused(
    content: bytes, tmp_path: Path
) -> None:
    text = tmp_path / "mine.txt"
    text.write_bytes(content)
    done = run(f"--text={text}", f"--out={tmp_path / 'out'}", *TINY)
    assert done.returncode in (2, 3), done.stderr
    assert "mine.txt" in done.stderr
    assert done.stdout == ""


def test_a_truncated_idx_file_is_an_input_error(tmp_path: Path) -> None:
    header = bytes([0, 0, 8, 3, 0, 0, 0, 10, 0, 0, 0, 28, 0, 0, 0, 28])
    labels = bytes([0, 0, 8, 1, 0, 0, 0, 10]) + bytes(10)
    for part in ("train", "t10k"):
        with gzip.open(tmp_path / f"{part}-images-idx3-ubyte.gz", "wb") as images:
            images.write(header + bytes(100))
        (tmp_path / f"{part}-labels-idx1-ubyte").write_bytes(labels)
    done = run(f"--idx={tmp_path}", f"--out={tmp_path / 'out'}", *TINY)
    assert done.returncode == 3, done.stderr
    assert "images-idx3-ubyte" in done.stderr


def test_quiet_says_nothing_on_standard_error(tmp_path: Path) -> None:
    text = write_text(tmp_path / "mine.txt")
    done = run(f"--text={text}", f"--out={tmp_path / 'out'}", "--quiet", *TINY)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "layer-pre" in done.stdout
