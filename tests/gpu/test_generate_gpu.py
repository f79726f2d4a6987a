"""Generation on a GPU: bfloat16, the same random numbers as on the CPU, and memory that really runs out."""

import logging

import pytest
import torch

from cuset_stage.generate import Settings
from cuset_stage.generate.hf import HFBackend, resolve_dtype
from cuset_stage.generate.plan import Failure, Request
from cuset_stage.generate.sampling import gumbel_noise


pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")]


@pytest.fixture(scope="module")
def wide_model(tmp_path_factory, load_script, request):
    """Large enough that a batch of 64 long prompts needs more than a GiB."""
    path = tmp_path_factory.mktemp("model") / "wide"
    data = request.config.rootpath / "data"
    load_script("make_tiny_model").make_model(path, data, hidden_size=1024, layers=2, vocab_size=1024)
    return path


def requests(count, words):
    messages = ({"role": "user", "content": "word " * words},)
    return [Request("t", sample, messages, sample, "") for sample in range(count)]


def test_noise_is_the_same_on_the_gpu():
    seeds = torch.arange(100, 110)
    on_gpu = gumbel_noise(seeds.cuda(), 7, 5000).cpu()
    torch.testing.assert_close(on_gpu, gumbel_noise(seeds, 7, 5000), rtol=1e-12, atol=1e-12)


def test_bfloat16_batches_repeat_themselves(tiny_model):
    dtype = resolve_dtype("auto", "cuda")
    settings = Settings(backend="hf", model=str(tiny_model), temperature=1.0, max_tokens=16, dtype=dtype)
    backend = HFBackend(settings, batch_size=8, device="cuda")
    assert {parameter.dtype for parameter in backend.model.parameters()} == {torch.bfloat16}
    first, second = ([reply.answer for reply in backend.replies(requests(20, 30))] for _ in range(2))
    assert first == second
    assert len(set(first)) == 20


def test_memory_that_runs_out_halves_the_batch(wide_model, caplog):
    settings = Settings(backend="hf", model=str(wide_model), temperature=1.0, max_tokens=4, dtype="bfloat16")
    backend = HFBackend(settings, batch_size=64, device="cuda")
    torch.cuda.empty_cache()
    total = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_reserved() + (700 << 20)) / total)
    try:
        with caplog.at_level(logging.WARNING):
            replies = list(backend.replies(requests(70, 700)))
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    assert not any(isinstance(reply, Failure) for reply in replies)
    assert sorted(reply.sample for reply in replies) == list(range(70))
    assert 1 < backend.batch_size < 64
    assert "Memory ran out with 64 samples in a batch: going on with 32." in caplog.text
