"""`--weights`: what a run learned, read by safetensors."""

from __future__ import annotations

from pathlib import Path

import torch
from compare_command import TINY, run, write_text
from safetensors.torch import load_file


def test_weights_are_a_dict_of_tensors_and_change_nothing_else(tmp_path: Path) -> None:
    text = write_text(tmp_path / "text.txt")
    for out in ("with", "without"):
        options = ["--weights"] if out == "with" else []
        done = run(*TINY, "--text", text, "--out", tmp_path / out, "--quiet", *options)
        assert done.returncode == 0, done.stderr
    files = sorted((tmp_path / "with" / "runs").glob("*/weights.safetensors"))
    assert len(files) == 4  # two norms, two seeds
    assert not list((tmp_path / "without").rglob("weights.safetensors"))
    for file in files:
        weights = load_file(file)
        assert all(value.isfinite().all() for value in weights.values())
        gains = [value for name, value in weights.items() if name.endswith(".gamma")]
        assert len(gains) == 3  # two of the layer and the final one
        assert not any(torch.equal(gain, torch.ones(16)) for gain in gains)
        has_bias = any(name.endswith(".beta") for name in weights)
        assert has_bias == ("-layer-" in file.parent.name)
        metrics = Path(str(file.parent).replace("/with/", "/without/")) / "metrics.jsonl"
        assert (file.parent / "metrics.jsonl").read_bytes() == metrics.read_bytes()
