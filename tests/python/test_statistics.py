"""The lab's statistics beside SciPy's."""

from __future__ import annotations

import json
import os
import random
import subprocess
from pathlib import Path

import pytest
from lab_command import BINARY
from scipy import stats

PROGRAM = Path(
    os.environ.get(
        "EQUINORM_STATISTICS",
        str(Path(BINARY).parents[1] / "tests" / "lab" / "evidence" / "print_statistics"),
    )
)


def ours(a: list[float], b: list[float], hits: int, n: int) -> dict[str, object]:
    document = json.dumps({"a": a, "b": b, "hits": hits, "n": n})
    done = subprocess.run(
        [str(PROGRAM)], input=document, capture_output=True, text=True, check=True, timeout=60
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("size", [3, 5, 20])
def test_intervals_are_those_of_scipy(size: int) -> None:
    source = random.Random(size)
    a = [source.gauss(2, 1) for _ in range(size)]
    b = [source.gauss(1, 2) for _ in range(size)]
    hits, n = size // 3, size
    got = ours(a, b, hits, n)

    interval = stats.ttest_1samp(a, 0).confidence_interval(0.95)
    assert got["mean"] - got["half_width"] == pytest.approx(interval.low, rel=1e-10)
    assert got["mean"] + got["half_width"] == pytest.approx(interval.high, rel=1e-10)

    paired = stats.ttest_rel(a, b).confidence_interval(0.95)
    assert got["paired_mean"] - got["paired_half_width"] == pytest.approx(paired.low, rel=1e-10)
    assert got["paired_mean"] + got["paired_half_width"] == pytest.approx(paired.high, rel=1e-10)

    wilson = stats.binomtest(hits, n).proportion_ci(0.95, method="wilson")
    assert got["wilson"] == pytest.approx([wilson.low, wilson.high], rel=1e-9)

    quartile, median = stats.mstats.mquantiles(a, [0.25, 0.5], alphap=1, betap=1)  # type 7
    assert got["median"] == pytest.approx(median, rel=1e-12)
    assert got["quartile"] == pytest.approx(quartile, rel=1e-12)


def test_the_bootstrap_agrees_with_scipys_within_its_own_noise() -> None:
    source = random.Random(1)
    a = [source.gauss(0, 1) for _ in range(30)]
    got = ours(a, a, 1, 2)["bootstrap"]
    theirs = stats.bootstrap(
        (a,),
        lambda x, axis: x.mean(axis=axis),
        n_resamples=10000,
        method="percentile",
        random_state=1,
    ).confidence_interval
    # A percentile of 10,000 folds is known to about 2 % of the interval's width.
    noise = 0.03 * (theirs.high - theirs.low)
    assert got[0] == pytest.approx(theirs.low, abs=noise)
    assert got[1] == pytest.approx(theirs.high, abs=noise)
