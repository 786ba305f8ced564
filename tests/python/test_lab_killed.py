"""`equinorm lab` killed again and again: what it leaves is what an uninterrupted one leaves."""

from __future__ import annotations

import random
import re
import signal
import subprocess
import time
from pathlib import Path

from lab_command import run, start

SEED = 7
SIGNALS = [signal.SIGKILL] * 7 + [signal.SIGINT] * 3
EXIT_CODES = {signal.SIGKILL: -signal.SIGKILL, signal.SIGINT: 130}


def contents(out: Path) -> dict[str, bytes]:
    """Every file but those that differ from run to run."""
    return {
        str(path.relative_to(out)): path.read_bytes()
        for path in out.rglob("*")
        if path.is_file() and path.name not in ("timing.json", "lock")
    }


def start_writing(out: Path, *experiments: object) -> subprocess.Popen[str]:
    """Starts until the lock is taken over, which runs of a killed command hold to their end."""
    lock = out / "lock"
    while True:
        process = start("run", *experiments, "--out", out, "--jobs", 2, "--quiet")
        while process.poll() is None:
            if lock.exists() and lock.read_text() == f"{process.pid}\n":
                return process
            time.sleep(0.01)
        assert process.returncode == 3
        assert "is writing there" in process.communicate()[1]


def test_killed_ten_times_at_random_it_ends_as_if_nothing_had_happened(
    tiny: Path, tmp_path: Path
) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    # Long enough that ten signals meet it before it ends.
    longer = tmp_path / "longer.toml"
    longer.write_text(re.sub(r"(?m)^(steps|\w+_every) = .*", r"\1 = 1000", tiny.read_text()))
    done = run("run", longer, "E20", "--out", whole, "--jobs", 2, "--quiet")
    assert done.returncode == 0, done.stderr

    print("seed", SEED)
    source = random.Random(SEED)
    for i, sig in enumerate(source.sample(SIGNALS, len(SIGNALS))):
        # Trainings or measurements: what comes first is what the signal meets.
        process = start_writing(killed, *((longer, "E20") if i % 2 == 0 else ("E20", longer)))
        time.sleep(source.uniform(0, 0.8))
        process.send_signal(sig)
        process.communicate(timeout=60)
        assert process.returncode == EXIT_CODES[sig]
    last = start_writing(killed, longer, "E20")
    _, errors = last.communicate(timeout=120)
    assert last.returncode == 0, errors
    assert contents(killed) == contents(whole)
