"""Labels that travel inside token ids through LLaMA-Factory's own preprocessing.

Templates, truncation, history masking and packing treat token ids as opaque integers: they cut, reorder and join lists. So an id carries
its labels in its upper bits until LLaMA-Factory is done; whatever happens to a token happens to its labels too.

    bits 0-31   the token id
    bit  32     1 where the token overlaps a CUDA span of an assistant message
    bits 33-    the turn, counted from 1 over a preprocessing batch
"""

from typing import Any

import numpy as np

from ..spans import find_spans
from ..spans.spans import Span
from ..spans.tokenizers import TokenAligner


IGNORE_INDEX = -100
TOKEN_MASK = (1 << 32) - 1
CUDA_BIT = 1 << 32
TURN_SHIFT = 33


def _surroundings(template: Any) -> list[tuple[str, str]]:
    """What the template writes before and after an assistant message within one encoded string, longest first."""
    pairs = {("", "")}
    for formatter in (template.format_assistant, template.format_function):
        for slot in formatter.slots:
            if isinstance(slot, str) and "{{content}}" in slot:
                before, after = slot.split("{{content}}", 1)
                pairs.add((before, after))
    return sorted(pairs, key=lambda pair: -len(pair[0]) - len(pair[1]))


class LabellingTokenizer:
    """A tokenizer whose `encode` sets `CUDA_BIT` on the ids of tokens inside CUDA spans."""

    def __init__(
        self, tokenizer: Any, kinds: tuple[str, ...], aliases: tuple[str, ...], surroundings: list[tuple[str, str]]
    ) -> None:
        self._tokenizer = tokenizer
        self._aligner = TokenAligner(tokenizer)
        self._kinds = kinds
        self._aliases = aliases
        self._surroundings = surroundings

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tokenizer, name)

    def encode(self, text: str, add_special_tokens: bool = False, **options: Any) -> list[int]:
        spans = self._spans(text)
        if not spans:
            return self._tokenizer.encode(text, add_special_tokens=add_special_tokens, **options)

        ids, ranges = self._aligner.locate(text, spans)
        for first, end in ranges:
            ids[first:end] = [token | CUDA_BIT for token in ids[first:end]]
        return ids

    def convert_tokens_to_ids(self, tokens: str | list[str]) -> int | list[int]:
        ids = self._tokenizer.convert_tokens_to_ids(tokens)
        if ids is None:  # LLaMA-Factory would put it among the ids
            raise ValueError(
                f"the tokenizer has no token {tokens!r}, which the chat template needs: `template` and `model_name_or_path` do not "
                "belong together."
            )
        return ids

    def _spans(self, text: str) -> list[Span]:
        # The end-of-turn marker is no part of the answer: code that was cut off must not run on into it.
        before, after = next(
            pair for pair in self._surroundings if text.startswith(pair[0]) and text.endswith(pair[1])
        )
        answer = text[len(before) : len(text) - len(after)]
        shift = len(before)
        spans = find_spans(answer, self._kinds, aliases=self._aliases)
        return [Span(span.start + shift, span.end + shift, span.kind) for span in spans] if shift else spans


class LabellingTemplate:
    """A chat template whose `encode_multiturn` returns ids that carry the turn and the CUDA labels."""

    def __init__(self, template: Any, kinds: tuple[str, ...], aliases: tuple[str, ...]) -> None:
        self._template = template
        self._labels = (kinds, aliases, _surroundings(template))
        self._tokenizer: LabellingTokenizer | None = None
        self._turn = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._template, name)

    def encode_multiturn(self, tokenizer: Any, *args: Any, **kwargs: Any) -> list[tuple[list[int], list[int]]]:
        if self._tokenizer is None:
            self._tokenizer = LabellingTokenizer(tokenizer, *self._labels)
        tagged = []
        for source_ids, target_ids in self._template.encode_multiturn(self._tokenizer, *args, **kwargs):
            self._turn += 1
            turn = self._turn << TURN_SHIFT
            # CUDA labels belong to the response: those of a prompt that quotes a kernel are dropped.
            tagged.append(([(i & TOKEN_MASK) | turn for i in source_ids], [i | turn for i in target_ids]))
        return tagged


def unpack_labels(
    tagged_ids: list[int], tagged_labels: list[int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Separate one row's ids and labels from the labels they carry.

    Args:
        tagged_ids: [length] ids as LLaMA-Factory returns them; ids it added itself (padding, image tokens) carry nothing.
        tagged_labels: [length] labels, -100 where not supervised.

    Returns:
        input_ids [length] int32 and labels [length] int64, the types in which `datasets` keeps LLaMA-Factory's lists; cuda_mask
        [length] int8; sample_ids [length] int32: 0 where a token is not supervised, else the number of its sample, counted from
        1 within the row.
    """
    ids, labels = np.array(tagged_ids, dtype=np.int64), np.array(tagged_labels, dtype=np.int64)
    supervised = np.flatnonzero(labels != IGNORE_INDEX)
    marked = labels[supervised]
    turns = marked >> TURN_SHIFT
    unmarked = np.flatnonzero(turns == 0)
    if unmarked.size:
        # Templates with an efficient end-of-sequence token add it themselves, behind the turn it ends: at the head of the next turn
        # or at the very end. It belongs to the turn of the token before it.
        turns[unmarked] = ids[np.maximum(supervised[unmarked] - 1, 0)] >> TURN_SHIFT

    sample_ids = np.zeros(len(ids), dtype=np.int32)
    if turns.size:  # number the runs of equal turns
        sample_ids[supervised] = 1 + np.concatenate(([0], np.cumsum(turns[1:] != turns[:-1])))
    labels[supervised] = marked & TOKEN_MASK
    cuda_mask = ((ids & CUDA_BIT) != 0).astype(np.int8)
    return (ids & TOKEN_MASK).astype(np.int32), labels, cuda_mask, sample_ids
