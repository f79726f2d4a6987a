"""Differences of log-likelihoods against a model asked by hand, in double precision, and against what training sees."""

import numpy as np
import pytest
import torch
from data_sets import write_data_set
from hypothesis import given
from hypothesis import strategies as st

from cuset_stage.analysis.token_probabilities import token_log_probabilities
from cuset_stage.pairs.likelihood import common_ends, compare, differences, encode
from cuset_stage.pairs.rows import read_pairs
from cuset_stage.stage.loading import open_rows
from cuset_stage.stage.processors import LabelRules


@pytest.fixture(scope="module")
def pairs(pair_file):
    return read_pairs(str(pair_file))


@torch.no_grad()
def by_hand(model, row):
    """log p of the supervised tokens, one row alone."""
    ids = torch.tensor(row["input_ids"])
    log_p = model(ids[None]).logits[0].double().log_softmax(dim=-1)
    return [float(log_p[at - 1, ids[at]]) for at in range(1, len(ids)) if row["labels"][at] != -100]


def test_differences_against_sums_by_hand(pairs, model, tokenizer, template):
    asked = []

    def score(rows):
        asked.extend(rows)
        return token_log_probabilities(model, asked)

    found = list(differences(pairs, template, tokenizer, score))
    assert len(asked) == 19  # each once: three prompts with one right response each, and sixteen others
    for pair, one in zip(pairs, found, strict=True):
        right, wrong = (by_hand(model, encode(pair, text, template, tokenizer)) for text in (pair.right, pair.wrong))
        assert one.whole == pytest.approx(sum(right) - sum(wrong), abs=1e-3)
        assert one.changed + one.following == pytest.approx(one.whole, abs=1e-3)  # what stands before is the same
        assert one.per_token == pytest.approx(np.mean(right) - np.mean(wrong), abs=1e-5)
        assert one.longer == len(wrong) - len(right)
    assert found[1].longer < 0 and found[1].changed < -10  # tokens that are only in the right one
    assert abs(found[0].following) > 0


def test_rows_are_those_of_training(pairs, tmp_path, tiny_model, tokenizer, template):
    rows = [{"instruction": pair.messages[0]["content"], "input": "", "output": pair.wrong} for pair in pairs]
    options = write_data_set(tmp_path, "rows", rows) | {"dataset": ["rows"], "template": "qwen", "cutoff_len": 4096}
    opened = open_rows(tokenizer, str(tiny_model), LabelRules(("kernel_body",), ()), **options)
    for pair, row in zip(pairs, opened.tokens(), strict=True):
        assert encode(pair, pair.wrong, template, tokenizer) == {key: row[key] for key in ("input_ids", "labels")}
    said = [{"role": "system", "content": "Be brief."}, *pairs[0].messages]
    row = encode(pairs[0].model_copy(update={"messages": said}), pairs[0].right, template, tokenizer)
    prompt = tokenizer.decode([token for token, label in zip(*row.values(), strict=True) if label == -100])
    assert "Be brief." in prompt and "Copy x to y." in prompt


def test_responses_of_the_same_tokens_are_refused(pairs, tokenizer):
    class Deaf:
        efficient_eos = False

        def encode_multiturn(self, *_):
            return [([1], [2, 3])]

    with pytest.raises(ValueError, match=r"task Copy, kind i < n: .* same tokens"):
        list(differences(pairs[:1], Deaf(), tokenizer, lambda rows: iter([np.zeros(2, np.float32)] * len(rows))))


words = st.lists(st.integers(0, 2), max_size=8)


@given(words, words)
def test_common_ends(one, other):
    begin, end = common_ends(one, other)
    most = max(n for n in range(min(len(one), len(other)) + 1) if one[:n] == other[:n])
    assert begin == most
    first, second = one[begin:][::-1], other[begin:][::-1]
    assert end == max(n for n in range(min(len(first), len(second)) + 1) if first[:n] == second[:n])


def test_the_parts_of_a_difference():
    log_p = [np.array(values, np.float32) for values in ([-1, -2, -3, -4], [-1, -5, -1])]
    one = compare([7, 8, 9, 4], [7, 5, 4], *log_p)
    assert (one.changed, one.following, one.whole) == (-5 + 5, -4 + 1, -10 + 7)
    assert one.per_token == pytest.approx(-10 / 4 + 7 / 3) and one.longer == -1
