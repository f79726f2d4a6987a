"""token_mask against its definition."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuset_stage.spans import Span, token_mask


def definition(offsets, spans):
    return [int(any(max(start, a) < min(end, b) for a, b, _ in spans)) for start, end in offsets]


extents = st.tuples(st.integers(0, 60), st.integers(0, 8)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@given(st.lists(extents).map(sorted), st.lists(extents.filter(lambda pair: pair[0] < pair[1])))
def test_equals_the_definition(offsets, spans):
    spans = [Span(start, end, "kernel_body") for start, end in spans]
    assert token_mask(offsets, spans) == definition(offsets, spans)
    assert token_mask(offsets, spans, text_length=80) == definition(offsets, spans)


def test_one_character_is_enough_and_touching_is_not():
    spans = [Span(3, 6, "kernel_body"), Span(10, 12, "launch_config")]
    assert token_mask([(0, 3), (2, 4), (5, 10), (6, 10), (9, 11), (12, 13)], spans) == [0, 1, 1, 0, 1, 0]


def test_bytes_of_one_character_are_all_marked():
    assert token_mask([(0, 1), (1, 2), (1, 2), (1, 2), (2, 3)], [Span(1, 2, "kernel_body")]) == [0, 1, 1, 1, 0]


def test_tokens_without_characters_are_zero_wherever_they_are():
    assert token_mask([(0, 0), (0, 4), (0, 0), (4, 8), (8, 8)], [Span(0, 8, "kernel_body")]) == [0, 1, 0, 1, 0]


def test_empty():
    assert token_mask([], [Span(0, 1, "kernel_body")]) == []
    assert token_mask([(0, 1), (1, 2)], []) == [0, 0]


@pytest.mark.parametrize(
    ("offsets", "length"), [([(0, 9)], 8), ([(-1, 2)], 8), ([(4, 2)], 8), ([(0, 4), (4, 8), (0, 4)], 8), ([(9, 9)], 8)]
)
def test_offsets_of_another_text_are_refused(offsets, length):
    with pytest.raises(ValueError, match=r"offsets\[\d\]=\(-?\d, \d\).*of one tokenizer call"):
        token_mask(offsets, [Span(0, 1, "kernel_body")], text_length=length)
