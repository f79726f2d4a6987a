"""Models behind a server, in 4 bits, or with an adapter, against the model itself."""

import numpy as np
import pytest
from completion_server import CompletionServer
from transformers import AutoModelForCausalLM

from cuset_stage.analysis.readers import ServerReader, open_reader
from cuset_stage.analysis.requests import ModelRequest
from cuset_stage.analysis.token_probabilities import token_log_probabilities
from cuset_stage.settings import SettingsError
from cuset_stage.stage.loading import open_tokenizer

from .test_token_probabilities import make_rows


@pytest.fixture(scope="module")
def model(models):
    return AutoModelForCausalLM.from_pretrained(models / "before").eval()


def read(server, rows, **options):
    reader = ServerReader(server.url, "m", concurrency=3, api_key_env="NO_KEY", **options)
    return list(reader.read(iter(rows)))


@pytest.mark.parametrize("style", ["vllm", "echo"])
def test_a_server_gives_what_the_model_gives(model, style):
    rows = make_rows([9, 40, 4, 25, 17, 8, 30])
    with CompletionServer(model, style) as server:
        found = read(server, rows)
    for part, expected in zip(found, token_log_probabilities(model, rows), strict=True):
        assert part.dtype == np.float32
        np.testing.assert_allclose(part, expected, rtol=1e-4)
    assert all(body["model"] == "m" and body["max_tokens"] == 1 for body in server.bodies)


def test_a_server_that_is_busy_is_asked_again(model, monkeypatch):
    monkeypatch.setattr("cuset_stage.analysis.readers.FIRST_PAUSE_S", 0.01)
    rows = make_rows([9, 12])
    with CompletionServer(model, "vllm", busy=[True] * 3) as server:
        found = read(server, rows)
    assert len(server.bodies) == 5
    for part, expected in zip(found, token_log_probabilities(model, rows), strict=True):
        np.testing.assert_allclose(part, expected, rtol=1e-4)


def test_servers_that_cannot_be_read(model, monkeypatch):
    monkeypatch.setattr("cuset_stage.analysis.readers.FIRST_PAUSE_S", 0.01)
    with CompletionServer(model, "none") as server, pytest.raises(SettingsError, match=r"no log-probabilities.*vLLM"):
        read(server, make_rows([9]))
    with (
        CompletionServer(model, "vllm", context=20) as server,
        pytest.raises(SettingsError, match=r"context length.*cutoff_len"),
    ):
        read(server, make_rows([9, 20]))
    with pytest.raises(SettingsError, match="ConnectError"):
        read(server, make_rows([9]))


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
