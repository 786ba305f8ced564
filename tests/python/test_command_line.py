"""What every command has in common: help, hints, exit codes; and `equinorm info`."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
from pathlib import Path

import pytest
from conftest import Run


@pytest.fixture(scope="session")
def commands(equinorm: Run) -> list[str]:
    listing = equinorm("--help").stdout.split("Subcommands:")[1].split("Example:")[0]
    return re.findall(r"^  (\S+) ", listing, re.MULTILINE)


def test_the_commands_are_those_of_the_documentation(commands: list[str]) -> None:
    assert commands == [
        "compare", "lab", "report", "forms", "explain", "check", "bench", "data", "info"
    ]  # fmt: skip


def test_every_command_has_help_with_an_example(equinorm: Run, commands: list[str]) -> None:
    for name in commands:
        result = equinorm(name, "--help")
        assert result.returncode == 0, name
        assert "Example" in result.stdout, name
        assert f"  equinorm {name}" in result.stdout, name


@pytest.mark.parametrize(
    "command",
    ["data list", "data prepare"]
    + [f"lab {c}" for c in ("list", "run", "report", "status", "diff")],
)
def test_every_nested_command_has_help_with_its_own_example(equinorm: Run, command: str) -> None:
    assert f"\n  equinorm {command}" in equinorm(*command.split(), "--help").stdout


def test_an_unknown_data_set_is_told_from_what_was_meant(equinorm: Run) -> None:
    result = equinorm("data", "prepare", "bibel")
    assert (result.returncode, result.stdout) == (2, "")
    assert "equinorm data prepare: unknown data set 'bibel': must be one of " in result.stderr
    assert "Did you mean bible?" in result.stderr
    assert "Try 'equinorm data prepare --help'." in result.stderr


def test_an_unknown_option_of_any_command_exits_with_2_and_names_it(
    equinorm: Run, commands: list[str]
) -> None:
    for name in commands:
        result = equinorm(name, "--no-such-option")
        assert result.returncode == 2, name
        assert result.stdout == "", name
        assert "--no-such-option" in result.stderr, name
        assert f"equinorm {name}" in result.stderr and "--help" in result.stderr, name


def test_an_unknown_command_exits_with_2_and_suggests_the_nearest(equinorm: Run) -> None:
    result = equinorm("explian", 1)
    assert (result.returncode, result.stdout) == (2, "")
    assert "unknown command 'explian'" in result.stderr
    assert "Did you mean explain?" in result.stderr


def test_no_command_exits_with_2_and_lists_them(equinorm: Run) -> None:
    result = equinorm()
    assert (result.returncode, result.stdout) == (2, "")
    assert "Commands: compare, " in result.stderr


def test_hidden_commands_are_not_suggested(equinorm: Run) -> None:
    assert "run" not in equinorm().stderr.split("Commands:")[1].split("\n")[0]


def test_version_names_release_and_numerics_contract(equinorm: Run) -> None:
    assert re.fullmatch(r"equinorm \d+\.\d+\.\d+, numerics \d+\n", equinorm("--version").stdout)


def test_a_full_disk_is_an_error_and_not_silence(binary: Path) -> None:
    with open("/dev/full", "w") as full:
        result = subprocess.run(
            [str(binary), "explain", "1", "2"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert result.returncode == 3
    assert "standard output" in result.stderr


def test_info_says_what_a_bug_report_needs(equinorm: Run) -> None:
    info = json.loads(equinorm("info", "--json").stdout)
    assert info["machine"]["architecture"] == platform.machine()
    assert info["machine"]["cores"] == os.cpu_count()
    assert info["isa"]["chosen"] == info["isa"]["available"][-1]
    assert "portable" in info["isa"]["available"]
    assert info["kernels"] > 0
    assert info["threads"] >= 1
    assert info["numerics_version"] >= 1
    assert info["build"]["compiler"]
    assert info["build"]["torch"].startswith("2.")


def test_info_as_text_holds_the_same_keys(equinorm: Run) -> None:
    lines = equinorm("info").stdout.splitlines()
    keys = {line.split()[0] for line in lines}
    assert {"version", "machine.cpu", "isa.chosen", "threads", "build.torch", "kernels"} <= keys


def test_info_follows_the_environment_of_the_library(binary: Path) -> None:
    limited = {**os.environ, "EQUINORM_MAX_ISA": "portable", "EQUINORM_NUM_THREADS": "1"}
    text = subprocess.run(
        [str(binary), "info", "--json"], env=limited, capture_output=True, text=True, check=True
    ).stdout
    info = json.loads(text)
    assert info["isa"] == {"available": ["portable"], "chosen": "portable"}
    assert info["threads"] == 1
    assert info["environment"]["EQUINORM_MAX_ISA"] == "portable"


def test_info_marks_variables_that_the_library_does_not_understand(binary: Path) -> None:
    strange = {**os.environ, "EQUINORM_MAX_ISA": "sse", "EQUINORM_NUM_THREADS": "0"}
    text = subprocess.run(
        [str(binary), "info", "--json"], env=strange, capture_output=True, text=True, check=True
    ).stdout
    environment = json.loads(text)["environment"]
    assert environment["EQUINORM_MAX_ISA"] == "sse (not understood, ignored)"
    assert environment["EQUINORM_NUM_THREADS"] == "0 (not understood, ignored)"


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("check", "--rows", 2**31, "--cols", 2**31), "--rows 2147483648 --cols 2147483648: needs"),
        (("check", "--cols", 2**31), "--cols 2147483648: needs"),
        (("check", "--dtype", ""), "--dtype = '': must be f64"),
        (("bench", "--rows", 2**32, "--cols", 2**32), "--rows 4294967296 --cols 4294967296: needs"),
        (("bench", "--seconds", "nan"), "--seconds = nan: must be a number from 0 to 3600"),
    ],
)
def test_a_value_that_cannot_be_is_refused_before_any_work(
    equinorm: Run, arguments: tuple[object, ...], part: str
) -> None:
    result = equinorm(*arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert part in result.stderr


OPERATORS = [
    "layer_norm",
    "rms_norm",
    "row_norm",
    "grouped_norm",
    "fused_norm",
    "blended_norm",
    "dynamic_tanh",
]


def test_check_help_names_every_operator_and_what_is_checked_without_one(equinorm: Run) -> None:
    text = " ".join(equinorm("check", "--help").stdout.split())
    assert f"all, {', '.join(OPERATORS)}" in text
    assert "default: layer_norm, rms_norm" in text
    assert "equinorm check --op all" in text


@pytest.mark.parametrize("shape", [(0, 5), (3, 0), (0, 0), (1, 1)])
def test_check_passes_with_shapes_that_are_empty(equinorm: Run, shape: tuple[int, int]) -> None:
    rows, cols = shape
    kernels = ("--op", "all", "--dtype", "bf16-f32", "--isa", "portable")
    result = equinorm("check", *kernels, "--rows", rows, "--cols", cols, "--quiet")
    assert result.returncode == 0, result.stdout[-2000:] + result.stderr


@pytest.mark.parametrize("name", [*OPERATORS, "AdaNorm"])
def test_check_knows_the_operator_and_names_its_outputs(equinorm: Run, name: str) -> None:
    shape = ("--rows", 3, "--cols", 20, "--dtype", "bf16", "--isa", "portable")
    result = equinorm("check", "--op", name, *shape, "--json", "--quiet")
    assert result.returncode == 0, result.stdout + result.stderr
    document = json.loads(result.stdout)
    assert document["passed"]
    names = [kernel["kernel"] for kernel in document["kernels"]]
    assert len(set(names)) == len(names)
    if name != "row_norm":
        assert names == [f"{name}.{way}.bf16.portable" for way in ("fwd", "bwd")]
    else:
        assert "LayerNorm.fwd.bf16.portable" in names and "ScaleNorm.bwd.bf16.portable" in names
    for kernel in document["kernels"]:
        assert kernel["comparisons"] > 0 and kernel["differences"] == 0
        outputs = {output["output"] for output in kernel["outputs"]}
        if document["truth"]:
            assert ("y" if ".fwd." in kernel["kernel"] else "dx") in outputs


def test_check_refuses_an_operator_that_there_is_not(equinorm: Run) -> None:
    result = equinorm("check", "--op", "no_such_norm")
    assert (result.returncode, result.stdout) == (2, "")
    assert "dynamic_tanh" in result.stderr


def test_check_says_that_an_operator_has_no_such_types(equinorm: Run) -> None:
    result = equinorm("check", "--op", "fused_norm", "--dtype", "f16-f64")
    assert (result.returncode, result.stdout) == (2, "")
    assert "--dtype = 'f16-f64'" in result.stderr and "fused_norm" in result.stderr
