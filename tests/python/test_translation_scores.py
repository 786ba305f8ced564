"""BLEU and chrF of translations beside sacrebleu's."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest
from lab_command import BINARY
from sacrebleu.metrics import BLEU, CHRF

PROGRAM = Path(
    os.environ.get(
        "EQUINORM_SCORES",
        str(Path(BINARY).parents[1] / "tests" / "lab" / "training" / "score_translations"),
    )
)

REFERENCES = [
    "EN el principio crió Dios los cielos y la tierra.",
    "Y dijo Dios: Sea la luz: y fué la luz.",
    "¿Quién es éste? “Yo soy”, respondió; 3.14 no es 1,000-2.",
    "A & B &quot;C&quot; <D> [e] don't -- (x)...",
    "Amén.",
]


def check(translations: list[str], references: list[str]) -> None:
    lines = "".join(f"{t}\t{r}\n" for t, r in zip(translations, references, strict=True))
    done = subprocess.run(
        [str(PROGRAM)], input=lines, capture_output=True, text=True, check=True, timeout=60
    )
    bleu, chrf = map(float, done.stdout.split())
    assert bleu == pytest.approx(BLEU().corpus_score(translations, [references]).score, abs=1e-9)
    assert chrf == pytest.approx(CHRF().corpus_score(translations, [references]).score, abs=1e-9)


def disturbed(text: str, source: random.Random) -> str:
    """The text with words dropped, doubled, swapped and letters changed."""
    words = text.split(" ")
    for _ in range(source.randrange(4)):
        at = source.randrange(len(words))
        match source.randrange(4):
            case 0:
                words[at] = ""
            case 1:
                words.insert(at, words[at])
            case 2:
                other = source.randrange(len(words))
                words[at], words[other] = words[other], words[at]
            case _:
                words[at] = words[at][::-1]
    return " ".join(words)


@pytest.mark.parametrize("seed", range(40))
def test_scores_agree_with_sacrebleu_on_disturbed_texts(seed: int) -> None:
    source = random.Random(seed)
    references = source.choices(REFERENCES, k=source.randrange(1, 6))
    check([disturbed(text, source) for text in references], references)


@pytest.mark.parametrize(
    ("translations", "references"),
    [
        (["a b d e"], ["a b c d e"]),  # orders without a match
        (["zz"], ["a b c d"]),  # nothing in common
        (["", "la luz"], ["la luz", "la luz del mundo"]),  # an empty translation
        (["la la la la la la la"], ["la luz"]),  # repetition
        (["corto"], ["x"]),  # a reference without higher orders
        (["Dios dijo.", "1.5,2-3"], ["Dios dijo .", "1.5, 2 - 3"]),
    ],
)
def test_scores_agree_with_sacrebleu_at_the_edges(
    translations: list[str], references: list[str]
) -> None:
    check(translations, references)
