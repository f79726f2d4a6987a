"""Measure how much likelier a model finds the right response of a pair than the wrong one, in nats.

A causal model gives the tokens before the first difference the same probability in both responses. The difference over
the whole response is therefore the sum of two parts: the changed tokens, and the tokens that follow them. The two
parts are also given separately, because they show where the preference comes from.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .rows import Pair


IGNORE_INDEX = -100
Row = dict[str, list[int]]
Score = Callable[[Iterable[Row]], Iterator[NDArray[np.float32]]]
"""A function from rows with input_ids and labels to log p of each supervised token, as `analysis.token_probabilities` returns it."""


@dataclass(frozen=True)
class Difference:
    """log p(right) - log p(wrong) of one pair given the prompt, in nats.

    It is positive where the model prefers the right response.

    Attributes:
        whole: the difference over all tokens of the responses.
        changed: the difference over the tokens between the common beginning and the common end.
        following: the difference over the common end. Its tokens are the same, but come after different tokens.
        per_token: the difference of the means over the responses, instead of the sums.
        longer: how many tokens the wrong response is longer than the right one, negative where it is shorter.
    """

    whole: float
    changed: float
    following: float
    per_token: float
    longer: int

    @property
    def from_change(self) -> float:
        """The sum of `changed` and `following`, in nats.

        It equals `whole` except for rounding. In low precision, the probabilities of the common beginning may differ a
        little between the responses, because they depend on the other rows of the batch.
        """
        return self.changed + self.following


def encode(pair: Pair, response: str, template: Any, tokenizer: Any) -> Row:
    """Encode a pair's prompt and one response as training does, but without truncation.

    Returns:
        A row with `input_ids` and `labels`. Only the tokens of the response are supervised.
    """
    system = next((message["content"] for message in pair.messages if message["role"] == "system"), None)
    asked = [message for message in pair.messages if message["role"] != "system"]
    turns = [*asked, {"role": "assistant", "content": response}]
    ((prompt_ids, ids),) = template.encode_multiturn(tokenizer, turns, system)
    if template.efficient_eos:
        ids = [*ids, tokenizer.eos_token_id]
    return {"input_ids": [*prompt_ids, *ids], "labels": [IGNORE_INDEX] * len(prompt_ids) + list(ids)}


def differences(pairs: Sequence[Pair], template: Any, tokenizer: Any, score: Score) -> Iterator[Difference]:
    """Yield the difference of each pair, in order.

    Each response to a prompt is scored only once, even where it is part of several pairs. `score` computes the
    log-probabilities of the supervised tokens of rows.

    Raises:
        ValueError: for a pair whose two responses are the same tokens.
    """
    asked = {(repr(pair.messages), response): pair for pair in pairs for response in (pair.right, pair.wrong)}
    rows = {key: encode(pair, key[1], template, tokenizer) for key, pair in asked.items()}
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
    """Return the difference of two responses.

    Args:
        right_ids: tokens of the right response.
        wrong_ids: tokens of the wrong response.
        right: log-probabilities of the right response's tokens, [length].
        wrong: log-probabilities of the wrong response's tokens, [length].
    """
    begin, end = common_ends(right_ids, wrong_ids)
    r, w = right.astype(np.float64), wrong.astype(np.float64)
    return Difference(
        whole=float(r.sum() - w.sum()),
        changed=float(r[begin : len(r) - end].sum() - w[begin : len(w) - end].sum()),
        following=float(r[len(r) - end :].sum() - w[len(w) - end :].sum()),
        per_token=float(r.mean() - w.mean()),
        longer=len(w) - len(r),
    )


def common_ends(one: Sequence[Any], other: Sequence[Any]) -> tuple[int, int]:
    """Return the lengths of the common beginning and of the common end of two sequences. The two do not overlap."""
    most = min(len(one), len(other))
    begin = next((at for at in range(most) if one[at] != other[at]), most)
    rest = range(most - begin)
    return begin, next((at for at in rest if one[-1 - at] != other[-1 - at]), most - begin)
