"""From CUDA spans to tokens, for every sort of tokenizer. Offsets that a tokenizer reports wrongly are found out."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from llamafactory.data.template import TEMPLATES

from cuset_stage.answers import read_answer
from cuset_stage.spans import KINDS as ALL_KINDS
from cuset_stage.spans import Span, find_spans, tokenizers
from cuset_stage.spans.tokenizers import AlignmentError, TokenAligner
from cuset_stage.stage.given import GivenResponse
from cuset_stage.stage.token_labels import (
    NARROWEST,
    TOKEN_MASK,
    LabellingTokenizer,
    LabelRules,
    Passages,
    Response,
    ResponseText,
    kinds_of,
)

from .conftest import ANSWER, SPANS


KINDS = ("kernel_body", "launch_config")


@pytest.fixture(params=["byte_level", "sentencepiece_type", "slow"])
def tokenizer(request):
    return request.getfixturevalue(request.param)


def aligned(aligner, text, spans):
    """Return the token ids of a text, and a mask with 1 for each token that overlaps a span."""
    ids, ranges = aligner.locate(text, spans)
    return ids, [int(any(first <= index < end for first, end in ranges)) for index in range(len(ids))]


def labelled(tokenizer, content, after="", kinds=KINDS):
    """Return the token ids of a response and of what the template writes after it, and the number of each token's
    narrowest kind, 0 outside of CUDA spans.
    """
    text = ResponseText(content + after, Response(1, content, GivenResponse()), 0, len(content))
    ids = LabellingTokenizer(tokenizer, LabelRules(kinds), Passages(), ("", "")).encode(text, add_special_tokens=False)
    return [i & TOKEN_MASK for i in ids], NARROWEST[kinds_of(np.array(ids))].tolist()


def marked_runs(ids, mask):
    """Return the runs of consecutive marked tokens."""
    runs = itertools.groupby(zip(ids, mask, strict=True), key=lambda token: token[1])
    return [[token for token, _ in run] for is_cuda, run in runs if is_cuda]


def without_space(text):
    return "".join(text.split())


def test_marked_tokens_are_those_that_touch_a_span(tokenizer):
    """Each run of marked tokens spells its span, and would not without its first or its last token."""
    ids, mask = labelled(tokenizer, ANSWER)
    assert ids == tokenizer.encode(ANSWER, add_special_tokens=False)
    runs = marked_runs(ids, mask)
    assert len(runs) == len(SPANS)
    for run, span in zip(runs, SPANS, strict=True):
        span = without_space(span)
        assert span in without_space(tokenizer.decode(run))
        assert span not in without_space(tokenizer.decode(run[1:]))
        assert span not in without_space(tokenizer.decode(run[:-1]))


def test_spelled_out_tokens_agree_with_a_fast_tokenizer_s_offsets(byte_level, sentencepiece_type, texts):
    """The fallback for slow tokenizers, which spells out the tokens, gives the same mask as a fast tokenizer's
    offsets.
    """
    for fast in (byte_level, sentencepiece_type):
        for text in [*texts[:20], ANSWER, "__global__ void k() { // 好"]:
            spans = find_spans(text)
            trusted, spelled = TokenAligner(fast), TokenAligner(fast)
            spelled._trusts_offsets = False
            assert aligned(trusted, text, spans) == aligned(spelled, text, spans)
            assert trusted._trusts_offsets


def test_of_many_spans_the_tokenizer_is_not_asked_one_by_one(byte_level, sentencepiece_type, monkeypatch):
    """With many spans, all offsets are read at once, and the tokens are the same.

    Each single question takes time proportional to the text, so 100,000 spans would take minutes.
    """
    text = "Größe: 好.\n" + ANSWER * 60
    spans = [Span(7, 9, "kernel_body"), *find_spans(text)]
    assert len(spans) > tokenizers.FEW_SPANS
    for fast in (byte_level, sentencepiece_type):
        found = TokenAligner(fast).locate(text, spans)
        with monkeypatch.context() as patched:
            patched.setattr(tokenizers, "FEW_SPANS", len(spans))
            assert TokenAligner(fast).locate(text, spans) == found
        patient = _WithOffsets(fast, lambda _, offsets: offsets)
        assert TokenAligner(patient).locate(text, spans) == found and not patient.asked


def test_the_end_of_turn_marker_is_no_part_of_a_cut_kernel(byte_level):
    cut = ANSWER[: ANSWER.index("if (i < n)")]
    ids, mask = labelled(byte_level, cut, "<|im_end|>\n")
    end = byte_level.convert_tokens_to_ids("<|im_end|>")
    assert mask[ids.index(end) - 2] == 1
    assert mask[ids.index(end) :] == [0] * len(mask[ids.index(end) :])


class _WithOffsets:
    """A fast tokenizer whose offsets are changed by `tamper(text, offsets)`."""

    asked = 0  # calls of `char_to_token`

    def __init__(self, tokenizer, tamper):
        self._tokenizer, self._tamper = tokenizer, tamper

    def __getattr__(self, name):
        return getattr(self._tokenizer, name)

    def __call__(self, text, **options):
        encoding = self._tokenizer(text, **options)
        offsets = self._tamper(text, encoding.encodings[0].offsets)

        def char_to_token(position):
            self.asked += 1
            return next((i for i, (start, end) in enumerate(offsets) if start <= position < end), None)

        encoding._encodings = [SimpleNamespace(offsets=offsets, char_to_token=char_to_token)]
        return encoding


def _byte_offsets(text, offsets):
    """Return the offsets in bytes, where characters are expected."""
    return [(len(text[:start].encode()), len(text[:end].encode())) for start, end in offsets]


@pytest.mark.parametrize(
    "tamper",
    [
        lambda text, offsets: [(0, 0)] * len(offsets),
        lambda text, offsets: offsets[::-1],
        lambda text, offsets: [(start + 1, end + 1) for start, end in offsets],
        lambda text, offsets: [(start, end + len(text)) for start, end in offsets],
        _byte_offsets,
    ],
    ids=["empty", "reversed", "shifted", "outside", "bytes for characters"],
)
def test_wrong_offsets_are_found_out(byte_level, tamper):
    text = "Größe: 好. " + ANSWER
    spans = find_spans(text)
    with pytest.warns(UserWarning, match="gives wrong offsets"):
        ids, mask = aligned(TokenAligner(_WithOffsets(byte_level, tamper)), text, spans)
    assert (ids, mask) == aligned(TokenAligner(byte_level), text, spans)
    assert 1 in mask


def test_tokens_that_do_not_spell_the_text_are_an_error(byte_level):
    class Liar(_WithOffsets):
        is_fast = False

        def convert_ids_to_tokens(self, ids):
            return ["zz"] * len(ids)

    with pytest.raises(AlignmentError, match="use_fast_tokenizer: true"):
        TokenAligner(Liar(byte_level, None)).locate(ANSWER, find_spans(ANSWER))


def test_a_token_carries_the_number_of_its_narrowest_kind(byte_level):
    """Only the kinds that the recipe names count, and all of them are part of the CUDA mask.

    Kinds are numbered from 1 in the order of `cuset spans`.
    """
    text = "__global__ void f(float* x) { x[threadIdx.x] = 0; }\nint main() { f<<<1, 32>>>(p); }"
    _, numbers = labelled(byte_level, text, kinds=(*KINDS, "thread_indexing"))
    for kind, inside in (("kernel_body", " = 0"), ("launch_config", "32>>>"), ("thread_indexing", "threadIdx.x")):
        start = text.index(inside)
        before = len(byte_level.encode(text[: start + len(inside) // 2], add_special_tokens=False)) - 1
        assert numbers[before] == 1 + list(ALL_KINDS).index(kind), kind
    assert numbers[0] == 0 and set(numbers) == {0, 1, 2, 6}


def test_the_reasoning_of_every_chat_template_is_known():
    for name, template in TEMPLATES.items():
        thought = "a".join(template.thought_words)
        assert read_answer(f"{thought}b").reasoning == [(0, len(thought.rstrip()))], name
