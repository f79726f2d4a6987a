"""What a model makes of pairs: how much likelier it finds the right response than the wrong one, in nats.

A causal model gives the tokens before the first difference the same probability in both, so that the difference over the whole response
is the one over the changed tokens and what follows them; apart, these say where the preference comes from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .rows import Pair


IGNORE_INDEX = -100
Row = dict[str, list[int]]
Score = Callable[[Iterable[Row]], Iterator[NDArray[np.float32]]]
"""Rows with input_ids and labels -> log p of each supervised token, as `analysis.token_probabilities` has it."""


@dataclass(frozen=True)
class Difference:
    """log p(right) - log p(wrong) of one pair given the prompt, in nats: positive where the model prefers the right response.

    whole: over all tokens of the responses. changed: over those between what both begin and what both end with. following: over what both
    end with, which comes after different tokens. per_token: of the means over the response instead of the sums.
    right_tokens, wrong_tokens: of the responses, the end of turn included.
    """

    whole: float
    changed: float
    following: float
    per_token: float
    right_tokens: int
    wrong_tokens: int

    @property
    def from_change(self) -> float:
        """changed and following together, in nats: `whole` but for what the common beginning differs by in arithmetic of few bits, which
        depends on what stands beside it in the batch."""
        return self.changed + self.following

    @property
    def longer(self) -> int:
        """Tokens that the wrong response has more."""
        return self.wrong_tokens - self.right_tokens


def encode(pair: Pair, response: str, template: Any, tokenizer: Any) -> Row:
    """A prompt and a response as training sees them, whole; the response's tokens are supervised."""
    system = next((message["content"] for message in pair.messages if message["role"] == "system"), None)
    asked = [message for message in pair.messages if message["role"] != "system"]
    turns = [*asked, {"role": "assistant", "content": response}]
    ((prompt_ids, ids),) = template.encode_multiturn(tokenizer, turns, system)
    if template.efficient_eos:
        ids = [*ids, tokenizer.eos_token_id]
    return {"input_ids": [*prompt_ids, *ids], "labels": [IGNORE_INDEX] * len(prompt_ids) + list(ids)}


def differences(pairs: Sequence[Pair], template: Any, tokenizer: Any, score: Score) -> Iterator[Difference]:
    """The difference of each pair, in order. Each response to a prompt is scored once.

    Raises:
        ValueError: a pair whose responses are the same tokens.
    """
    rows: dict[tuple[str, str], Row] = {}
    for pair in pairs:
        for response in (pair.right, pair.wrong):
            key = (repr(pair.messages), response)
            if key not in rows:
                rows[key] = encode(pair, response, template, tokenizer)
    scores = dict(zip(rows, score(rows.values()), strict=True))
    for pair in pairs:
        right, wrong = ((repr(pair.messages), response) for response in (pair.right, pair.wrong))
        ids = [[token for token in rows[key]["labels"] if token != IGNORE_INDEX] for key in (right, wrong)]
        if ids[0] == ids[1]:
            what = "right and wrong are the same tokens to this tokenizer"
            raise ValueError(f"task {pair.task}, kind {pair.kind}: {what}.")
        yield compare(*ids, scores[right], scores[wrong])


def compare(
    right_ids: Sequence[int], wrong_ids: Sequence[int], right: NDArray[np.float32], wrong: NDArray[np.float32]
) -> Difference:
    """The difference of two responses from the log-probabilities [length] of their tokens."""
    begin, end = common_ends(right_ids, wrong_ids)
    r, w = right.astype(np.float64), wrong.astype(np.float64)
    return Difference(
        whole=float(r.sum() - w.sum()),
        changed=float(r[begin : len(r) - end].sum() - w[begin : len(w) - end].sum()),
        following=float(r[len(r) - end :].sum() - w[len(w) - end :].sum()),
        per_token=float(r.mean() - w.mean()),
        right_tokens=len(r),
        wrong_tokens=len(w),
    )


def common_ends(one: Sequence[Any], other: Sequence[Any]) -> tuple[int, int]:
    """How many tokens two sequences begin with in common, and how many of the others they end with in common."""
    most = min(len(one), len(other))
    begin = next((at for at in range(most) if one[at] != other[at]), most)
    rest = range(most - begin)
    return begin, next((at for at in rest if one[-1 - at] != other[-1 - at]), most - begin)
