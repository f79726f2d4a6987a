"""Carry labels inside token ids through LLaMA-Factory's own preprocessing.

Templates, truncation, history masking and packing treat token ids as opaque integers: they cut, reorder and join
lists. So an id carries its labels in its upper bits until LLaMA-Factory is done. Whatever happens to a token then
happens to its labels too.

    bits 0-23   the token id
    bits 24-34  the kinds of the CUDA spans of an assistant message that the token overlaps, `KIND_BITS`
    bits 35-    its passage, a stretch of one turn with one weight: a number in `Passages`
"""

import copy
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from llamafactory.extras.constants import IGNORE_INDEX

from ..answers import read_answer
from ..named_functions import function_digest, is_function_name
from ..spans import KINDS, LABEL_VERSION, Span, find_spans
from ..spans.tokenizers import TokenAligner
from ..text import InputError, one_line, shown
from .given import GivenResponse, GivenRow
from .pretrained import check_reads


KIND_BITS = {kind: 1 << place for place, kind in enumerate(KINDS)}
KIND_SHIFT = 24
PASSAGE_SHIFT = KIND_SHIFT + len(KINDS)
TOKEN_MASK, KIND_MASK = (1 << KIND_SHIFT) - 1, (1 << len(KINDS)) - 1
# Maps a set of `KIND_BITS` to the number of its narrowest kind: the last one in `KINDS`, counted from 1. 0 means none.
NARROWEST = np.array([kinds.bit_length() for kinds in range(KIND_MASK + 1)], dtype=np.int8)


@dataclass(frozen=True)
class LabelRules:
    """Everything that decides a data set's labels besides the text.

    A change of any of these invalidates cached and saved labels.

    Attributes:
        kinds: kinds of span that count as CUDA.
        aliases: macros that stand for `__global__`.
        think_weight: weight of reasoning in the loss.
        label_version: version of the rules in `spans`.
        language: language of the kernels, as in `find_spans`.
        language_digest: digest of the file that defines the user's own span function. Empty without one.
    """

    kinds: tuple[str, ...]
    aliases: tuple[str, ...] = ()
    think_weight: float = 1.0
    label_version: str = str(LABEL_VERSION)
    language: str = "cuda"
    language_digest: str = field(default="", init=False)

    def __post_init__(self) -> None:
        if is_function_name(self.language):
            object.__setattr__(self, "language_digest", function_digest(self.language, "cuset_language"))

    def find_spans(self, text: str, kinds: tuple[str, ...] | None = None) -> list[Span]:
        """Return the spans of a response.

        Args:
            text: the response.
            kinds: kinds to look for. None means the kinds of the rules.
        """
        return find_spans(text, self.kinds if kinds is None else kinds, aliases=self.aliases, language=self.language)


class PassageTable(NamedTuple):
    """The meaning of passage numbers. Entry 0 stands for tokens that LLaMA-Factory added itself.

    Attributes:
        turns: [passages], the turn of each passage, as the number of the turn's first passage.
        weights: [passages], the weight of each passage.
    """

    turns: np.ndarray
    weights: np.ndarray


class Passages:
    """Collects the passages of a preprocessing batch while it is encoded.

    The first passage of a turn has the weight of the response as a whole.
    """

    def __init__(self) -> None:
        self.turns, self.weights = [0], [1.0]

    def table(self) -> PassageTable:
        """Return the passages collected so far as arrays."""
        return PassageTable(np.array(self.turns), np.array(self.weights))

    def add(self, weight: float, turn: int | None = None) -> int:
        """Add a passage and return its number.

        Args:
            weight: weight of its tokens.
            turn: the turn it belongs to. None begins a new turn.
        """
        number = len(self.turns)
        self.turns.append(number if turn is None else turn)
        self.weights.append(weight)
        return number


@dataclass
class Response:
    """An assistant message on its way through the template.

    Attributes:
        turn: number of the turn.
        text: its text as it stands in the data.
        given: the weight and spans that the data give for it.
    """

    turn: int
    text: str
    given: GivenResponse

    @property
    def bits(self) -> int:
        """The turn's first passage, as bits to set on the ids of its tokens."""
        return self.turn << PASSAGE_SHIFT


class ResponseText(str):
    """A string for the template to encode, which contains an assistant message at [start, end).

    The message is here as the template shows it.
    """

    def __new__(cls, text: str, response: Response, start: int, end: int) -> "ResponseText":
        made = super().__new__(cls, text)
        made.response, made.start, made.end = response, start, end
        return made


class ResponseFormatter:
    """A template's formatter of assistant messages that marks which response its text belongs to.

    Args:
        formatter: the template's formatter.
        responses: iterator over the responses in order. Several formatters may share it.
    """

    def __init__(self, formatter: Any, responses: Iterator[Response]) -> None:
        self._formatter, self._responses = formatter, responses

    def __getattr__(self, name: str) -> Any:
        return getattr(self._formatter, name)

    def apply(self, **content: Any) -> list[Any]:
        """Format a message, and return the element with its text as a `ResponseText`."""
        response = next(self._responses)
        elements = []
        for slot, element in zip(self._formatter.slots, self._formatter.apply(**content), strict=True):
            if isinstance(slot, str) and "{{content}}" in slot:
                before, after = slot.split("{{content}}", 1)
                element = ResponseText(element, response, len(before), len(element) - len(after))
            elements.append(element)
        return elements


class LabellingTokenizer:
    """A tokenizer whose `encode` sets kinds and passage on the ids of an assistant message's text.

    Args:
        tokenizer: the Hugging Face tokenizer.
        rules: decide the labels.
        passages: receives the passages.
        thought_words: the template's opening and closing marks of reasoning.

    Raises:
        SettingsError: the tokenizer has no vocabulary.
    """

    def __init__(self, tokenizer: Any, rules: LabelRules, passages: Passages, thought_words: Sequence[str]) -> None:
        check_reads(tokenizer)
        self._tokenizer, self._rules, self._passages, self._thought_words = tokenizer, rules, passages, thought_words
        self._aligner = TokenAligner(tokenizer)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tokenizer, name)

    def encode(self, text: str, add_special_tokens: bool = False, **options: Any) -> list[int]:
        """Encode a text. Ids of a `ResponseText` carry its labels."""
        if not isinstance(text, ResponseText):
            return self._tokenizer.encode(text, add_special_tokens=add_special_tokens, **options)

        response, plain = text.response, str(text)
        spans, weighted = self._labels(response, plain[text.start : text.end])
        if not spans and not weighted:
            ids = self._tokenizer.encode(plain, add_special_tokens=add_special_tokens, **options)
            return [token | response.bits for token in ids]

        shift = text.start
        kinds = [kind for kind in KINDS if any(span.kind == kind for span in spans)]
        groups = [[Span(a + shift, b + shift, kind) for a, b, of in spans if of == kind] for kind in kinds]
        groups += [[Span(start + shift, end + shift, "")] for start, end, _ in weighted]
        ids, *ranges = self._aligner.locate(plain, *groups)
        labels = np.full(len(ids), response.bits)
        # Where two ranges share a token, the first one's weight counts. So later ranges are written first.
        for (_, _, weight), token_ranges in reversed(list(zip(weighted, ranges[len(kinds) :], strict=True))):
            passage = self._passages.add(response.given.weight * weight, response.turn)
            for first, end in token_ranges:
                labels[first:end] = passage << PASSAGE_SHIFT
        for kind, token_ranges in zip(kinds, ranges[: len(kinds)], strict=True):
            for first, end in token_ranges:
                labels[first:end] |= KIND_BITS[kind] << KIND_SHIFT
        return (labels | ids).tolist()

    def convert_tokens_to_ids(self, tokens: str | list[str]) -> int | list[int]:
        """Convert tokens to ids as the tokenizer does, but raise ValueError for a missing token."""
        ids = self._tokenizer.convert_tokens_to_ids(tokens)
        if ids is None:  # LLaMA-Factory would put None into the list of ids
            raise ValueError(
                f"the tokenizer has no token {tokens!r}, which the chat template needs: `template` and `model_name_or_path` do not "
                "belong together."
            )
        return ids

    def _labels(self, response: Response, text: str) -> tuple[list[Span], list[tuple[int, int, float]]]:
        """Return the CUDA spans and the weighted ranges of a response.

        Args:
            response: the response as the data give it.
            text: its text as the template shows it.

        Returns:
            The spans in `text`, and (start, end, weight) of each range whose weight differs from the rest.
        """
        rules = self._rules
        spans = rules.find_spans(text)
        layers = []
        if response.given.spans:
            kept = kept_ranges(response.text, text, self._thought_words)
            for given_span in response.given.spans:
                pieces = moved_range(given_span.start, given_span.end, kept)
                if given_span.kind in rules.kinds:
                    spans += [Span(start, end, given_span.kind) for start, end in pieces]
                if given_span.weight is not None:
                    layers += [(start, end, given_span.weight) for start, end in pieces]
        if rules.think_weight != 1.0:
            layers += [(start, end, rules.think_weight) for start, end in read_answer(text).reasoning]
        return sorted(spans), multiplied(layers)


class LabellingTemplate:
    """A chat template whose `encode_multiturn` returns ids that carry their labels.

    Args:
        template: LLaMA-Factory's template.
        rules: decide the labels.
        rows: for each row that will be encoded, in order, its responses as they stand in the data and what the data
            give for them.
        passages: receives the passages.
    """

    def __init__(
        self, template: Any, rules: LabelRules, rows: Iterator[tuple[list[str], GivenRow]], passages: Passages
    ) -> None:
        self._template, self._rules, self._rows, self._passages = template, rules, rows, passages
        self._tokenizer: LabellingTokenizer | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._template, name)

    def encode_multiturn(
        self, tokenizer: Any, messages: list[dict[str, str]], *args: Any, **kwargs: Any
    ) -> list[tuple[list[int], list[int]]]:
        """Return (prompt ids, response ids) of each turn. The ids carry their labels."""
        if self._tokenizer is None:
            words = self._template.thought_words
            self._tokenizer = LabellingTokenizer(tokenizer, self._rules, self._passages, words)
        texts, row = next(self._rows)
        responses = []
        for text, given_response in zip(texts, row.responses or [GivenResponse()] * len(texts), strict=True):
            given_response = given_response._replace(weight=row.weight * given_response.weight)
            responses.append(Response(self._passages.add(given_response.weight), text, given_response))

        template, shared = copy.copy(self._template), iter(responses)
        template.format_assistant = ResponseFormatter(template.format_assistant, shared)
        template.format_function = ResponseFormatter(template.format_function, shared)
        tagged = []
        try:
            pairs = template.encode_multiturn(self._tokenizer, messages, *args, **kwargs)
        except InputError:
            raise
        except (RuntimeError, ValueError, KeyError, TypeError, AttributeError) as error:
            # LLaMA-Factory checks little before.
            raise InputError(
                f"the row whose prompt is {shown(messages[0]['content'], 80)} cannot be encoded ({type(error).__name__}: {one_line(error)}); "
                'expected tools as text, a JSON list of objects with a "name", tool calls as JSON with "name" and "arguments", else text.'
            ) from error
        for response, (source_ids, target_ids) in zip(responses, pairs, strict=True):
            prompt = self._passages.add(row.weight, response.turn) << PASSAGE_SHIFT
            lead = []
            if self._rules.think_weight != 1.0:
                # The template may put an empty thought in front of a response. It counts as reasoning too.
                thought = self._template.get_thought_word_ids(tokenizer)
                if target_ids[: len(thought)] == thought:
                    passage = self._passages.add(response.given.weight * self._rules.think_weight, response.turn)
                    lead = [i | passage << PASSAGE_SHIFT for i in thought]
            rest = [i if i >> PASSAGE_SHIFT else i | response.bits for i in target_ids[len(lead) :]]
            tagged.append(([i | prompt for i in source_ids], lead + rest))
        return tagged


def kept_ranges(text: str, encoded: str, thought_words: Sequence[str]) -> list[tuple[int, int]]:
    """Return the ranges of a response that make up the text which the template encodes.

    This is the whole response, or what is left of it without its thoughts.

    Args:
        text: the response as it stands in the data.
        encoded: the text that the template encodes.
        thought_words: the template's opening and closing marks of reasoning.

    Raises:
        InputError: the template shows a different text, so the place of a span of the data in it is unknown.
    """
    if text == encoded:
        return [(0, len(text))]
    thoughts = re.finditer(f"{re.escape(thought_words[0])}.*?{re.escape(thought_words[1])}", text, re.DOTALL)
    edges = [0, *(edge for thought in thoughts for edge in thought.span()), len(text)]
    kept = [(start, end) for start, end in zip(edges[::2], edges[1::2], strict=True) if start < end]
    while kept and text[kept[0][0]] == "\n":  # LLaMA-Factory strips line ends at the beginning
        start, end = kept[0]
        kept[:1] = [(start + 1, end)] if start + 1 < end else []
    if "".join(text[start:end] for start, end in kept) != encoded:
        raise InputError(
            f"the chat template changes the response {shown(text)}, of which the data give spans, so that nobody can tell where they are. "
            "Give the text as the template shows it, or weigh the whole response."
        )
    return kept


def moved_range(start: int, end: int, kept: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Translate [start, end) of a text to positions in the text that is left of it.

    Args:
        start: start in the original text.
        end: end in the original text.
        kept: sorted ranges of the original text that remain.

    Returns:
        The remaining pieces of the range, as positions of the remaining text.
    """
    pieces, shift = [], 0
    for left, right in kept:
        if max(start, left) < min(end, right):
            pieces.append((max(start, left) - left + shift, min(end, right) - left + shift))
        shift += right - left
    return pieces


def multiplied(layers: Sequence[tuple[int, int, float]]) -> list[tuple[int, int, float]]:
    """Turn ranges that may overlap into sorted ranges that do not.

    Where several ranges cover a character, its weight is the product of their weights.

    Args:
        layers: (start, end, weight) in any order.
    """
    edges = np.array(sorted({edge for start, end, _ in layers for edge in (start, end)}))
    product, is_covered = np.ones(len(edges)), np.zeros(len(edges), dtype=bool)  # entry i: from edge i to edge i + 1
    for start, end, weight in layers:
        first, last = np.searchsorted(edges, (start, end))
        product[first:last] *= weight
        is_covered[first:last] = True
    return [(int(edges[at]), int(edges[at + 1]), float(product[at])) for at in np.flatnonzero(is_covered)]


def unpack_labels(
    tagged_ids: list[int], tagged_labels: list[int], passages: PassageTable
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Separate one row's token ids and labels from the labels that they carry.

    Args:
        tagged_ids: [length] ids as LLaMA-Factory returns them. Ids that it added itself (padding, image tokens) carry
            nothing.
        tagged_labels: [length] labels, -100 where not supervised.
        passages: the table that the ids refer to.

    Returns:
        A tuple of five arrays [length]. The types of the first two are those in which `datasets` keeps LLaMA-Factory's
        lists.

        - input_ids, int32.
        - labels, int64.
        - cuda_mask, int8: the number of the token's narrowest kind, 0 outside of CUDA spans.
        - sample_ids, int32: the number of the token's sample, counted from 1 within the row, 0 if not supervised.
        - token_weights, float32: the token's weight, 1 if not supervised.
    """
    ids, labels = np.array(tagged_ids, dtype=np.int64), np.array(tagged_labels, dtype=np.int64)
    supervised = np.flatnonzero(labels != IGNORE_INDEX)
    marked = labels[supervised]
    passage = marked >> PASSAGE_SHIFT
    # Templates with an efficient end-of-sequence token add it themselves behind the turn that it ends, at the head of
    # the next turn or at the very end. It belongs to the turn of the token before it, and has the weight of the
    # response as a whole.
    unmarked = np.flatnonzero(passage == 0)
    passage[unmarked] = passages.turns[ids[np.maximum(supervised[unmarked] - 1, 0)] >> PASSAGE_SHIFT]
    turns, weights = passages.turns[passage], passages.weights[passage]

    sample_ids, token_weights = np.zeros(len(ids), dtype=np.int32), np.ones(len(ids), dtype=np.float32)
    if turns.size:  # number the runs of equal turns
        sample_ids[supervised] = 1 + np.concatenate(([0], np.cumsum(turns[1:] != turns[:-1])))
    token_weights[supervised] = weights
    labels[supervised] = marked & TOKEN_MASK
    return (ids & TOKEN_MASK).astype(np.int32), labels, NARROWEST[kinds_of(ids)], sample_ids, token_weights


def kinds_of(tagged_ids: np.ndarray) -> np.ndarray:
    """Return the `KIND_BITS` of each id, [length] int64."""
    return tagged_ids >> KIND_SHIFT & KIND_MASK
