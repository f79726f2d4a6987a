"""A real (tiny) Hugging Face model on the CPU: batches, tokens, memory, adapters, and what cannot be loaded."""

import json
import logging
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file
from tiny_models import make_adapter, make_another

from cuset_stage.files import weights_fingerprint
from cuset_stage.generate import GenerationError
from cuset_stage.generate.hf import HFBackend
from cuset_stage.generate.plan import generate, make_plan
from cuset_stage.tasks.answers_file import read_answers
from cuset_stage.text import InputError

from .conftest import ask, by_sample


def test_batch_size_and_order_do_not_change_answers(settings, backend, kernels, monkeypatch):
    plan = make_plan(kernels.tasks[:4], settings, 3)
    together = by_sample(backend.replies(plan))
    assert len(set(together.values())) == 12
    monkeypatch.setattr(backend, "batch_size", 1)
    assert by_sample(backend.replies(plan[:5])).items() <= together.items()
    monkeypatch.setattr(backend, "batch_size", 5)
    assert by_sample(backend.replies(plan[::-1])) == together


def test_greedy_equals_a_plain_loop_over_the_model(settings):
    """One prompt at a time, no padding, no cache, no generate()."""
    backend = HFBackend(settings.model_copy(update={"temperature": 0.0, "top_p": 1.0}), batch_size=3)
    texts = {"a": "Sum.", "b": "Write a kernel that transposes a matrix of floats.", "c": "x" * 90}
    requests = [ask(text, task=task) for task, text in texts.items()]
    messages = {request.task: request.messages for request in requests}
    for reply in backend.replies(requests):
        ids = backend._prompter.encode(messages[reply.task]).ids
        expected = []
        while len(expected) < 12 and (not expected or expected[-1] not in backend._stop_ids):
            with torch.inference_mode():
                expected.append(backend.model(torch.tensor([ids + expected])).logits[0, -1].argmax().item())
        assert (reply.tokens, reply.prompt_tokens) == (len(expected), len(ids))
        written = [token for token in expected if token not in backend._stop_ids]
        assert reply.answer == backend._prompter.decode(written)


def test_a_generation_config_that_is_cut_off_is_refused(model_copy, settings, adapter, tmp_path):
    """The end tokens that it names were lost without a word, where it is the model's."""
    (shutil.copytree(adapter, tmp_path / "adapter") / "generation_config.json").write_text("{")
    (model_copy / "generation_config.json").write_text('{"eos_token_id": [5')
    for changes, folder in (({}, model_copy), ({"adapter": str(tmp_path / "adapter")}, tmp_path / "adapter")):
        with pytest.raises(InputError, match=f"{folder}/generation_config.json cannot be read; copy it again: "):
            HFBackend(settings.model_copy(update={"model": str(model_copy), **changes}), batch_size=1)


def test_tokens_count_the_end_token_and_no_padding(model_copy, settings):
    """With 40 end tokens out of 1024, so that some of the answers end early."""
    ends = list(range(500, 540))
    (model_copy / "generation_config.json").write_text(json.dumps({"eos_token_id": ends}))
    changes = {"model": str(model_copy), "temperature": 3.0, "top_p": 1.0, "max_tokens": 30}
    backend = HFBackend(settings.model_copy(update=changes), batch_size=12)
    backend.continuous = False  # generate() gives rows of one length
    seen = []
    original = backend.model.generate
    backend.model.generate = lambda **arguments: seen.append((arguments, original(**arguments))) or seen[-1][1]
    requests = [ask(sample=sample, seed=sample) for sample in range(12)]
    replies = list(backend.replies(requests))
    width = seen[0][0]["input_ids"].shape[1]
    stop = {*ends, backend._prompter.tokenizer.eos_token_id}
    backend.continuous = True
    assert by_sample(backend.replies(requests)) == by_sample(replies)
    for reply, row in zip(replies, seen[0][1][:, width:].tolist(), strict=True):
        end = next((index for index, token in enumerate(row) if token in stop), None)
        assert reply.finish_reason == ("length" if end is None else "stop")
        assert reply.tokens == (30 if end is None else end + 1)
        assert reply.answer == backend._prompter.decode(row[:end])
        assert "<|endoftext|>" not in reply.answer  # the padding
    assert {reply.finish_reason for reply in replies} == {"stop", "length"}  # both were seen


class Scarce:
    """Memory for so many rows only: the real model's forward pass fails beyond, as CUDA's allocator does."""

    def __init__(self, model, rows, calls=0):
        self.batches = []

        def check(module, arguments, named):
            self.batches.append(named["input_ids"].shape[0])
            if self.batches[-1] > rows and len(self.batches) > calls:
                raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total ...")

        model.register_forward_pre_hook(check, with_kwargs=True)


@pytest.mark.parametrize(("calls", "size"), [(0, 2), (32, 1)])  # at once, and when eight answers are there
def test_out_of_memory_halves_the_batch_and_goes_on(calls, size, settings, backend, kernels, caplog):
    plan = make_plan(kernels.tasks[:5], settings, 2)
    scarce = HFBackend(settings, batch_size=8)
    memory = Scarce(scarce.model, 3, calls)
    with caplog.at_level(logging.WARNING):
        replies = list(scarce.replies(plan))
    assert by_sample(replies) == by_sample(backend.replies(plan)) and len(replies) == 10
    assert [reply.extra["batch_size"] for reply in replies] == ([size] * 10 if calls == 0 else [8] * 8 + [size] * 2)
    assert f"going on with {size}" in caplog.text and scarce.batch_size == size and max(memory.batches) == 8


def test_out_of_memory_with_one_sample_fails_that_sample_only(settings, kernels, tmp_path):
    scarce = HFBackend(settings, batch_size=2)
    Scarce(scarce.model, rows=0)
    output = tmp_path / "a.jsonl"
    summary = generate(kernels.tasks[:2], settings, samples=1, output=output, open_backend=lambda: scarce)
    assert (summary.made, len(summary.failures)) == (0, 2)
    assert "lower max_tokens (CUDA out of memory" in summary.failures[0].message
    assert read_answers(output) == []


def test_prompt_and_answer_must_fit_into_the_context(settings, kernels):
    backend = HFBackend(settings.model_copy(update={"max_tokens": 8000}), batch_size=1)
    said = r"with max_tokens=8000 .* context of 8192: give max_tokens=7\d+ or less"
    with pytest.raises(GenerationError, match=said):
        next(backend.replies(make_plan(kernels.tasks[:1], settings, 1)))


def test_generation_config_of_the_model_does_not_shape_answers(model_copy, settings, backend, adapter):
    config = {"do_sample": True, "top_k": 1, "repetition_penalty": 3.0, "temperature": 9.0, "eos_token_id": [7, 9]}
    (model_copy / "generation_config.json").write_text(json.dumps(config))
    other = HFBackend(settings.model_copy(update={"model": str(model_copy)}), batch_size=8)
    requests = [ask(sample=sample, seed=sample) for sample in range(6)]
    for ours, theirs in zip(backend.replies(requests), other.replies(requests), strict=True):
        if theirs.finish_reason == "length":
            assert theirs.answer == ours.answer
    assert other._stop_ids == {7, 9} | backend._stop_ids  # its end tokens are taken over
    beside = {"adapter": str(shutil.copytree(adapter, model_copy / "checkpoint-1"))}
    assert HFBackend(settings.model_copy(update=beside), batch_size=1)._stop_ids == other._stop_ids


def test_adapter_is_applied(settings, backend, adapter):
    from peft import PeftModel
    from transformers import AutoModelForCausalLM

    with_adapter = HFBackend(settings.model_copy(update={"adapter": str(adapter), "temperature": 0.0}), batch_size=2)
    reference = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(settings.model), adapter).eval()
    ids = torch.tensor([with_adapter._prompter.encode(ask().messages).ids])
    with torch.inference_mode():
        torch.testing.assert_close(with_adapter.model(ids).logits, reference(ids).logits, atol=1e-4, rtol=1e-4)
        assert not torch.allclose(backend.model(ids).logits, reference(ids).logits, atol=1e-2)


def test_adapter_beside_four_bits(tiny_model, tmp_path, settings):
    """It is not merged there. Against batches of `generate`, in float32; LLaMA-Factory names the task in its adapters, others do not."""
    pytest.importorskip("bitsandbytes")
    from transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig

    # On CPUs with AVX-512 BF16, bitsandbytes takes no rows shorter than its blocks of 64.
    tiny_model = make_another(tiny_model, tmp_path / "wide", hidden_size=64, intermediate_size=128)
    four = {"bnb_4bit_compute_dtype": torch.float32, "bnb_4bit_use_double_quant": True, "bnb_4bit_quant_type": "nf4"}
    four = BitsAndBytesConfig(load_in_4bit=True, **four)
    model = AutoModelForCausalLM.from_pretrained(tiny_model, quantization_config=four, device_map={"": "cpu"})
    model.save_pretrained(tmp_path / "model")
    AutoTokenizer.from_pretrained(tiny_model).save_pretrained(tmp_path / "model")
    for task_type in ("CAUSAL_LM", None):
        make_adapter(tiny_model, tmp_path / "adapter", task_type)
        both = {"model": str(tmp_path / "model"), "adapter": str(tmp_path / "adapter"), "max_tokens": 25}
        backend = HFBackend(settings.model_copy(update=both), batch_size=2)
        assert backend.continuous
        requests = [ask(text, task=text) for text in ("Sum.", "x" * 90, "Write a kernel.")]
        slotted = by_sample(backend.replies(requests))
        backend.continuous = False
        assert slotted == by_sample(backend.replies(requests))
        assert {tokens for _, tokens, _, _ in slotted.values()} == {25}
        quantised = {**both, "model": str(tiny_model), "quantization_bit": 4}
        assert slotted == by_sample(HFBackend(settings.model_copy(update=quantised), batch_size=2).replies(requests))


def test_broken_weights_are_a_sentence(tiny_model, model_copy, settings):
    settings, file = settings.model_copy(update={"model": str(model_copy)}), model_copy / "model.safetensors"
    file.write_bytes(b"\0" * 64)
    with pytest.raises(InputError, match="cannot load the model of"):
        HFBackend(settings, batch_size=1)
    weights = load_file(tiny_model / "model.safetensors")
    del weights["model.norm.weight"]
    save_file(weights, file, metadata={"format": "pt"})
    with pytest.raises(GenerationError, match=r"1 of the model's weights are missing .*model\.norm\.weight"):
        HFBackend(settings, batch_size=1)


def test_fingerprint_tells_trained_weights_apart(tiny_model, adapter, tmp_path):
    assert weights_fingerprint("owner/name") is None
    assert weights_fingerprint(str(tiny_model), str(adapter)) != weights_fingerprint(str(tiny_model))
    for folder, name in ((tiny_model, "model.safetensors"), (adapter, "adapter_model.safetensors")):
        file = shutil.copytree(folder, tmp_path / name) / name
        before = weights_fingerprint("owner/name", str(folder))
        (file.parent / "training_args.bin").write_bytes(b"the recipe, which a copy need not have")
        assert weights_fingerprint(str(file.parent)) == before is not None
        data = bytearray(file.read_bytes())
        data[-1] ^= 1
        file.write_bytes(data)
        assert weights_fingerprint("owner/name", str(file.parent)) not in (None, before)
