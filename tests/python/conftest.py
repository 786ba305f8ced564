"""Fixtures shared by the tests of the command line and the report."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from compare_command import BINARY, write_text
from lab_command import QUICK, TRAINING
from lab_command import run as run_lab

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def binary() -> Path:
    """The `equinorm` under test: EQUINORM_BIN, or the release build."""
    path = Path(BINARY)
    if not path.is_file():
        pytest.fail(f"no executable at {path}: build it with ./test.sh or set EQUINORM_BIN")
    return path


@pytest.fixture(scope="session")
def equinorm(binary: Path) -> Run:
    """Runs `equinorm ARGUMENTS` with an empty standard input unless `stdin` is given."""

    def run(*arguments: object, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(binary), *map(str, arguments)],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run


@pytest.fixture(scope="session")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the lab with experiments that train nothing."""
    out = tmp_path_factory.mktemp("lab")
    done = run_lab("run", *QUICK, "--out", out, "--quiet")
    assert done.returncode == 0, done.stderr
    return out


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A declaration of the user's own."""
    folder = tmp_path_factory.mktemp("tiny")
    text = write_text(folder / "text.txt")
    (folder / "tiny.toml").write_text(TRAINING.replace("{source}", str(text)))
    return folder / "tiny.toml"


@pytest.fixture(scope="session")
def trained(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the lab with `tiny`."""
    out = tmp_path_factory.mktemp("trained")
    done = run_lab("run", tiny, "--out", out, "--quiet")
    assert done.returncode == 0, done.stderr
    return out
