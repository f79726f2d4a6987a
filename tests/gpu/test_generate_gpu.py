"""Generation on a GPU: bfloat16, the same random numbers as on the CPU, and memory that really runs out."""

import functools
import gc
import logging

import make_tiny_model
import pytest
import torch

from cuset_stage.generate import RecordedSettings, slots
from cuset_stage.generate.hf import HFBackend, resolve_dtype
from cuset_stage.generate.plan import Failure, Request
from cuset_stage.generate.sampling import gumbel_noise


pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")]


@pytest.fixture(scope="module")
def wide_model(tmp_path_factory):
    """Its keys and values take 4 KiB a token."""
    path = tmp_path_factory.mktemp("model") / "wide"
    make_tiny_model.make_model(path, hidden_size=1024, layers=2, vocab_size=1024)
    return path


def settings_of(model, **more):
    return RecordedSettings(backend="hf", model=str(model), **more)


def requests(count, words):
    messages = ({"role": "user", "content": "word " * words},)
    return [Request("t", sample, messages, sample, "") for sample in range(count)]


def test_noise_is_the_same_on_the_gpu():
    seeds = torch.arange(100, 110)
    on_gpu = gumbel_noise(seeds.cuda(), 7, torch.arange(5000).cuda()).cpu()
    torch.testing.assert_close(on_gpu, gumbel_noise(seeds, 7, torch.arange(5000)), rtol=1e-12, atol=1e-12)


@pytest.fixture(params=[1.0, 0.02], ids=["the whole vocabulary", "few candidates"])
def deep_backend(tmp_path_factory, tiny_model, request):
    """Two layers of a 7B model's width, random: matrix products of that size change with the number of rows."""
    from transformers import AutoTokenizer, Qwen2Config, Qwen2ForCausalLM

    tokenizer = AutoTokenizer.from_pretrained(tiny_model)
    shape = dict(hidden_size=3584, intermediate_size=18944, num_attention_heads=28, num_key_value_heads=4)
    shape |= dict(vocab_size=32000, num_hidden_layers=2, tie_word_embeddings=False)
    config = Qwen2Config(**shape, eos_token_id=tokenizer.eos_token_id)
    torch.manual_seed(0)
    with torch.device("cuda"):
        model = Qwen2ForCausalLM(config).bfloat16()
    path = tmp_path_factory.mktemp("deep")
    model.save_pretrained(path)
    tokenizer.save_pretrained(path)
    settings = settings_of(
        path, temperature=request.param, top_p=0.95, max_tokens=48, seed=1, dtype=resolve_dtype("auto", "cuda")
    )
    return HFBackend(settings, batch_size=64, device="cuda")


def test_no_bit_depends_on_the_batch(deep_backend, monkeypatch):
    """The logits themselves, of every token: other neighbours, slots, orders and batch sizes, and a longer cache."""
    assert {parameter.dtype for parameter in deep_backend.model.parameters()} == {torch.bfloat16}
    seen = {}

    def keep(drawn, logits, seeds, steps, **shape):
        """Runs inside the CUDA graph: sums up the bits of each row's logits, by seed and step."""
        bits = logits.view(torch.int32).to(torch.int64)
        places = torch.arange(1, bits.shape[1] + 1, device=bits.device)
        sums[seeds, steps] = (bits * places).sum(1)
        return drawn(logits, seeds, steps, **shape)

    for name in ("draw", "draw_among"):
        monkeypatch.setattr(slots, name, functools.partial(keep, getattr(slots, name)))
    questions = []
    for task, words in enumerate((5, 60, 300)):
        questions += [
            Request(f"t{task}", number, request.messages, 30 * task + number + 1, "")
            for number, request in enumerate(requests(30, words))
        ]
    seeds = {(request.task, request.sample): request.seed for request in questions}
    turns = [(64, questions, 512), (128, questions[::-1], 512), (1, questions[::11], 512), (7, questions[:30], 64)]
    for batch_size, asked, shortest in (*turns, (500, questions, 2048)):
        sums = torch.zeros(91, 80, dtype=torch.int64, device="cuda")
        monkeypatch.setattr(slots, "GRAIN", shortest)
        monkeypatch.setattr(deep_backend, "batch_size", batch_size)
        for reply in deep_backend.replies(asked):
            assert not isinstance(reply, Failure)
            seed = seeds[reply.task, reply.sample]
            found = (reply.answer, reply.tokens, sums[seed, : reply.tokens].tolist())
            assert seen.setdefault(seed, found) == found, (batch_size, shortest, seed)
    assert len(seen) == 90
    different = len({tuple(bits) for _, _, bits in seen.values()})
    assert (
        different == 90 if deep_backend._settings.temperature == 1 else different > 30
    )  # few candidates: some samples are alike


def test_graphs_write_what_the_plain_model_says(tiny_model):
    """In float32, where rounding turns no decision: against batches of `generate`, with a cache that grows."""
    settings = settings_of(tiny_model, temperature=0.8, top_p=0.9, max_tokens=300, dtype="float32")
    backend = HFBackend(settings, batch_size=5, device="cuda")
    asked = [*requests(6, 20), Request("long", 9, ({"role": "user", "content": "word " * 600},), 3, "")]
    answers = {}
    for backend.continuous in (True, False):
        for reply in backend.replies(asked):
            said = (reply.answer, reply.tokens, reply.finish_reason)
            answers.setdefault((reply.task, reply.sample), []).append(said)
    assert len(answers) == 7
    assert all(first == second for first, second in answers.values())


def test_four_bits_and_an_adapter(wide_model, tmp_path):
    """Without CUDA graphs, and with the adapter beside the quantised layers: against batches of `generate`, greedily, in float32."""
    pytest.importorskip("bitsandbytes")
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig

    four = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_compute_dtype=torch.float32)
    model = AutoModelForCausalLM.from_pretrained(wide_model, quantization_config=four, device_map={"": "cuda"})
    model.save_pretrained(tmp_path / "model")
    AutoTokenizer.from_pretrained(wide_model).save_pretrained(tmp_path / "model")
    lora = LoraConfig(r=4, target_modules="all-linear", init_lora_weights=False)
    get_peft_model(model, lora).save_pretrained(tmp_path / "adapter")
    settings = settings_of(tmp_path / "model", adapter=str(tmp_path / "adapter"), max_tokens=24, dtype="float32")
    backend = HFBackend(settings, batch_size=3, device="cuda")
    assert backend.continuous
    texts = []
    for backend.continuous in (True, False):
        replies = list(backend.replies([*requests(1, 5), Request("u", 0, requests(1, 300)[0].messages, 1, "")]))
        texts.append({reply.task: (reply.answer, reply.tokens) for reply in replies})
    assert texts[0] == texts[1]


def test_memory_that_runs_out_halves_the_batch(wide_model, caplog):
    settings = settings_of(wide_model, temperature=1.0, max_tokens=4, dtype="bfloat16")
    backend = HFBackend(settings, batch_size=64, device="cuda")
    gc.collect()
    torch.cuda.empty_cache()
    total = torch.cuda.get_device_properties(0).total_memory
    # 4 KiB a position: 384 MiB for 64 answers.
    torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_reserved() + (300 << 20)) / total)
    try:
        with caplog.at_level(logging.WARNING):
            replies = list(backend.replies(requests(70, 1500)))
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    assert not any(isinstance(reply, Failure) for reply in replies)
    assert sorted(reply.sample for reply in replies) == list(range(70))
    assert 1 < backend.batch_size < 64
    assert "Memory ran out with 64 samples in a batch: going on with 32." in caplog.text
