"""`equinorm explain`: values, input, errors."""

from __future__ import annotations

import json
import random
from decimal import Decimal, getcontext
from fractions import Fraction

import pytest
from conftest import Run

getcontext().prec = 60
EPS = Fraction(1e-5)  # the f64 that the command uses


def explain(equinorm: Run, *arguments: object, stdin: str = "") -> dict:
    result = equinorm("explain", "--json", *arguments, stdin=stdin)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    return json.loads(result.stdout)


def as_decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def exact_norm(row: list[float], centred: bool) -> list[Decimal]:
    """Normalized row to 50 digits."""
    values = [Fraction(x) for x in row]
    mean = sum(values) / len(values) if centred else Fraction(0)
    square = sum((x - mean) ** 2 for x in values) / len(values)
    root = as_decimal(square + EPS).sqrt()
    return [as_decimal(x - mean) / root for x in values]


def test_layer_norm_of_1000_1001_999_is_what_the_formula_gives(equinorm: Run) -> None:
    answer = explain(equinorm, 1000, 1001, 999)
    expected = [0.0, 1.2247356859083902, -1.2247356859083902]
    assert answer["layer_norm"]["normalized"] == expected
    assert answer["layer_norm"]["mean"] == 1000
    exact = exact_norm([1000, 1001, 999], centred=False)
    # The documented bound: two units of 2^-52 at the row's scale, which is close to 1 here.
    for got, want in zip(answer["rms_norm"]["normalized"], exact, strict=True):
        assert abs(Decimal(got) - want) <= Decimal(2) ** -51 * Decimal("1.001")


def test_text_shows_the_three_steps_and_the_wrong_answers(equinorm: Run) -> None:
    result = equinorm("explain", 1000, 1001, 999)
    assert result.returncode == 0
    for part in (
        "1. mean       sum(x) / 3 = 1000",
        "2. variance   sum((x - mean)^2) / 3 = 0.666666667",
        "(x - mean) * 1.22473569",
        "1.22473569",
        "wrong order and the wrong scale: 1, 0, -1",
        "0, 0.999999, -0.999999",
        "RMSNorm",
    ):
        assert part in result.stdout


def test_values_are_within_two_ulp_of_exact_arithmetic_at_the_rows_scale(equinorm: Run) -> None:
    source = random.Random(11)
    for size in (1, 2, 3, 17, 300):
        row = [source.gauss(source.choice([0, 1e4]), 1) for _ in range(size)]
        answer = explain(equinorm, *(repr(x) for x in row))
        for name, centred in (("layer_norm", True), ("rms_norm", False)):
            exact = exact_norm(row, centred)
            scale = float(max(abs(value) for value in exact))
            bound = 2 * Decimal(2) ** -52 * Decimal(scale)
            for got, want in zip(answer[name]["normalized"], exact, strict=True):
                assert abs(Decimal(got) - want) <= bound


def test_negative_numbers_are_numbers_and_not_options(equinorm: Run) -> None:
    assert explain(equinorm, -1, 2, -3)["x"] == [-1, 2, -3]
    assert explain(equinorm, "-.5", "-1e-3", "+2")["x"] == [-0.5, -0.001, 2]


def test_two_dashes_say_that_numbers_follow(equinorm: Run) -> None:
    assert explain(equinorm, "--", -1, 2, 3)["x"] == [-1, 2, 3]
    assert explain(equinorm, 1, "--", 2)["x"] == [1, 2]


@pytest.mark.parametrize("text", ["1 2 3", "1,2,3", "1\n2\n3\n", "1;\t2 ,3", "\r\n1, 2\r\n3"])
def test_numbers_from_standard_input_may_be_separated_in_any_usual_way(
    equinorm: Run, text: str
) -> None:
    assert explain(equinorm, stdin=text)["x"] == [1, 2, 3]
    assert explain(equinorm, "-", stdin=text)["x"] == [1, 2, 3]


def test_one_gain_serves_all_elements_and_a_list_serves_each(equinorm: Run) -> None:
    plain = explain(equinorm, 1, 2, 4)["layer_norm"]["normalized"]
    assert explain(equinorm, 1, 2, 4, "--gain", 2)["layer_norm"]["y"] == [2 * y for y in plain]
    listed = explain(equinorm, 1, 2, 4, "--gain", "1,2,4", "--bias", "-8,0,8")["layer_norm"]["y"]
    assert listed == [plain[0] - 8, 2 * plain[1], 4 * plain[2] + 8]


def test_the_element_type_decides_what_the_numbers_are(equinorm: Run) -> None:
    assert explain(equinorm, 0.1, 1000.3, "--dtype", "bf16")["x"] == [0.10009765625, 1000]
    assert explain(equinorm, 0.1, 1000.3, "--dtype", "f16")["x"] == [0.0999755859375, 1000.5]
    assert explain(equinorm, 6e-8, 1, "--dtype", "f16")["x"] == [2**-24, 1]
    assert explain(equinorm, 16777217, 1, "--dtype", "f32")["x"] == [16777216, 1]


def test_eps_is_added_under_the_root(equinorm: Run) -> None:
    assert explain(equinorm, 3, -3, "--eps", 16)["layer_norm"]["rstd"] == 0.2


def test_equal_numbers_give_exactly_the_bias(equinorm: Run) -> None:
    answer = explain(equinorm, 0.1, 0.1, 0.1, "--bias", 7, "--eps", 0)
    assert answer["layer_norm"]["y"] == [7, 7, 7]
    assert any("all numbers are equal" in p["text"] for p in answer["where_answers_go_wrong"])


def test_huge_and_tiny_numbers_keep_their_shape(equinorm: Run) -> None:
    for factor in (1e-300, 1e300):
        answer = explain(equinorm, 1 * factor, 2 * factor, 3 * factor, "--eps", 0)
        assert answer["layer_norm"]["normalized"] == pytest.approx([-(1.5**0.5), 0, 1.5**0.5])


def test_a_long_row_is_shown_by_its_ends_and_kept_whole_in_json(equinorm: Run) -> None:
    text = " ".join(str(i) for i in range(5000))
    shown = equinorm("explain", stdin=text).stdout
    assert len(shown.splitlines()) < 60
    assert "..." in shown
    assert len(explain(equinorm, stdin=text)["layer_norm"]["y"]) == 5000


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("1", "two", "3"), "'two' is not a number"),
        (("1", "1e999"), "'1e999' is out of the range"),
        (("nan",), "'nan' is not finite"),
        (("1", "0x10"), "'0x10' is not a number"),
        (("1", "--eps", "-1"), "eps = -1"),
        (("1", "--eps", "tiny"), "--eps: 'tiny' is not a number"),
        (("1", "--dtype", "f8"), "--dtype: 'f8'"),
        (("70000", "--dtype", "f16"), "70000 does not fit f16"),
        (("1", "2", "--gain", "1,2,3"), "--gain: 3 numbers for a row of 2"),
        (("1", "--gain", ""), "--gain: '' holds no number"),
        (("1", "--bias", ","), "--bias: ',' holds no number"),
        (("1", "--jsn"), "Did you mean --json?"),
        ((",",), "no numbers"),
    ],
)
def test_a_bad_argument_is_named_and_exits_with_2(
    equinorm: Run, arguments: tuple[str, ...], part: str
) -> None:
    result = equinorm("explain", *arguments)
    assert result.returncode == 2
    assert result.stdout == ""
    assert part in result.stderr


def test_bad_standard_input_names_the_token_and_line_and_exits_with_3(equinorm: Run) -> None:
    result = equinorm("explain", stdin="1 2\n3 x4\n")
    assert (result.returncode, result.stdout) == (3, "")
    assert "'x4' is not a number (line 2)" in result.stderr
    assert equinorm("explain", stdin="").returncode == 3


def test_binary_standard_input_does_not_reach_the_terminal(equinorm: Run) -> None:
    result = equinorm("explain", stdin="\x1b[31m\x07\x01")
    assert result.returncode == 3
    assert "\x1b" not in result.stderr
