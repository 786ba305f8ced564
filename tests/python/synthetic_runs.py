"""Writes a made-up comparison directory for tests of the report. Nothing in it was measured.

The numbers are smooth functions of arm, rate and seed, with one arm that stalls and one that turns
non-finite, so that every part of the report has something to show.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from pathlib import Path

Curve = Callable[[float], float]
Test = Callable[[float], bool]

ARMS = [
    ("none", "pre"),
    ("batch", "pre"),
    ("layer", "pre"),
    ("rms", "pre"),
    ("batch", "post"),
    ("layer", "post"),
    ("rms", "post"),
]
RATES = [3e-4, 1e-3, 3e-3, 1e-2]
SEEDS = [0, 1, 2]
STEPS = 300
DEPTH = 6
QUALITY = {"none": 0.055, "batch": 0.025, "layer": 0.0, "rms": 0.002}


def config(task: str, norm: str, placement: str, rate: float, seed: int, source: str) -> dict:
    return {
        "training_version": 1,
        "task": task,
        "source": source,
        "source_sha256": "9f" * 32,
        "norm": norm,
        "placement": placement,
        "depth": DEPTH,
        "width": 64,
        "heads": 4,
        "ffn": 256,
        "context": 64,
        "dropout": 0.1,
        "batch": 32,
        "steps": STEPS,
        "warmup": 30,
        "learning_rate": rate,
        "clip": 0.0,
        "seed": seed,
        "eval_every": 50,
        "instrument_every": 25,
        "target": 0.75 if task in ("fashion-mnist", "idx") else 2.4,
    }


def failure_of(norm: str, placement: str, rate: float) -> str | None:
    if norm == "none" and rate >= 1e-2:
        return "non-finite"
    if placement == "post" and norm != "none" and rate >= 1e-2:
        return "stall"
    if norm == "batch" and rate >= 1e-2:
        return "blow-up"
    return None


class RunWriter:
    """One run directory."""

    def __init__(self, out: Path, settings: dict) -> None:
        self.settings = settings
        self.norm, self.placement = settings["norm"], settings["placement"]
        self.rate, self.seed = settings["learning_rate"], settings["seed"]
        self.images = settings["task"] in ("fashion-mnist", "idx")
        self.initial, self.plateau = (2.31, 2.302) if self.images else (4.3, 3.03)
        self.random = random.Random(
            f"{settings['task']}{self.norm}{self.placement}{self.rate}{self.seed}"
        )
        self.failure = failure_of(self.norm, self.placement, self.rate)
        tag = f"{self.random.randrange(16**12):012x}"
        arm = f"{self.norm}-{self.placement}-lr{self.rate}-s{self.seed}"
        self.id = f"{settings['task']}-{arm}-{tag}"
        self.dir = out / "runs" / self.id

    def loss_at(self, step: int) -> float | None:
        off_rate = abs(math.log10(self.rate) + 2.8)
        floor = (0.42 if self.images else 2.05) + 4 * QUALITY[self.norm] + 0.35 * off_rate
        floor += 0.03 * (self.placement == "post") + 0.01 * self.random.gauss(0, 1)
        if self.failure == "non-finite" and step > 60:
            return None
        if self.failure == "stall":
            return self.plateau + 0.01 * self.random.random()
        if self.failure == "blow-up":
            return self.initial * (1 + 2 * step / STEPS)
        speed = 45 + 400 * QUALITY[self.norm]
        return floor + (self.initial - floor) * math.exp(-step / speed)

    def accuracy_of(self, loss: float | None) -> float | None:
        if loss is None:
            return None
        return max(0.05, min(0.99, 1.02 - 0.36 * loss if self.images else 1.1 - 0.3 * loss))

    def layers_event(self, step: int) -> dict:
        def gradient(layer: int) -> float:
            slope = {"pre": -0.12, "post": 0.22}.get(self.placement, 0.05) * layer
            return math.exp(slope - step / 200 + 0.1 * self.random.gauss(0, 1)) * (
                3.0 if self.norm == "none" else 0.5
            )

        def one_layer(layer: int) -> dict:
            total = gradient(layer)
            has_gamma = self.norm != "none"
            return {
                "qkv": total * 0.6,
                "out": total * 0.4,
                "fc1": total * 0.5,
                "fc2": total * 0.45,
                "gamma": total * 0.1 if has_gamma else None,
                "beta": total * 0.08 if has_gamma and self.norm != "rms" else None,
                "total": total,
            }

        growth = 0.5 if self.placement == "pre" or self.norm == "none" else 0.0
        rms = [(layer + 1) ** growth * (1 + step / STEPS) for layer in range(DEPTH)]
        return {
            "event": "layers",
            "step": step,
            "grad_norm": {
                "embedding": gradient(-1),
                "layers": [one_layer(layer) for layer in range(DEPTH)],
                "final_norm": gradient(DEPTH) * 0.05,
                "head": gradient(DEPTH),
            },
            "activation_rms": rms,
            "activation_max": [4 * value for value in rms],
            "branch_ratio": [0.4] * DEPTH,
        }

    def metrics(self) -> tuple[list[dict], list[dict]]:
        events, evals = [], []
        for step in range(STEPS + 1):
            loss = self.loss_at(step)
            if step > 0:
                norm = (
                    None if loss is None else 0.4 + 3 * loss * math.exp(self.random.gauss(0, 0.3))
                )
                events.append(
                    {
                        "event": "train",
                        "step": step,
                        "loss": loss,
                        "grad_norm": norm,
                        "clipped": False,
                        "learning_rate": self.rate * min(1, step / 30),
                    }
                )
            if step % 25 == 0 and step > 0 and loss is not None:
                events.append(self.layers_event(step))
            if step % 50 == 0:
                evals.append(
                    {
                        "event": "eval",
                        "step": step,
                        "loss": loss,
                        "accuracy": self.accuracy_of(loss),
                    }
                )
                events.append(evals[-1])
            if loss is None:
                break
        return events, evals

    def result(self, events: list[dict], evals: list[dict]) -> dict:
        norms = sorted(e["grad_norm"] for e in events if e["event"] == "train" and e["grad_norm"])
        losses = [e["loss"] for e in evals if e["loss"] is not None]

        def reached(event: dict) -> bool:
            if self.images:
                return (event["accuracy"] or 0) >= self.settings["target"]
            return event["loss"] is not None and event["loss"] <= self.settings["target"]

        return {
            "steps_done": max(e["step"] for e in events),
            "initial_loss": losses[0],
            "final_loss": None if self.failure == "non-finite" else losses[-1],
            "best_loss": min(losses),
            "final_accuracy": None if self.failure == "non-finite" else evals[-1]["accuracy"],
            "steps_to_target": next((e["step"] for e in evals if reached(e)), None),
            "max_grad_norm": norms[-1],
            "median_grad_norm": norms[len(norms) // 2],
            "clipped_share": 0.0,
            "failure": self.failure,
            "plateau": self.plateau,
        }

    def timing(self) -> dict:
        share = {"none": 0.0, "batch": 0.13, "layer": 0.09, "rms": 0.07}[self.norm]
        rest = 1 - share
        return {
            "ms_per_step": 11.0 / rest + 0.1 * self.random.random(),
            "tokens_per_second": 80000.0,
            "time_split": {
                "norm": share,
                "attention": 0.35 * rest,
                "ffn": 0.4 * rest,
                "optimizer": 0.1 * rest,
                "other": 0.15 * rest,
            },
            "eval_seconds": [0.1] * 6,
            "seconds_to_target": 1.5,
        }

    def write(self) -> str:
        self.dir.mkdir(parents=True)
        events, evals = self.metrics()
        lines = "".join(json.dumps(event) + "\n" for event in events)
        (self.dir / "metrics.jsonl").write_text(lines)
        for name, content in (
            ("config", self.settings),
            ("timing", self.timing()),
            ("result", self.result(events, evals)),
        ):
            (self.dir / f"{name}.json").write_text(json.dumps(content))
        return self.id


def numerics() -> dict:
    """A numerics.json in which every algorithm but one fails somewhere."""

    def points(low: int, high: int, error: Curve, nan: Test, zero: Test) -> list[dict]:
        result = []
        for half in range(2 * low, 2 * high + 1):
            at = 10.0 ** (half / 2)
            broken = nan(at) or zero(at)
            result.append(
                {
                    "at": at,
                    "ulp": None if broken else error(at),
                    "nan_rows": 4 if nan(at) else 0,
                    "zero_rows": 4 if zero(at) else 0,
                }
            )
        return result

    never = lambda at: False  # noqa: E731
    huge = lambda at: at >= 1e19  # noqa: E731
    tiny = lambda at: at <= 1e-20  # noqa: E731
    offset = [
        ("one-pass", lambda at: 2 + at * at, lambda at: at > 3e3, never),
        ("two-pass", lambda at: 1.5 + at / 3, never, never),
        ("pytorch", lambda at: 1.2 + at / 2, never, never),
        ("equinorm", lambda at: 1.1, never, never),
    ]
    scale = [
        ("one-pass", lambda at: 3.0, tiny, huge),
        ("two-pass", lambda at: 2.5, tiny, huge),
        ("pytorch", lambda at: 1.8, tiny, huge),
        ("equinorm", lambda at: 1.2, never, never),
    ]

    def sweep(
        name: str, operation: str, axis: str, eps: float, low: int, high: int, rows: list
    ) -> dict:
        return {
            "name": name,
            "operation": operation,
            "axis": axis,
            "eps": eps,
            "series": [
                {"algorithm": label, "points": points(low, high, *functions)}
                for label, *functions in rows
            ],
        }

    return {
        "columns": 768,
        "rows": 4,
        "bound_ulp": 2,
        "sweeps": [
            sweep("layer-norm-offset", "LayerNorm", "offset / spread", 1e-5, -1, 7, offset),
            sweep("layer-norm-scale", "LayerNorm", "scale", 0, -38, 38, scale),
            sweep("rms-norm-scale", "RMSNorm", "scale", 0, -38, 38, scale),
        ],
    }


def arm_name(norm: str, placement: str) -> str:
    if norm != "none":
        return f"{norm}-{placement}"
    return "none" if placement == "pre" else placement


def write_comparison(
    out: Path,
    tasks: tuple[str, ...] = ("fashion-mnist", "text"),
    source: str = "",
    seeds: list[int] | None = None,
    arms: list[tuple[str, str]] | None = None,
    rates: list[float] | None = None,
) -> Path:
    """Fills `out` as `equinorm compare --out` would and returns it."""
    seeds = SEEDS if seeds is None else seeds
    arms = ARMS if arms is None else arms
    rates = RATES if rates is None else rates
    ids = []
    for task in tasks:
        for norm, placement in arms:
            for rate in rates:
                for seed in seeds:
                    given = source if task in ("text", "idx") else ""
                    ids.append(
                        RunWriter(out, config(task, norm, placement, rate, seed, given)).write()
                    )
    request = {
        "command": "equinorm compare --task fashion-mnist --norms none,batch,layer,rms --seeds 3",
        "tasks": list(tasks),
        "arms": [
            {"name": arm_name(norm, placement), "norm": norm, "placement": placement}
            for norm, placement in arms
        ],
        "learning_rates": rates,
        "seeds": seeds,
        "settings": [config(t, "layer", "pre", rates[0], seeds[0], "") for t in tasks],
        "baseline": "layer-pre",
        "runs": ids,
        "environment": {
            "machine.cpu": "Made-up CPU <2 cores>",
            "isa.chosen": "avx3",
            "version": "0.1.0",
        },
    }
    (out / "compare.json").write_text(json.dumps(request))
    (out / "numerics.json").write_text(json.dumps(numerics()))
    return out
