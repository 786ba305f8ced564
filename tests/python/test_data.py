"""`equinorm data`: what it says about the cache."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from conftest import Run


def test_damaged_data_is_listed_as_such_and_prepared_anew(equinorm: Run, tmp_path: Path) -> None:
    prepare = ("data", "prepare", "bible", "--cache", tmp_path)
    first = equinorm(*prepare)
    assert (first.returncode, first.stderr) == (0, "")
    text = tmp_path / "data" / "bible" / "text.txt"
    whole = text.read_bytes()

    text.write_bytes(whole[:-1])
    listing = equinorm("data", "list", "--cache", tmp_path)
    assert "damaged: text.txt has" in listing.stdout
    document = json.loads(equinorm("data", "list", "--json", "--cache", tmp_path).stdout)
    (bible,) = [entry for entry in document if entry["name"] == "bible"]
    assert bible["prepared"] is False
    assert "text.txt" in bible["damage"]

    text.write_bytes(whole[:-1] + b"x")
    again = equinorm(*prepare)
    assert again.returncode == 0
    assert "text.txt has another checksum" in again.stderr
    assert "prepared anew" in again.stderr
    assert again.stdout == first.stdout
    assert text.read_bytes() == whole
    assert hashlib.sha256(whole).hexdigest() in again.stdout
