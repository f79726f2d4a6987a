"""The column `token_weights`: each response token has the weight that the data and `cuset_think_weight` give it.

This has to hold through templates, truncation, packing and dropped rows.
"""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given as any_of
from hypothesis import settings
from hypothesis import strategies as st
from llamafactory.data.template import TEMPLATES

from cuset_stage.stage.given import COLUMN, GivenResponse, GivenRow, GivenSpan
from cuset_stage.stage.token_labels import kept_ranges, moved_range, multiplied
from cuset_stage.text import InputError

from .conftest import ANSWER, KERNEL, SPANS, columns_of


THOUGHT = "<think>\nOne thread an element; k<<<1, 1>>> would do.\n</think>\n\n"


def response(text, *said, weight=1.0):
    """Return what the data say about a response: its weight, and spans, given as (passage of the text, weight or
    kind).
    """
    spans = []
    for passage, value in said:
        start = text.index(passage)
        what = {"kind": value} if isinstance(value, str) else {"weight": value}
        spans.append(GivenSpan(start, start + len(passage), **what))
    return GivenResponse(weight, tuple(spans))


def one(text, *said, weight=1.0, row=1.0):
    """Return what the data say about a row with one response."""
    return GivenRow(row, (response(text, *said, weight=weight),))


def runs_of(chosen):
    """Return (start, end) of each run of consecutive chosen tokens."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], chosen, [0]))))
    return zip(edges[::2], edges[1::2], strict=True)


def weighted(tokenizer, ours, weight, row=0):
    """Return the supervised texts with this weight, one for each run of tokens."""
    is_there = (ours["token_weights"][row] == np.float32(weight)) & (ours["sample_ids"][row] > 0)
    return [tokenizer.decode(ours["input_ids"][row][a:b]) for a, b in runs_of(is_there)]


def expected_weights(tokenizer, text, spans, base):
    """Return each token's expected weight, computed from the tokenizer's offsets: that of the first span it overlaps,
    times `base`.
    """
    offsets = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
    token_weights = []
    for start, end in offsets:
        touched = [span for span in sorted(spans) if max(span.start, start) < min(span.end, end)]
        token_weights.append(base * (touched[0].weight if touched else 1.0))
    return np.float32(token_weights)


def test_weights_multiply_and_a_span_stops_where_it_ends(process):
    text = THOUGHT + ANSWER
    given = one(text, ("threadIdx.x", 0.25), ("int main()", 0.0), ("One thread", 8.0), weight=0.5, row=3.0)
    tokenizer, ours = process(["Scale.", text], given=[given], think_weight=2.0)
    assert [run.strip() for run in weighted(tokenizer, ours, 1.5 * 0.25)] == ["threadIdx.x"]
    assert [run.strip() for run in weighted(tokenizer, ours, 0.0)] == ["int main()"]
    assert [run.strip() for run in weighted(tokenizer, ours, 1.5 * 2.0 * 8.0)] == ["One thread"]
    assert "".join(weighted(tokenizer, ours, 1.5 * 2.0)).split() == THOUGHT.replace("One thread", "").split()
    assert weighted(tokenizer, ours, 1.5)[-1].endswith("<|im_end|>\n")
    prompt = ours["sample_ids"][0] == 0
    assert np.all(ours["token_weights"][0][prompt] == 1.0)


@settings(max_examples=60, deadline=None)
@any_of(data=st.data())
def test_any_spans_against_the_tokenizer_s_offsets(byte_level, processor, data):
    text = ANSWER
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), min_size=2, max_size=12, unique=True)))
    spans = tuple(
        GivenSpan(start, end, data.draw(st.sampled_from((0.0, 0.1, 1.0, 2.0, 7.5))))
        for start, end in pairwise(cuts)
        if data.draw(st.booleans())
    )
    row, labelling = columns_of(["Scale.", text]), processor()
    plain = labelling.preprocess_dataset(row)
    ours = labelling.preprocess_dataset({**row, COLUMN: [GivenRow(0.5, (GivenResponse(3.0, spans),)).to_text()]})
    for name in plain:  # all other columns stay as they are
        assert np.array_equal(plain[name][0], ours[name][0]), name
    expected = expected_weights(byte_level, text + "<|im_end|>\n", spans, 1.5)
    assert np.array_equal(ours["token_weights"][0][-len(expected) :], expected)


@pytest.mark.parametrize("name", sorted(TEMPLATES))
def test_every_template(process, name):
    """Two turns with kernels, each with a weight and a span of its own. The second has reasoning with a low weight."""
    thoughtful = f"{THOUGHT}{ANSWER}"
    said = response(ANSWER, ("int main()", 0.25)), response(thoughtful, ("int main()", 5.0), weight=3.0)
    options = {"system": "You write CUDA.", "think_weight": 0.125, "template": name}
    options["added_tokens"] = ["[gMASK]", "sop", "<|user|>", "<|assistant|>", "<|system|>", "<eod>", "<sep>"]
    turns = ["Scale.", ANSWER, "Again.", thoughtful]
    tokenizer, ours = process(turns, given=[GivenRow(2.0, said)], **options)
    assert [run.strip() for run in weighted(tokenizer, ours, 0.5)] == ["int main()"]
    assert [run.strip() for run in weighted(tokenizer, ours, 30.0)] == ["int main()"]
    (light,) = weighted(tokenizer, ours, 0.75)
    empty = TEMPLATES[name].add_thought()  # added in front by templates that mark thoughts otherwise
    assert light.strip() in (THOUGHT.strip(), empty + THOUGHT.strip())
    # A turn's weight includes the end-of-turn marker, which some templates leave to LLaMA-Factory.
    last = {turn: ours["token_weights"][0][ours["sample_ids"][0] == turn][-1] for turn in (1, 2)}
    assert last == {1: 2.0, 2: 6.0}
    is_cuda = ours["cuda_mask"][0] != 0
    marked = [tokenizer.decode(ours["input_ids"][0][a:b]) for a, b in runs_of(is_cuda)]
    assert len(marked) == 4, marked
    for run, span in zip(marked, SPANS * 2, strict=True):
        assert span in run and len(run) <= len(span) + 8


def test_an_empty_thought_that_the_template_adds_is_reasoning(process):
    options = {"given": [one("", weight=2.0)], "think_weight": 0.25, "template": "qwen3"}
    tokenizer, ours = process(["Scale.", ANSWER], **options)
    assert weighted(tokenizer, ours, 0.5) == ["<think>\n\n</think>\n\n"]
    tokenizer, ours = process(["Why?", f"{THOUGHT}No code."], think_weight=0.25)
    assert weighted(tokenizer, ours, 0.25) == [THOUGHT.strip()]


@pytest.mark.parametrize(
    "options", [{"enable_thinking": False}, {"enable_thinking": True, "mask_history": True}], ids=str
)
def test_spans_stay_in_place_where_the_template_takes_thoughts_out(process, options):
    first, last = f"{THOUGHT}\n{ANSWER}", f"{THOUGHT}Then.\n{THOUGHT}{KERNEL}"
    of_last = response(last, ("</think>\n\n__global__ void", 3.0))
    given = [GivenRow(1.0, (response(first, ("thread an", 0.5), ("int main()", 0.25)), of_last))]
    tokenizer, ours = process(["Scale.", first, "Again.", last], given=given, template="qwen3", **options)
    if "mask_history" in options:  # the first turn's thought is gone, and the turn is not supervised
        assert set(np.unique(ours["token_weights"][0])) == {1.0, 3.0}
        assert [run.strip() for run in weighted(tokenizer, ours, 3.0)] == ["</think>\n\n__global__ void"]
    else:
        assert not weighted(tokenizer, ours, 0.5)
        assert [run.strip() for run in weighted(tokenizer, ours, 0.25)] == ["int main()"]
        assert [run.strip() for run in weighted(tokenizer, ours, 3.0)] == ["__global__ void"]


def test_a_response_that_the_template_rewrites_is_an_error():
    assert kept_ranges("abc", "abc", ("<think>", "</think>")) == [(0, 3)]
    with pytest.raises(InputError, match="the chat template changes the response 'abc'"):
        kept_ranges("abc", "abd", ("<think>", "</think>"))


@any_of(text=st.text("ab", max_size=20), cuts=st.lists(st.integers(0, 20), min_size=6, max_size=6))
def test_a_moved_range_holds_the_same_characters(text, cuts):
    a, b, c, d, *span = (min(cut, len(text)) for cut in (*sorted(cuts[:4]), *sorted(cuts[4:])))
    kept = [(a, b), (c, d)]
    # For each remaining character, its index in the original text.
    left = [index for start, end in kept for index in range(start, end)]
    found = {left[index] for start, end in moved_range(*span, kept) for index in range(start, end)}
    assert found == {index for index in left if span[0] <= index < span[1]}


@any_of(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9), st.sampled_from((0.0, 0.5, 2.0))), max_size=6))
def test_where_ranges_overlap_their_weights_multiply(layers):
    layers = [(start, start + length, weight) for start, length, weight in layers]
    by_character = {}
    for start, end, weight in layers:
        for index in range(start, end):
            by_character[index] = by_character.get(index, 1.0) * weight
    pieces = multiplied(layers)
    assert {index: weight for start, end, weight in pieces for index in range(start, end)} == by_character
    assert all(one[1] <= other[0] for one, other in pairwise(pieces))


def test_a_kind_that_is_chosen_joins_the_cuda_mask(process):
    text = "The bottleneck is x[i] += y[i]; nothing else."
    given = one(text, ("x[i] += y[i];", "kernel_body"), ("nothing else", "atomic"))
    tokenizer, ours = process(["Where?", text], given=[given])
    cuda = ours["cuda_mask"][0].astype(bool)
    assert tokenizer.decode(ours["input_ids"][0][cuda]).strip() == "x[i] += y[i];"
    assert np.all(ours["token_weights"][0] == 1.0)


def test_prompts_have_the_row_s_weight_under_train_on_prompt(process):
    given = GivenRow(2.0, (GivenResponse(3.0), GivenResponse(0.5)))
    _, ours = process(["One.", "First.", "Two.", "Second."], given=[given], train_on_prompt=True)
    assert set(ours["token_weights"][0]) == {2.0, 6.0, 1.0}
    for turn, weights in ((1, {2.0, 6.0}), (2, {2.0, 1.0})):
        assert set(ours["token_weights"][0][ours["sample_ids"][0] == turn]) == weights


@pytest.mark.parametrize("options", [{"packing": True}, {"neat_packing": True}], ids=str)
def test_packed_rows_carry_the_weights_of_each(process, options):
    conversations = [["One.", ANSWER], ["Two.", "32 threads."], ["Three.", KERNEL]]
    given = [one(ANSWER, ("int main()", 0.5)), None, GivenRow(4.0)]
    _, alone = process(*conversations, given=given)
    _, packed = process(*conversations, given=given, cutoff_len=1500, **options)
    assert len(packed["input_ids"]) == 1

    def of_samples(ours):
        """Return the set of (ids, weights) of all samples."""
        found = set()
        for ids, numbers, weights in zip(ours["input_ids"], ours["sample_ids"], ours["token_weights"], strict=True):
            for number in range(1, numbers.max() + 1):
                found.add((tuple(ids[numbers == number].tolist()), tuple(weights[numbers == number].tolist())))
        return found

    assert of_samples(packed) == of_samples(alone)
    assert len(of_samples(packed)) == 3


def test_what_truncation_leaves_keeps_its_labels_and_its_weights(process):
    given = [one(ANSWER, (KERNEL, 0.5), row=2.0)]
    _, whole = process(["Scale a vector.", ANSWER], given=given)
    for cutoff in (160, 120, 64):  # LLaMA-Factory also cuts prompts of at least half the cutoff
        _, cut = process(["Scale a vector.", ANSWER], given=given, cutoff_len=cutoff)
        assert len(cut["input_ids"][0]) <= cutoff
        for name, values in (("token_weights", {1.0, 2.0}), ("cuda_mask", {0, 1, 2})):
            found, expected = (ours[name][0][ours["sample_ids"][0] > 0] for ours in (cut, whole))
            assert np.array_equal(found, expected[: len(found)]) and 0 < len(found) < len(expected)
            assert set(expected.tolist()) == values


def test_rows_that_are_dropped_do_not_shift_the_others(process):
    conversations = [["Good.", "One."], ["Empty.", " "], ["Good.", "Two."]]
    _, ours = process(*conversations, given=[GivenRow(2.0), GivenRow(7.0), GivenRow(3.0)])
    of_rows = zip(ours["token_weights"], ours["sample_ids"], strict=True)
    assert [set(weights[ids > 0]) for weights, ids in of_rows] == [{2.0}, {3.0}]
