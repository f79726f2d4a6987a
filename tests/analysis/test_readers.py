"""Models behind a server, in 4 bits, or with an adapter, against the model itself."""

import numpy as np
import pytest
import torch
from completion_server import CompletionServer
from transformers import AutoModelForCausalLM

from cuset_stage.analysis.analyze import analyze
from cuset_stage.analysis.confidence import Sample, make_reading
from cuset_stage.analysis.readers import open_reader, read_served
from cuset_stage.analysis.requests import AnalyzeSettings, ModelRequest
from cuset_stage.analysis.token_probabilities import token_log_probabilities
from cuset_stage.settings import SettingsError
from cuset_stage.stage.loading import open_tokenizer

from .conftest import ROOT
from .test_token_probabilities import make_rows


@pytest.fixture(scope="module")
def model(models):
    return AutoModelForCausalLM.from_pretrained(models / "before").eval()


def read(server, rows):
    return list(read_served(server.url, "m", 3, None, iter(rows)))


def test_a_server_gives_what_the_model_gives(model):
    rows = make_rows([9, 40, 4, 25, 17, 8, 30])
    with CompletionServer(model, "vllm") as server:
        found = read(server, rows)
    for part, expected in zip(found, token_log_probabilities(model, rows), strict=True):
        assert part.dtype == np.float32
        np.testing.assert_allclose(part, expected, rtol=1e-4)
    assert all(body["model"] == "m" and body["max_tokens"] == 1 for body in server.bodies)


def test_servers_that_cannot_be_read(model):
    with CompletionServer(model, "none") as server, pytest.raises(SettingsError, match=r"no log-probabilities.*vLLM"):
        read(server, make_rows([9]))
    with (
        CompletionServer(model, "vllm", context=20) as server,
        pytest.raises(SettingsError, match=r"context length.*cutoff_len"),
    ):
        read(server, make_rows([9, 20]))
    with pytest.raises(SettingsError, match="ConnectError"):
        read(server, make_rows([9]))


class Rounding(CompletionServer):
    """A server whose every log-probability is the same number."""

    number = 3e-7

    def log_probabilities(self, ids):
        return torch.full((len(ids), 512), self.number, dtype=torch.float64)


def test_a_server_that_rounds_above_0():
    rows = make_rows([9, 20])
    with Rounding(None, "vllm") as server:
        assert np.concatenate(read(server, rows)).tolist() == [0.0] * 23
        for server.number in (1.5, float("nan")):
            with pytest.raises(SettingsError, match=r"no log-probabilities.*(1\.5|nan) is no log-probability"):
                read(server, rows)


def test_analyze_of_a_server_that_rounds_above_0(models):
    """The whole command, on tokens whose probability comes as 1.0000003."""
    with Rounding(None, "vllm") as server:
        request = {"model": "m", "endpoint": server.url, "tokenizer": str(models / "before")}
        code = [ROOT / "data" / "kernels" / "tiled_sgemm"]
        keys = {"models": {"m": request}, "code": code, "cutoff_len": 300, "resamples": 100, "device": "cpu"}
        (record,) = analyze(AnalyzeSettings.checked(keys))["models"].values()
    for notion in record["notions"].values():
        assert notion["neutral"]["mean"]["value"] == notion["windows"]["threshold"] == 1.0
        assert notion["windows"]["low"]["value"] == 0


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
    found = np.concatenate(list(token_log_probabilities(open_reader(request, tokenizer, "cpu"), rows)))
    plain = open_reader(ModelRequest(model=folder, adapter=request.adapter), tokenizer, "cpu")
    expected = np.concatenate(list(token_log_probabilities(plain, rows)))
    base = np.concatenate(
        list(token_log_probabilities(open_reader(ModelRequest(model=folder), tokenizer, "cpu"), rows))
    )
    gap, size = np.abs(found - expected).mean(), np.abs(expected - base).mean()
    assert size > 0  # the adapter counts
    assert gap == 0 if bits is None else 0 < gap < 0.5
