"""Log-probabilities in batches against a model asked for one row at a time, in double precision."""

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, GPT2Config, GPT2LMHeadModel

from cuset_stage.analysis.token_probabilities import ROWS_SORTED, token_log_probabilities


@pytest.fixture(scope="module")
def model(models):
    return AutoModelForCausalLM.from_pretrained(models / "deeper").eval()


def make_rows(lengths, vocabulary=512, prompt=3):
    generator = torch.Generator().manual_seed(0)
    rows = []
    for length in lengths:
        ids = torch.randint(3, vocabulary, (length,), generator=generator).tolist()
        rows.append({"input_ids": ids, "labels": [-100] * min(prompt, length) + ids[prompt:]})
    return rows


@torch.no_grad()
def direct(model, row):
    """By the definition: one row, without padding, a softmax over each position."""
    ids, labels = torch.tensor(row["input_ids"]), torch.tensor(row["labels"])
    p = model(ids[None]).logits[0].double().log_softmax(dim=-1)
    places = (labels != -100).nonzero()[:, 0].tolist()
    return [float(p[at - 1, ids[at]]) if at else float("nan") for at in places]


def test_every_row_against_the_row_alone(model):
    rows = make_rows([5, 90, 33, 4, 61, 90, 12, 3, 70])  # a row of 3 tokens has none that is supervised
    rows += make_rows([4 + index % 5 for index in range(ROWS_SORTED)])  # more than are read ahead
    expected = [direct(model, row) for row in rows]
    for batch_tokens in (1, 100, 8192):
        found = list(token_log_probabilities(model, iter(rows), batch_tokens=batch_tokens))
        assert [part.dtype for part in found] == [np.float32] * len(rows)
        for part, values in zip(found, expected, strict=True):
            np.testing.assert_allclose(part, values, rtol=1e-4)


def test_a_first_token_that_is_supervised_is_nan(model):
    (row,) = make_rows([8], prompt=0)
    (found,) = token_log_probabilities(model, [row])
    assert np.isnan(found[0]) and len(found) == 8
    np.testing.assert_allclose(found[1:], direct(model, row)[1:], rtol=1e-4)


@pytest.mark.parametrize("changed", [False, True], ids=["in the output layer", "from logits"])
def test_a_model_that_changes_its_logits_is_read_from_them(model, monkeypatch, changed):
    rows = make_rows([20, 31])
    if changed:  # as Gemma 2 and Granite do behind their output layer
        plain = model.forward

        def capped(*args, **kwargs):
            output = plain(*args, **kwargs)
            output.logits = 0.5 * torch.tanh(output.logits / 0.5)
            return output

        monkeypatch.setattr(model, "forward", capped)
    seen = []
    handle = model.register_forward_hook(lambda _, __, output: seen.append(output.logits.size(-1)))
    try:
        found = list(token_log_probabilities(model, rows))
    finally:
        handle.remove()
    assert (seen[-1] == model.config.vocab_size) == changed  # the last pass made logits, or hidden states
    for part, row in zip(found, rows, strict=True):
        np.testing.assert_allclose(part, direct(model, row), rtol=1e-4)


def test_the_model_is_left_as_it_was(model):
    before = model(torch.tensor([[5, 6, 7]])).logits
    first = list(token_log_probabilities(model, make_rows([9])))
    assert "forward" not in vars(model.lm_head)
    assert torch.equal(model(torch.tensor([[5, 6, 7]])).logits, before)
    second = list(token_log_probabilities(model, make_rows([9])))
    np.testing.assert_array_equal(first, second)


def test_learned_positions_do_not_see_the_padding():
    torch.manual_seed(0)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=512, n_embd=32, n_layer=2, n_head=2, n_positions=64)).eval()
    rows = make_rows([40, 7])
    for part, row in zip(token_log_probabilities(model, rows), rows, strict=True):
        np.testing.assert_allclose(part, direct(model, row), rtol=1e-4)


def test_memory_that_runs_out_halves_the_batch(model, monkeypatch):
    rows, sizes = make_rows([16] * 8), []
    plain = model.forward

    def small(input_ids, **kwargs):
        sizes.append(len(input_ids))
        if len(input_ids) > 2:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return plain(input_ids=input_ids, **kwargs)

    monkeypatch.setattr(model, "forward", small)
    found = list(token_log_probabilities(model, rows))
    assert max(sizes) == 8 and sizes[-1] == 2
    monkeypatch.undo()
    for part, row in zip(found, rows, strict=True):
        np.testing.assert_allclose(part, direct(model, row), rtol=1e-4)


def test_what_cannot_be_read(model, monkeypatch):
    with pytest.raises(ValueError, match="token 2000 is outside the model's vocabulary of 1024"):
        list(token_log_probabilities(model, [{"input_ids": [5, 2000], "labels": [-100, 2000]}]))
    monkeypatch.setattr(model.lm_head, "weight", torch.nn.Parameter(torch.full_like(model.lm_head.weight, torch.nan)))
    with pytest.raises(ValueError, match="NaN or infinite"):
        list(token_log_probabilities(model, make_rows([8])))
