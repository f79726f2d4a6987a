"""token_mask against its definition."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cuset_stage.spans import Span, token_mask


def definition(offsets, spans):
    return [int(any(max(start, a) < min(end, b) for a, b, _ in spans)) for start, end in offsets]


extents = st.tuples(st.integers(0, 60), st.integers(0, 8)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@given(st.lists(extents).map(sorted), st.lists(extents.filter(lambda pair: pair[0] < pair[1])))
@example(
    [(0, 3), (2, 4), (5, 10), (6, 10), (9, 11), (12, 13)], [(3, 6), (10, 12)]
)  # a character is enough, touching is not
@example([(0, 1), (1, 2), (1, 2), (1, 2), (2, 3)], [(1, 2)])  # bytes of one character are all marked
@example([(0, 0), (0, 4), (0, 0), (4, 8), (8, 8)], [(0, 8)])  # tokens without characters are 0 wherever they are
def test_equals_the_definition(offsets, spans):
    spans = [Span(start, end, "kernel_body") for start, end in spans]
    assert token_mask(offsets, spans) == definition(offsets, spans)
    assert token_mask(offsets, spans, text_length=80) == definition(offsets, spans)


@pytest.mark.parametrize("offsets", [[(0, 9)], [(-1, 2)], [(4, 2)], [(0, 4), (4, 8), (0, 4)], [(9, 9)]])
def test_offsets_of_another_text_are_refused(offsets):
    with pytest.raises(ValueError, match=r"offsets\[\d\]=\(-?\d, \d\).*of one tokenizer call"):
        token_mask(offsets, [Span(0, 1, "kernel_body")], text_length=8)
