"""Generation with a real (tiny) Hugging Face model on the CPU: sampling, batches, tokens, adapters, resuming, the command."""

import itertools
import json
import logging
import math
import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from typer.testing import CliRunner

from cuset_stage.cli._app import app
from cuset_stage.evaluation.answers import read_answers
from cuset_stage.evaluation.generation import Backend, GenerationError, Reply, Settings, generate, weights_fingerprint
from cuset_stage.evaluation.generation.hf import HFBackend, check_model_folders, resolve_dtype
from cuset_stage.evaluation.generation.plan import Request, make_plan, sample_seed
from cuset_stage.evaluation.generation.sampling import gumbel_noise, make_processors, mix
from cuset_stage.evaluation.tasks import load_tasks


SPLITMIX_1234567 = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]


@pytest.fixture(scope="module")
def kernels(request):
    return load_tasks(request.config.rootpath / "data" / "kernels")


@pytest.fixture(scope="module")
def chat_settings(tiny_model):
    return Settings(Backend.HF, str(tiny_model), max_tokens=12, dtype="float32", temperature=1.0, top_p=0.9, seed=5)


@pytest.fixture(scope="module")
def backend(chat_settings):
    return HFBackend(chat_settings, batch_size=8)


@pytest.fixture(scope="module")
def adapter(tiny_model, tmp_path_factory):
    """A LoRA adapter made by peft, with weights that change what the model says."""
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    torch.manual_seed(1)
    model = AutoModelForCausalLM.from_pretrained(tiny_model)
    model = get_peft_model(model, LoraConfig(r=4, target_modules="all-linear", init_lora_weights=False))
    path = tmp_path_factory.mktemp("adapter")
    model.save_pretrained(path)
    return path


def ask(text="Write a kernel.", sample=0, seed=1, task="t"):
    return Request(task, sample, ({"role": "user", "content": text},), seed, "")


def chi_square(counts: np.ndarray, probabilities: np.ndarray) -> float:
    """Pearson's statistic over its number of degrees of freedom: about 1 when the counts follow the probabilities."""
    expected = probabilities * counts.sum()
    kept = expected >= 5
    return float((((counts - expected)[kept] ** 2) / expected[kept]).sum() / (kept.sum() - 1))


# ---- random numbers


def test_output_function_is_splitmix64s():
    state = torch.tensor([1234567 + step * 0x9E3779B97F4A7C15 % 2**64 for step in range(1, 5)], dtype=torch.uint64)
    assert mix(state.view(torch.int64)).view(torch.uint64).tolist() == SPLITMIX_1234567


def test_noise_is_standard_gumbel_and_independent():
    noise = gumbel_noise(torch.arange(400), step=3, vocab_size=1000)  # [400, 1000]
    count = noise.numel()
    assert abs(noise.mean().item() - np.euler_gamma) < 4 * math.pi / math.sqrt(6 * count)
    assert abs(noise.var().item() - math.pi**2 / 6) < 0.03
    uniform = torch.exp(-torch.exp(-noise))
    bins = torch.histc(uniform, 64, 0, 1).numpy()
    assert chi_square(bins, np.full(64, 1 / 64)) < 1.8
    other = gumbel_noise(torch.arange(400), step=4, vocab_size=1000)
    for first, second in ((noise[:, 1:], noise[:, :-1]), (noise[1:], noise[:-1]), (noise, other)):
        correlation = torch.corrcoef(torch.stack([first.flatten(), second.flatten()]))[0, 1].item()
        assert abs(correlation) < 4 / math.sqrt(first.numel())


def test_noise_belongs_to_seed_step_and_token_alone():
    noise = gumbel_noise(torch.tensor([7, 8, 9]), step=2, vocab_size=50)
    assert torch.equal(noise[1:2, :20], gumbel_noise(torch.tensor([8]), step=2, vocab_size=20))
    assert torch.equal(noise, gumbel_noise(torch.tensor([7, 8, 9]), step=2, vocab_size=50))
    assert not torch.equal(noise[0], noise[1])


@pytest.mark.parametrize(("temperature", "top_p"), [(1.0, 1.0), (0.5, 1.0), (2.0, 1.0), (1.0, 0.7), (0.8, 0.95)])
def test_draws_follow_the_softmax(temperature, top_p):
    """Against probabilities worked out here: over rows (many samples) and over steps (one long sample)."""
    logits = torch.tensor([2.0, 1.0, 0.5, 0.0, -1.0, -3.0])
    expected = torch.softmax(logits / temperature, 0).numpy()
    before = np.concatenate([[0], np.cumsum(expected)[:-1]])  # the logits are sorted: mass of the likelier tokens
    expected = np.where(before < top_p, expected, 0)
    expected /= expected.sum()

    rows = 20_000
    processors = make_processors(list(range(rows)), 4, temperature=temperature, top_p=top_p)
    drawn = processors(torch.zeros(rows, 4, dtype=torch.long), logits.repeat(rows, 1)).argmax(-1)
    counts = np.bincount(drawn.numpy(), minlength=6)
    assert not counts[expected == 0].any()
    assert chi_square(counts, expected) < 3.5

    steps = 4_000
    processors = make_processors([11], 0, temperature=temperature, top_p=top_p)
    drawn = [processors(torch.zeros(1, step, dtype=torch.long), logits[None]).argmax().item() for step in range(steps)]
    assert chi_square(np.bincount(drawn, minlength=6), expected) < 3.5
    pairs = np.bincount([6 * a + b for a, b in itertools.pairwise(drawn)], minlength=36)
    assert chi_square(pairs, np.outer(expected, expected).flatten()) < 2.5


def test_first_tokens_follow_the_models_own_distribution(chat_settings):
    backend = HFBackend(replace(chat_settings, max_tokens=1, top_p=1.0, temperature=0.3), batch_size=500)
    model = backend.model
    prompt = backend._prompter.encode(ask().messages)
    with torch.inference_mode():
        expected = torch.softmax(model(torch.tensor([prompt.ids])).logits[0, -1].double() / 0.3, 0).numpy()
    seen = []
    original = model.generate
    model.generate = lambda **arguments: seen.append(original(**arguments)) or seen[-1]
    list(backend.replies([ask(sample=sample, seed=sample_seed(0, "t", sample)) for sample in range(3000)]))
    counts = np.bincount(torch.cat(seen)[:, -1].numpy(), minlength=len(expected))
    order = np.argsort(-expected)
    groups = np.array_split(order, 40)  # the tail has too few draws a token
    assert (
        chi_square(
            np.array([counts[group].sum() for group in groups]), np.array([expected[group].sum() for group in groups])
        )
        < 1.8
    )


def test_sample_seeds_differ_and_stay():
    seeds = {sample_seed(seed, task, sample) for seed in range(5) for task in ("a", "b") for sample in range(50)}
    assert len(seeds) == 500
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert sample_seed(0, "scan", 0) == sample_seed(0, "scan", 0)


# ---- batches


def by_sample(replies):
    return {
        (reply.request.task, reply.request.sample): (
            reply.answer,
            reply.tokens,
            reply.prompt_tokens,
            reply.finish_reason,
        )
        for reply in replies
    }


def test_batch_size_and_order_do_not_change_answers(chat_settings, backend, kernels):
    plan = make_plan(kernels.tasks[:4], chat_settings, 3)
    together = by_sample(backend.replies(plan))
    assert len(set(together.values())) == 12
    alone = HFBackend(chat_settings, batch_size=1)
    assert by_sample(alone.replies(plan[:5])).items() <= together.items()
    five = HFBackend(chat_settings, batch_size=5)
    assert by_sample(five.replies(plan[::-1])) == together


def test_greedy_equals_a_plain_loop_over_the_model(chat_settings):
    """One prompt at a time, no padding, no cache, no generate()."""
    backend = HFBackend(replace(chat_settings, temperature=0.0, top_p=1.0), batch_size=3)
    requests = [
        ask("Sum.", task="a"),
        ask("Write a kernel that transposes a matrix of floats.", task="b"),
        ask("x" * 90, task="c"),
    ]
    for reply in backend.replies(requests):
        ids = backend._prompter.encode(reply.request.messages).ids
        expected = []
        while len(expected) < 12 and (not expected or expected[-1] not in backend._stop_ids):
            with torch.inference_mode():
                expected.append(backend.model(torch.tensor([ids + expected])).logits[0, -1].argmax().item())
        assert reply.tokens == len(expected)
        assert reply.prompt_tokens == len(ids)
        assert reply.answer == backend._prompter.decode(
            [token for token in expected if token not in backend._stop_ids]
        )


def test_tokens_count_the_end_token_and_no_padding(tiny_model, tmp_path, chat_settings):
    """With 40 end tokens out of 1024, so that some of the answers end early."""
    copy = tmp_path / "model"
    shutil.copytree(tiny_model, copy)
    ends = list(range(500, 540))
    (copy / "generation_config.json").write_text(json.dumps({"eos_token_id": ends}))
    settings = replace(chat_settings, model=str(copy), temperature=3.0, top_p=1.0, max_tokens=30)
    backend = HFBackend(settings, batch_size=12)
    seen = []
    original = backend.model.generate
    backend.model.generate = lambda **arguments: seen.append((arguments, original(**arguments))) or seen[-1][1]
    replies = list(backend.replies([ask(sample=sample, seed=sample) for sample in range(12)]))
    width = seen[0][0]["input_ids"].shape[1]
    stop = {*ends, backend._prompter.tokenizer.eos_token_id}
    reasons = set()
    for reply, row in zip(replies, seen[0][1][:, width:].tolist(), strict=True):
        end = next((index for index, token in enumerate(row) if token in stop), None)
        reasons.add(reply.finish_reason)
        assert reply.finish_reason == ("length" if end is None else "stop")
        assert reply.tokens == (30 if end is None else end + 1)
        assert reply.answer == backend._prompter.decode(row[:end])
        assert "<|endoftext|>" not in reply.answer  # the padding
    assert reasons == {"stop", "length"}  # both were seen


class Scarce:
    """Memory for so many rows only: the real model's forward pass fails beyond, as CUDA's allocator does."""

    def __init__(self, model, rows):
        self.batches = []

        def check(module, arguments, named):
            self.batches.append(named["input_ids"].shape[0])
            if self.batches[-1] > rows:
                raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total ...")

        model.register_forward_pre_hook(check, with_kwargs=True)


def test_out_of_memory_halves_the_batch_and_goes_on(chat_settings, backend, kernels, caplog):
    plan = make_plan(kernels.tasks[:5], chat_settings, 2)
    scarce = HFBackend(chat_settings, batch_size=8)
    memory = Scarce(scarce.model, rows=3)
    with caplog.at_level(logging.WARNING):
        replies = list(scarce.replies(plan))
    assert by_sample(replies) == by_sample(backend.replies(plan))
    assert max(memory.batches) == 8
    assert scarce.batch_size == 2
    assert {reply.extra["batch_size"] for reply in replies} == {2}
    assert "going on with 2" in caplog.text


def test_out_of_memory_with_one_sample_fails_that_sample_only(chat_settings, kernels, tmp_path):
    scarce = HFBackend(chat_settings, batch_size=2)
    Scarce(scarce.model, rows=0)
    summary = generate(
        kernels.tasks[:2], chat_settings, samples=1, output=tmp_path / "a.jsonl", open_backend=lambda: scarce
    )
    assert (summary.made, len(summary.failures)) == (0, 2)
    assert "lower --max-tokens (CUDA out of memory" in summary.failures[0].message
    assert read_answers(tmp_path / "a.jsonl") == []


def test_other_errors_are_not_taken_for_lack_of_memory(chat_settings):
    broken = HFBackend(chat_settings, batch_size=2)

    def fail(module, arguments):
        raise RuntimeError("shapes do not fit")

    broken.model.register_forward_pre_hook(fail)
    with pytest.raises(RuntimeError, match="shapes do not fit"):
        list(broken.replies([ask()]))


def test_prompt_and_answer_must_fit_into_the_context(chat_settings, kernels):
    backend = HFBackend(replace(chat_settings, max_tokens=8000), batch_size=1)
    plan = make_plan(kernels.tasks[:1], chat_settings, 1)
    with pytest.raises(
        GenerationError, match=r"with --max-tokens 8000 .* context of 8192: give --max-tokens 7\d+ or less"
    ):
        next(backend.replies(plan))


def test_generation_config_of_the_model_does_not_shape_answers(tiny_model, tmp_path, chat_settings, backend):
    copy = tmp_path / "model"
    shutil.copytree(tiny_model, copy)
    (copy / "generation_config.json").write_text(
        json.dumps(
            {"do_sample": True, "top_k": 1, "repetition_penalty": 3.0, "temperature": 9.0, "eos_token_id": [2, 7]}
        )
    )
    other = HFBackend(replace(chat_settings, model=str(copy)), batch_size=8)
    requests = [ask(sample=sample, seed=sample) for sample in range(6)]
    for ours, theirs in zip(backend.replies(requests), other.replies(requests), strict=True):
        if theirs.finish_reason == "length":
            assert theirs.answer == ours.answer
    assert 7 in other._stop_ids  # its end tokens are taken over


# ---- prompts


def test_prompt_is_the_tokenizers_chat_template(backend):
    tokenizer = backend._prompter.tokenizer
    messages = ({"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"})
    text = "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    assert backend._prompter.encode(messages).ids == tokenizer(text)["input_ids"]


@pytest.fixture
def templated(tiny_model, tmp_path, chat_settings):
    """The tiny model with another chat template, or none."""

    def make(template, **changes):
        copy = tmp_path / "model"
        shutil.copytree(tiny_model, copy)
        (copy / "chat_template.jinja").unlink()
        if template is not None:
            (copy / "chat_template.jinja").write_text(template)
        return HFBackend(replace(chat_settings, model=str(copy), **changes), batch_size=2)

    return make


def test_tokenizer_without_template_is_refused(templated):
    with pytest.raises(GenerationError, match=r"its tokenizer has no chat template.*--template qwen"):
        templated(None)


def test_factory_template_gives_the_same_prompt(templated, backend):
    named = templated(None, template="qwen")
    messages = ({"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"})
    assert named._prompter.encode(messages).ids == backend._prompter.encode(messages).ids
    assert named._stop_ids == backend._stop_ids
    assert by_sample(named.replies([replace(ask(), messages=messages)])) == by_sample(
        backend.replies([replace(ask(), messages=messages)])
    )


def test_unknown_factory_template_names_its_neighbours(templated):
    with pytest.raises(GenerationError, match=r"--template qwem: .*did you mean qwen"):
        templated(None, template="qwem")


def test_template_without_system_role(templated, caplog):
    strict = templated(
        "{% for message in messages %}{% if message.role == 'system' %}{{ raise_exception('System role not supported') }}"
        "{% endif %}[{{ message.content }}]{% endfor %}"
    )
    messages = ({"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"})
    with caplog.at_level(logging.WARNING):
        prompt = strict._prompter.encode(messages)
    assert strict._prompter.tokenizer.decode(prompt.ids) == "[Be brief.\n\nHi]"
    assert "takes no system message" in caplog.text


def test_reasoning_opened_by_the_template_is_part_of_the_answer(templated):
    thinking = templated(
        "{{ messages[-1].content }}<|im_start|>assistant\n{% if think %}<think>\n{% endif %}",
        template_args={"think": True},
    )
    assert next(thinking.replies([ask()])).answer.startswith("<think>")
    thinking._prompter._arguments = {"think": False}
    assert not next(thinking.replies([ask()])).answer.startswith("<think>")


# ---- adapters and models


def test_adapter_is_applied(chat_settings, backend, adapter):
    from peft import PeftModel
    from transformers import AutoModelForCausalLM

    with_adapter = HFBackend(replace(chat_settings, adapter=str(adapter), temperature=0.0), batch_size=2)
    reference = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(chat_settings.model), adapter).eval()
    ids = torch.tensor([with_adapter._prompter.encode(ask().messages).ids])
    with torch.inference_mode():
        torch.testing.assert_close(with_adapter.model(ids).logits, reference(ids).logits, atol=1e-4, rtol=1e-4)
        assert not torch.allclose(backend.model(ids).logits, reference(ids).logits, atol=1e-2)


def test_adapter_of_another_model_is_refused(tmp_path, chat_settings, adapter):
    other = tmp_path / "adapter"
    shutil.copytree(adapter, other)
    config = json.loads((other / "adapter_config.json").read_text())
    (other / "adapter_config.json").write_text(json.dumps({**config, "target_modules": ["q_proj"]}))
    with pytest.raises(GenerationError, match=r"does not fit the model: \d+ of its \d+ weights have no place"):
        HFBackend(replace(chat_settings, adapter=str(other)), batch_size=1)


@pytest.mark.parametrize(
    ("model", "adapter_name", "message"),
    [
        ("ADAPTER", None, "this is an adapter; give it as --adapter"),
        ("EMPTY", None, "no config.json there"),
        ("/nowhere/model", None, "there is no such folder"),
        ("MODEL", "EMPTY", "no adapter_config.json there"),
    ],
)
def test_wrong_folders_are_named(tiny_model, adapter, tmp_path, model, adapter_name, message):
    folders = {"ADAPTER": str(adapter), "EMPTY": str(tmp_path), "MODEL": str(tiny_model)}
    with pytest.raises(GenerationError, match=message):
        check_model_folders(folders.get(model, model), folders.get(adapter_name, adapter_name))


def test_broken_weights_are_a_sentence(tiny_model, tmp_path, chat_settings):
    copy = tmp_path / "model"
    shutil.copytree(tiny_model, copy)
    (copy / "model.safetensors").write_bytes(b"\0" * 64)
    with pytest.raises(GenerationError, match="cannot load the model of"):
        HFBackend(replace(chat_settings, model=str(copy)), batch_size=1)
    weights = load_file(tiny_model / "model.safetensors")
    del weights["model.norm.weight"]
    save_file(weights, copy / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(GenerationError, match=r"1 of the model's weights are missing .*model\.norm\.weight"):
        HFBackend(replace(chat_settings, model=str(copy)), batch_size=1)


def test_dtype_on_the_cpu():
    assert resolve_dtype("auto", "cpu") == "float32"
    assert resolve_dtype("bfloat16", "cpu") == "bfloat16"
    with pytest.raises(GenerationError, match="one of auto, bfloat16"):
        resolve_dtype("bf16", "cpu")


def test_fingerprint_tells_trained_weights_apart(tiny_model, adapter, tmp_path):
    base = weights_fingerprint(str(tiny_model), None)
    copy = tmp_path / "copy"
    shutil.copytree(tiny_model, copy)
    assert weights_fingerprint(str(copy), None) == base
    assert weights_fingerprint(str(tiny_model), str(adapter)) != base
    data = bytearray((copy / "model.safetensors").read_bytes())
    data[-1] ^= 1
    (copy / "model.safetensors").write_bytes(data)
    assert weights_fingerprint(str(copy)) != base
    assert weights_fingerprint("owner/name") is None


# ---- the file


def test_run_that_was_killed_goes_on_to_the_same_answers(chat_settings, backend, kernels, tmp_path):
    class Dies:
        def replies(self, requests):
            for number, reply in enumerate(backend.replies(requests)):
                if number == 9:
                    raise KeyboardInterrupt
                yield reply

    def run(output, opened, samples=3):
        return generate(kernels.tasks[:5], chat_settings, samples=samples, output=output, open_backend=lambda: opened)

    whole, stopped = tmp_path / "whole.jsonl", tmp_path / "stopped.jsonl"
    assert run(whole, backend).made == 15
    with pytest.raises(KeyboardInterrupt):
        run(stopped, Dies())
    with stopped.open("a") as handle:
        handle.write('{"task": "half a li')  # killed while it wrote
    summary = run(stopped, backend)
    assert (summary.kept, summary.made) == (9, 6)

    def content(path):
        return sorted((answer.task, answer.sample, answer.answer, answer.tokens) for answer in read_answers(path))

    assert content(stopped) == content(whole)

    def unneeded():
        raise AssertionError("nothing is missing: the model must not be loaded")

    before = whole.read_bytes()
    assert generate(kernels.tasks[:5], chat_settings, samples=2, output=whole, open_backend=unneeded).made == 0
    assert whole.read_bytes() == before
    assert run(whole, backend, samples=4).made == 5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"temperature": 0.5}, "temperature=1.0, this run has temperature=0.5"),
        ({"top_p": 1.0}, "top_p=0.9, this run has top_p=1.0"),
        ({"seed": 6}, "seed=5, this run has seed=6"),
        ({"max_tokens": 13}, "max_tokens=12, this run has max_tokens=13"),
        ({"model": "other"}, "this run has model='other'"),
        ({"adapter": "lora"}, r"adapter=\(not recorded\), this run has adapter='lora'"),
        ({"weights": "ab"}, "this run has weights='ab'"),
        ({"backend": Backend.ENDPOINT}, "backend='hf', this run has backend='endpoint'"),
        ({"template_args": {"a": 1}}, "template_args"),
        ({"system": ""}, "system"),
    ],
)
def test_other_settings_are_refused_by_name(chat_settings, kernels, tmp_path, change, message):
    file = tmp_path / "a.jsonl"

    class One:
        def replies(self, requests):
            return iter([Reply(requests[0], "x")])

    generate(kernels.tasks[:1], chat_settings, samples=1, output=file, open_backend=One)
    before = file.read_bytes()
    with pytest.raises(GenerationError, match=message) as error:
        generate(kernels.tasks[:1], replace(chat_settings, **change), samples=1, output=file, open_backend=One)
    assert f"{file}:1 was made with" in str(error.value)
    assert file.read_bytes() == before


def test_changed_prompt_is_refused(chat_settings, kernels, tmp_path):
    class One:
        def replies(self, requests):
            return iter([Reply(requests[0], "x")])

    task = kernels.tasks[0]
    generate([task], chat_settings, samples=1, output=tmp_path / "a.jsonl", open_backend=One)
    changed = replace(task, prompts={1: task.prompts[1] + " Be fast."})
    with pytest.raises(GenerationError, match=f"answers another prompt of task '{task.id}'"):
        generate([changed], chat_settings, samples=1, output=tmp_path / "a.jsonl", open_backend=One)


def test_system_prompt_of_ones_own(chat_settings, kernels):
    task = replace(kernels.tasks[0], system="The set's.")
    for system, expected in ((None, ["The set's."]), ("Mine.", ["Mine."]), ("", [])):
        request = make_plan([task], replace(chat_settings, system=system), 1)[0]
        assert [message["content"] for message in request.messages if message["role"] == "system"] == expected


@pytest.mark.parametrize(
    "change",
    [
        {"temperature": -0.1},
        {"temperature": math.nan},
        {"top_p": 0.0},
        {"top_p": 1.1},
        {"level": 4},
        {"max_tokens": 0},
    ],
)
def test_settings_out_of_range(chat_settings, change):
    with pytest.raises(GenerationError, match=f"--{next(iter(change)).replace('_', '-')}"):
        replace(chat_settings, **change)


# ---- the command


@pytest.fixture
def command(tiny_model, request, tmp_path):
    def run(*options, output="answers.jsonl"):
        tasks = request.config.rootpath / "data" / "kernels"
        return CliRunner().invoke(
            app,
            ["generate", "--tasks", str(tasks), "--output", str(tmp_path / output), "--model", str(tiny_model), "--device", "cpu",
             "--max-tokens", "8", *options],
        )  # fmt: skip

    return run


def test_command_writes_and_goes_on(command, tmp_path, tiny_model):
    sampled = ("--samples", "2", "--temperature", "0.8", "--top-p", "0.95", "--seed", "3", "--batch-size", "3")
    done = command("--only", "tiled_sgemm,row_argmax", *sampled)
    assert done.exit_code == 0, done.output
    assert "(4 made, 0 there before, 0 failed)" in done.output
    lines = [json.loads(line) for line in (tmp_path / "answers.jsonl").read_text().splitlines()]
    assert {(line["task"], line["sample"]) for line in lines} == {
        (task, sample) for task in ("tiled_sgemm", "row_argmax") for sample in (0, 1)
    }
    recorded = {"model": str(tiny_model), "adapter": None, "level": 1, "temperature": 0.8, "top_p": 0.95, "seed": 3,
                "max_tokens": 8, "dtype": "float32", "backend": "hf", "system": None, "template": None}  # fmt: skip
    assert all(recorded.items() <= line.items() for line in lines)
    done = command("--split", "eval", "--limit", "3", *sampled)
    assert "there before" in done.output
    assert "(6 made, 0 there before, 0 failed)" in done.output or "(4 made, 2 there before, 0 failed)" in done.output
    refused = command("--only", "tiled_sgemm", *sampled[:-4], "--seed", "4")
    assert refused.exit_code == 2
    assert "seed=3, this run has seed=4" in refused.output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--samples", "3"], "greedy decoding writes the same answer every time"),
        (["--samples", "0"], "--samples 0: at least 1"),
        (["--level", "2"], "no prompt of level 2"),
        (["--only", "tiled_sgem"], "tiled_sgemm"),
        (["--limit", "0"], "--limit 0: at least 1"),
        (["--batch-size", "0"], "--batch-size 0: at least 1"),
        (["--extra-body", "{}"], "--extra-body is not for a model of our own"),
        (["--template-args", "[1]"], "expected a JSON object"),
        (["--template-args", "{"], "--template-args: not JSON"),
        (["--endpoint", "localhost:8000"], "expected an address such as"),
        (["--endpoint", "http://localhost:1/v1", "--adapter", "a"], "--adapter is not for an endpoint"),
        (
            ["--endpoint", "http://localhost:1/v1", "--api-key-env", "NO_SUCH_KEY"],
            "NO_SUCH_KEY: this environment variable",
        ),
        (["--device", "cuda"], "torch sees no CUDA GPU here"),
    ],
)
def test_command_refuses_with_a_sentence(command, options, message):
    if options == ["--device", "cuda"] and torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    done = command(*options)
    assert done.exit_code == 2, done.output
    assert message in done.output
    assert "Traceback" not in done.output
