"""Models in 4 bits or with an adapter, against the model itself; and what rounding leaves of a probability."""

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from cuset_stage.analysis.confidence import Sample, make_reading
from cuset_stage.analysis.readers import open_reader
from cuset_stage.analysis.requests import ModelRequest
from cuset_stage.analysis.token_probabilities import token_log_probabilities
from cuset_stage.stage.loading import open_tokenizer

from .test_token_probabilities import make_rows


def test_a_reading_of_log_probabilities_above_0():
    rng = np.random.default_rng(0)
    labels = [-100, -100, *range(40)]
    row = {"labels": labels, "sample_ids": [0, 0, *[1] * 15, *[2] * 25]}
    reading = make_reading(rng.choice([1e-7, 0.0, -1e-8, 3e-3], 40).astype(np.float32), row, 7)
    for values in (reading.confidence[2:], reading.window[2:]):
        assert all(0 <= value <= 1 for value in values)
    assert all(0 <= one.confidence <= 1 and 0 <= one.weight <= 1 for one in reading.regions)
    sample = Sample("a", [""] * 42, [False] * 2 + [True] * 40, [False] * 42, {"model": reading})
    summary = sample.summary("model", 0.1, 1.0)
    assert summary["nll"] >= 0 and all(0 <= summary[name] <= 1 for name in ("confidence", "sample_weight"))


@pytest.mark.parametrize("bits", [None, 8, 4])
def test_a_model_with_an_adapter_and_in_four_bits(models, bits):
    folder = str(models / "deeper")
    tokenizer = open_tokenizer(folder)
    request = ModelRequest(model=folder, adapter=str(models / "adapter"), quantization_bit=bits)
    rows = make_rows([30, 50])
    plain = ModelRequest(model=folder, adapter=request.adapter)
    found, expected, base = (
        np.concatenate(list(token_log_probabilities(open_reader(each, tokenizer, "cpu"), rows)))
        for each in (request, plain, ModelRequest(model=folder))
    )
    gap, size = np.abs(found - expected).mean(), np.abs(expected - base).mean()
    assert size > 0  # the adapter counts
    assert gap == 0 if bits is None else 0 < gap < 0.5


def test_a_cpu_reads_16_bit_weights_in_float32(models, tmp_path):
    half = AutoModelForCausalLM.from_pretrained(models / "deeper").bfloat16()
    half.save_pretrained(tmp_path)
    AutoTokenizer.from_pretrained(models / "deeper").save_pretrained(tmp_path)
    reader = open_reader(ModelRequest(model=str(tmp_path)), open_tokenizer(str(tmp_path)), "cpu")
    assert {parameter.dtype for parameter in reader.parameters()} == {torch.float32}
