"""Labels that travel inside token ids through LLaMA-Factory's own preprocessing.

Templates, truncation, history masking and packing treat token ids as opaque integers: they cut, reorder and join lists. So an id carries
its labels in its upper bits until LLaMA-Factory is done; whatever happens to a token happens to its labels too.

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
from ..text import InputError, shown
from .given import GivenResponse, GivenRow


KIND_BITS = {kind: 1 << place for place, kind in enumerate(KINDS)}
KIND_SHIFT = 24
PASSAGE_SHIFT = KIND_SHIFT + len(KINDS)
TOKEN_MASK, KIND_MASK = (1 << KIND_SHIFT) - 1, (1 << len(KINDS)) - 1
# Of a set of kinds the number in `KINDS`, from 1, of the last one, which is the narrowest; 0: none.
NARROWEST = np.array([kinds.bit_length() for kinds in range(KIND_MASK + 1)], dtype=np.int8)


@dataclass(frozen=True)
class LabelRules:
    """What decides a data set's labels besides the text; a change of it makes cached and saved labels invalid."""

    kinds: tuple[str, ...]
    aliases: tuple[str, ...] = ()
    think_weight: float = 1.0  # what reasoning is weighed with
    label_version: str = str(LABEL_VERSION)
    language: str = "cuda"
    language_digest: str = field(default="", init=False)  # of the file with a function of the user's own

    def __post_init__(self) -> None:
        if is_function_name(self.language):
            object.__setattr__(self, "language_digest", function_digest(self.language, "cuset_language"))

    def find_spans(self, text: str, kinds: tuple[str, ...] | None = None) -> list[Span]:
        """The spans of a response; kinds: others than the rules'."""
        return find_spans(text, self.kinds if kinds is None else kinds, aliases=self.aliases, language=self.language)


class PassageTable(NamedTuple):
    """What the numbers of passages stand for; entry 0 is a token that LLaMA-Factory added itself."""

    turns: np.ndarray  # [passages], the turn of each: the number of its first passage
    weights: np.ndarray  # [passages]


class Passages:
    """The passages of a preprocessing batch, while it is encoded. A turn's first one has the weight of the response as a whole."""

    def __init__(self) -> None:
        self.turns, self.weights = [0], [1.0]

    def table(self) -> PassageTable:
        return PassageTable(np.array(self.turns), np.array(self.weights))

    def add(self, weight: float, turn: int | None = None) -> int:
        """The number of a new passage, of a turn that has begun or else of a new one."""
        number = len(self.turns)
        self.turns.append(number if turn is None else turn)
        self.weights.append(weight)
        return number


@dataclass
class Response:
    """An assistant message on its way through the template: its turn, its text in the data, and what the data say of it."""

    turn: int
    text: str
    given: GivenResponse

    @property
    def bits(self) -> int:
        """The turn's first passage, as the bits of its tokens' ids."""
        return self.turn << PASSAGE_SHIFT


class ResponseText(str):
    """A string that the template encodes, with an assistant message as it shows it at [start, end)."""

    def __new__(cls, text: str, response: Response, start: int, end: int) -> "ResponseText":
        made = super().__new__(cls, text)
        made.response, made.start, made.end = response, start, end
        return made


class ResponseFormatter:
    """A template's formatter of assistant messages that tells which response its text is. responses: shared, in their order."""

    def __init__(self, formatter: Any, responses: Iterator[Response]) -> None:
        self._formatter, self._responses = formatter, responses

    def __getattr__(self, name: str) -> Any:
        return getattr(self._formatter, name)

    def apply(self, **content: Any) -> list[Any]:
        response = next(self._responses)
        elements = []
        for slot, element in zip(self._formatter.slots, self._formatter.apply(**content), strict=True):
            if isinstance(slot, str) and "{{content}}" in slot:
                before, after = slot.split("{{content}}", 1)
                element = ResponseText(element, response, len(before), len(element) - len(after))
            elements.append(element)
        return elements


class LabellingTokenizer:
    """A tokenizer whose `encode` sets the kinds and the passage on the ids of an assistant message's text."""

    def __init__(self, tokenizer: Any, rules: LabelRules, passages: Passages, thought_words: Sequence[str]) -> None:
        self._tokenizer, self._rules, self._passages, self._thought_words = tokenizer, rules, passages, thought_words
        self._aligner = TokenAligner(tokenizer)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tokenizer, name)

    def encode(self, text: str, add_special_tokens: bool = False, **options: Any) -> list[int]:
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
        # Of two weights that share a token the first stays.
        for (_, _, weight), found in reversed(list(zip(weighted, ranges[len(kinds) :], strict=True))):
            passage = self._passages.add(response.given.weight * weight, response.turn)
            for first, end in found:
                labels[first:end] = passage << PASSAGE_SHIFT
        for kind, found in zip(kinds, ranges[: len(kinds)], strict=True):
            for first, end in found:
                labels[first:end] |= KIND_BITS[kind] << KIND_SHIFT
        return (labels | ids).tolist()

    def convert_tokens_to_ids(self, tokens: str | list[str]) -> int | list[int]:
        ids = self._tokenizer.convert_tokens_to_ids(tokens)
        if ids is None:  # LLaMA-Factory would put it among the ids
            raise ValueError(
                f"the tokenizer has no token {tokens!r}, which the chat template needs: `template` and `model_name_or_path` do not "
                "belong together."
            )
        return ids

    def _labels(self, response: Response, text: str) -> tuple[list[Span], list[tuple[int, int, float]]]:
        """The CUDA spans of a response as the template shows it, and (start, end, weight) of what weighs otherwise than the rest."""
        rules = self._rules
        spans = rules.find_spans(text)
        layers = []
        if response.given.spans:
            kept = kept_ranges(response.text, text, self._thought_words)
            for given in response.given.spans:
                pieces = moved_range(given.start, given.end, kept)
                if given.kind in rules.kinds:
                    spans += [Span(start, end, given.kind) for start, end in pieces]
                if given.weight is not None:
                    layers += [(start, end, given.weight) for start, end in pieces]
        if rules.think_weight != 1.0:
            layers += [(start, end, rules.think_weight) for start, end in read_answer(text).reasoning]
        return sorted(spans), multiplied(layers)


class LabellingTemplate:
    """A chat template whose `encode_multiturn` returns ids that carry their labels.

    rows: of each row that will be encoded, in order, its responses as they stand in the data and what is given of them. passages: gets
    the passages.
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
        if self._tokenizer is None:
            words = self._template.thought_words
            self._tokenizer = LabellingTokenizer(tokenizer, self._rules, self._passages, words)
        texts, row = next(self._rows)
        responses = []
        for text, given in zip(texts, row.responses or [GivenResponse()] * len(texts), strict=True):
            given = given._replace(weight=row.weight * given.weight)
            responses.append(Response(self._passages.add(given.weight), text, given))

        template, shared = copy.copy(self._template), iter(responses)
        template.format_assistant = ResponseFormatter(template.format_assistant, shared)
        template.format_function = ResponseFormatter(template.format_function, shared)
        tagged = []
        pairs = template.encode_multiturn(self._tokenizer, messages, *args, **kwargs)
        for response, (source_ids, target_ids) in zip(responses, pairs, strict=True):
            prompt = self._passages.add(row.weight, response.turn) << PASSAGE_SHIFT
            lead = []
            if self._rules.think_weight != 1.0:
                # An empty thought that the template has put in front of a response is reasoning, too.
                thought = self._template.get_thought_word_ids(tokenizer)
                if target_ids[: len(thought)] == thought:
                    passage = self._passages.add(response.given.weight * self._rules.think_weight, response.turn)
                    lead = [i | passage << PASSAGE_SHIFT for i in thought]
            rest = [i if i >> PASSAGE_SHIFT else i | response.bits for i in target_ids[len(lead) :]]
            tagged.append(([i | prompt for i in source_ids], lead + rest))
        return tagged


def kept_ranges(text: str, encoded: str, thought_words: Sequence[str]) -> list[tuple[int, int]]:
    """The ranges of a response that make up the text which the template encodes: all of it, or what is left without its thoughts.

    Raises:
        InputError: the template shows another text, so that nobody knows where a span of the data is in it.
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
    """What is left of [start, end) of a text where only the ranges `kept` remain, in positions of the remaining text."""
    found, shift = [], 0
    for left, right in kept:
        if max(start, left) < min(end, right):
            found.append((max(start, left) - left + shift, min(end, right) - left + shift))
        shift += right - left
    return found


def multiplied(layers: Sequence[tuple[int, int, float]]) -> list[tuple[int, int, float]]:
    """Ranges that do not overlap, sorted, from ranges that do: where several cover a character, the product of their weights."""
    edges = np.array(sorted({edge for start, end, _ in layers for edge in (start, end)}))
    product, is_covered = np.ones(len(edges)), np.zeros(len(edges), dtype=bool)  # from each edge to the next
    for start, end, weight in layers:
        first, last = np.searchsorted(edges, (start, end))
        product[first:last] *= weight
        is_covered[first:last] = True
    return [(int(edges[at]), int(edges[at + 1]), float(product[at])) for at in np.flatnonzero(is_covered)]


def unpack_labels(
    tagged_ids: list[int], tagged_labels: list[int], passages: PassageTable
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Separate one row's ids and labels from the labels they carry.

    Args:
        tagged_ids: [length] ids as LLaMA-Factory returns them; ids it added itself (padding, image tokens) carry nothing.
        tagged_labels: [length] labels, -100 where not supervised.
        passages: what the ids refer to.

    Returns:
        input_ids [length] int32 and labels [length] int64, the types in which `datasets` keeps LLaMA-Factory's lists; cuda_mask
        [length] int8, the number of the token's narrowest kind, 0 outside CUDA spans; sample_ids [length] int32: 0 where a token is not
        supervised, else the number of its sample, counted from 1 within the row; token_weights [length] float32, 1 where a token is
        not supervised.
    """
    ids, labels = np.array(tagged_ids, dtype=np.int64), np.array(tagged_labels, dtype=np.int64)
    supervised = np.flatnonzero(labels != IGNORE_INDEX)
    marked = labels[supervised]
    passage = marked >> PASSAGE_SHIFT
    # Templates with an efficient end-of-sequence token add it themselves, behind the turn it ends: at the head of the next turn or at
    # the very end. It belongs to the turn of the token before it, as a part of the response as a whole.
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
    """The `KIND_BITS` of each id, [length] int64."""
    return tagged_ids >> KIND_SHIFT & KIND_MASK
