"""Fixtures shared by the tests of the command line and the report."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from compare_command import BINARY

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
