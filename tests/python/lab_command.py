"""Runs `equinorm lab` for the tests."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

try:
    import tomllib
except ModuleNotFoundError:  # before Python 3.11; pytest brings this one
    import tomli as tomllib  # noqa: F401

ROOT = Path(__file__).resolve().parents[2]
BINARY = os.environ.get("EQUINORM_BIN", str(ROOT / "build" / "release" / "cli" / "equinorm"))

QUICK = ("E20", "EX")  # no training, seconds

# A training experiment of seconds on a text of the test's own.
TRAINING = """
id = "tiny"
title = "Tiny runs"
question = "Does the lab train?"
metric = "loss"
columns = ["sensitivity"]
learning_rates = [1e-3, 1e-2]
seeds = 3

[base]
task = "text"
source = "{source}"
depth = 1
width = 16
heads = 2
ffn = 32
context = 16
batch = 4
steps = 12
warmup = 2
eval_every = 6
instrument_every = 6
probes = true

[[arm]]
name = "layer"
norm = "layer"

[[arm]]
name = "rms"
norm = "rms"

[[verdict]]
claim = "mine"
says = "RMSNorm ends below LayerNorm"
compare = ["rms", "layer"]
direction = "lower"

[[figure]]
title = "Curves"
y = "loss"

[[figure]]
title = "Rates"
x = "learning_rate"
"""


def run(*arguments: object, timeout: int = 300) -> subprocess.CompletedProcess[str]:
    """Runs `equinorm lab ARGUMENTS` to its end."""
    return subprocess.run(
        [BINARY, "lab", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def start(*arguments: object) -> subprocess.Popen[str]:
    """Starts `equinorm lab ARGUMENTS` in a process group of its own."""
    return subprocess.Popen(
        [BINARY, "lab", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # Tests started in the background of a shell ignore SIGINT, and so would this process.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def results(out: Path) -> dict[str, bytes]:
    """Bytes of result.json of every finished run, by run id."""
    return {path.parent.name: path.read_bytes() for path in (out / "runs").glob("*/result.json")}
