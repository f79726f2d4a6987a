"""Dose and response: training answers with a share of their tokens made wrong, in the CUDA tokens or in the neutral ones.

CUDA tokens are corrupted by the edits of `cuset_stage.mutants` to bounds and indices; neutral tokens by comments that do not fit their place,
new or for the program's own: the program still computes what it did. Tokens are words and signs here, whatever the tokenizer.
"""

import random
import re

from ..mutants import in_code
from ..mutants.operators import bound_off_by_one, drop_boundary_check, other_dimension, wrong_index
from ..mutants.program import Program
from ..spans import find_spans
from .style import wording


_TOKEN = re.compile(r"\w+|[^\w\s]")
COMMENT = re.compile(r"//[^\n]*|/\*[^\n]*?\*/")


def count_tokens(text: str) -> tuple[int, int]:
    """(CUDA tokens, neutral tokens) of an answer."""
    cuda = sum(len(_TOKEN.findall(text[span.start : span.end])) for span in find_spans(text))
    return cuda, len(_TOKEN.findall(text)) - cuda


def corrupt_cuda(text: str, share: float, rng: random.Random) -> tuple[str, float]:
    """(the answer with wrong bounds and indices, the share of its CUDA tokens that changed).

    share: of the CUDA tokens; an answer has only so many places for such errors, so that what is reached may be less.
    """
    program, spans = Program(text), find_spans(text)
    makers = (bound_off_by_one, drop_boundary_check, wrong_index, other_dimension)
    edits = sorted({edit for make in makers for edit in make(program) if in_code(program, edit)})
    edits = [edit for edit in edits if any(span.start <= edit.start and edit.end <= span.end for span in spans)]
    rng.shuffle(edits)
    cuda, _ = count_tokens(text)
    taken, changed = [], 0
    for edit in edits:
        if changed >= share * cuda:
            break
        if all(edit.end <= other.start or other.end <= edit.start for other in taken):
            taken.append(edit)
            changed += max(1, len(_TOKEN.findall(text[edit.start : edit.end])), len(_TOKEN.findall(edit.replacement)))
    for edit in sorted(taken, reverse=True):
        text = text[: edit.start] + edit.replacement + text[edit.end :]
    return text, changed / cuda if cuda else 0.0


def corrupt_neutral(text: str, share: float, rng: random.Random) -> tuple[str, float]:
    """(the answer with noise of style outside its CUDA tokens, the share of its neutral tokens that the noise is).

    Comments are replaced by comments about something else, and such comments are put between lines until the share is reached.
    """
    _, neutral = count_tokens(text)
    pool = [line for lines in wording()["comments"].values() for line in lines]
    changed = 0
    spans = find_spans(text)

    def inside(position: int) -> bool:
        return any(span.start < position < span.end for span in spans)

    places = [(found.start(), found.end()) for found in COMMENT.finditer(text) if not inside(found.start())]
    fence = text.find("```cpp\n")
    lines = [
        found.end() for found in re.finditer(r"[;}]\n", text[:-4]) if found.end() > fence and not inside(found.end())
    ]
    places += [(line, line) for line in lines if text.find("\n```", line) > 0]
    rng.shuffle(places)
    edits: list[tuple[int, int, str]] = []
    while places and changed < share * neutral:
        start, end = places.pop()
        noise = f"// {rng.choice(pool)}" + (f", {rng.choice(pool)}" if rng.random() < 0.5 else "")
        edits.append((start, end, noise if end > start else f"{noise}\n"))
        changed += len(_TOKEN.findall(noise))
    for start, end, noise in sorted(edits, reverse=True):
        text = text[:start] + noise + text[end:]
    return text, changed / neutral if neutral else 0.0
