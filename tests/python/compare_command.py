"""Runs `equinorm compare` for the tests: small models, a text and a folder of their own."""

from __future__ import annotations

import os
import random
import signal
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BINARY = os.environ.get("EQUINORM_BIN", str(ROOT / "build" / "release" / "cli" / "equinorm"))

# A run of well under a second: what is tested here is how runs are driven, not what they learn.
TINY = [
    "--depth=1", "--width=16", "--heads=2", "--context=16", "--batch=4", "--steps=12",
    "--eval-every=6", "--instrument-every=6", "--lr=0.001", "--placement=pre", "--norm=layer,rms",
    "--seeds=2", "--jobs=2",
]  # fmt: skip


def write_text(path: Path, characters: int = 20000) -> Path:
    """A text of few words in random order: letters can be told from the letters before them."""
    source = random.Random(5)
    words = ["eat ", "ation ", "shrdlu ", "toil.\n"]
    path.write_text("".join(source.choices(words, k=characters))[:characters])
    return path


def command(*arguments: object) -> list[str]:
    return [BINARY, "compare", *map(str, arguments)]


def run(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
    """Runs `equinorm compare ARGUMENTS` to its end."""
    return subprocess.run(
        command(*arguments), capture_output=True, text=True, timeout=300, check=False, **options
    )


def start(*arguments: object) -> subprocess.Popen[str]:
    """Starts `equinorm compare ARGUMENTS` in a process group of its own."""
    return subprocess.Popen(
        command(*arguments),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # Tests started in the background of a shell ignore SIGINT, and so would this process.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def metrics(out: Path) -> dict[str, bytes]:
    """Bytes of metrics.jsonl of every finished run, by run id."""
    return {
        result.parent.name: (result.parent / "metrics.jsonl").read_bytes()
        for result in (out / "runs").glob("*/result.json")
    }


def results(out: Path) -> dict[str, bytes]:
    """Bytes of result.json of every finished run, by run id."""
    return {
        result.parent.name: result.read_bytes() for result in (out / "runs").glob("*/result.json")
    }
