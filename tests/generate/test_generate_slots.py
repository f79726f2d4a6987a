"""Continuous batching on the CPU: it writes what the plain model says, for the kinds of models that it takes, and no others."""

import functools
from types import SimpleNamespace

import pytest
import torch
import transformers
from transformers import AutoModelForCausalLM

from cuset_stage.generate import slots as module
from cuset_stage.generate.sampling import draw, draw_among
from cuset_stage.generate.slots import Slots, can_write


SIZES = dict(vocab_size=300, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4)
SIZES |= dict(num_key_value_heads=2, max_position_embeddings=64, pad_token_id=0, bos_token_id=1, eos_token_id=2)
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16, "rope_theta": 10000.0}
TAKEN = {
    "Llama": {},
    "Qwen2": {},
    "Qwen3": {"head_dim": 16},
    "Mistral": {"sliding_window": None},
    "Phi3": {"sliding_window": None},
    "GPTNeoX": {},
    "GPT2": {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64},
}
LEFT = {
    "Qwen2": {"use_sliding_window": True, "sliding_window": 8, "max_window_layers": 1},
    "Mistral": {"sliding_window": 8},
    "Gemma2": {"head_dim": 16, "sliding_window": 8},
    "Mixtral": {"num_local_experts": 4},
    "Mamba": {},
}


def make(name, **changes):
    config = getattr(transformers, f"{name}Config")(**{**SIZES, **changes})
    torch.manual_seed(3)
    model = AutoModelForCausalLM.from_config(config).eval()
    for parameter in model.parameters():  # far enough from even odds that a wrong position or mask is another token
        if parameter.ndim > 1:
            parameter.data.mul_(6)
    return model


def prompts(*lengths):
    generator = torch.Generator().manual_seed(5)
    return [(torch.randint(3, 300, (length,), generator=generator).tolist(), 40 + length) for length in lengths]


def plainly(model, ids, seed, *, max_tokens, stop_ids, **sampling):
    """One answer, with all of the prompt in every call: no cache, no batch, no padding."""
    written = []
    while len(written) < max_tokens and not (written and written[-1] in stop_ids):
        with torch.inference_mode():
            logits = model(torch.tensor([ids + written])).logits[:, -1].float()
        written.append(draw(logits, torch.tensor([seed]), len(written), **sampling).item())
    return written


@pytest.mark.parametrize(
    ("name", "changes"),
    [*TAKEN.items(), ("Qwen2", {"rope_parameters" if transformers.__version__ >= "5" else "rope_scaling": YARN})],
)
def test_writes_what_the_model_says(name, changes, monkeypatch):
    """More prompts than slots, read in parts; the cache grows twice."""
    monkeypatch.setattr(module, "CHUNK", 5)
    monkeypatch.setattr(module, "GRAIN", 8)
    model = make(name, **changes)
    assert can_write(model)
    questions = prompts(1, 2, 5, 6, 11, 23)
    options = {"max_tokens": 9, "stop_ids": set(range(100, 120)), "temperature": 0.7, "top_p": 0.9}
    written = [answer.ids for answer in sorted(Slots(model, 2, longest=32, **options).write(questions))]
    assert written == [plainly(model, *question, **options) for question in questions]
    assert len(set(map(tuple, written))) == 6


class Replayed(Slots):
    """As on a GPU: chunks of one size and blocks of steps. Replaying a graph computes its step again."""

    def __init__(self, model, count, **options):
        super().__init__(model, count, **options)
        self._graphs, self._stride, self._block = {}, 4, self._zeros(count, 4)

    def _record(self, step, length):
        step(length)
        return SimpleNamespace(replay=functools.partial(step, length))


def test_chunks_that_the_prompt_before_begins_with_are_not_read_again(monkeypatch):
    """The same prompt, one that shares 13 tokens, so two chunks of five, one that shares nothing, and one that goes on."""
    monkeypatch.setattr(module, "CHUNK", 5)
    model, ((first, _), (other, _)) = make("Qwen2"), prompts(23, 12)
    questions = [(first, 1), (first, 2), (first[:13] + other, 3), (other, 4), (first[:10], 5), (first[:15], 6)]
    options = {"max_tokens": 9, "stop_ids": {101}, "temperature": 0.7, "top_p": 0.9}
    expected = [plainly(model, *question, **options) for question in questions]
    shapes = []
    model.register_forward_pre_hook(lambda _, __, named: shapes.append(named["input_ids"].shape), with_kwargs=True)
    for count in (1, 6):  # in the same slot and from another one
        shapes.clear()
        written = sorted(Slots(model, count, longest=40, **options).write(questions))
        assert [answer.ids for answer in written] == expected
        read = [tokens for _, tokens in shapes if tokens > 1]
        assert read == [5, 5, 5, 5, 2, 2, 5, 5, 4, 5, 5, 5, 4, 5, 4]
        replayed = sorted(Replayed(model, count, longest=40, **options).write(questions))
        assert [answer.ids for answer in replayed] == expected


@pytest.mark.parametrize("kind", [Slots, Replayed])
def test_a_free_slot_goes_on_within_the_cache(kind, monkeypatch):
    """The first answer ends at once, and the second where the cache does, while the third goes on in the first's slot."""
    monkeypatch.setattr(module, "GRAIN", 16)
    model, ((prompt, _),) = make("Qwen2"), prompts(9)
    options = {"max_tokens": 8, "temperature": 1.0, "top_p": 1.0}
    whole = {seed: plainly(model, prompt, seed, stop_ids=set(), **options) for seed in range(40)}
    first, stop = next((seed, ids[0]) for seed, ids in whole.items() if ids[0] not in whole[0] + whole[1])
    slots = kind(model, 2, longest=17, stop_ids={stop}, **options)
    written = [answer.ids for answer in sorted(slots.write([(prompt, first), (prompt, 0), (prompt, 1)]))]
    assert written == [[stop], whole[0], whole[1]] and slots._cache.capacity == 16


@pytest.mark.parametrize(("scale", "is_quick"), [(1, False), (60, True), (200, True)])
def test_a_nucleus_wider_than_the_candidates_is_drawn_again(scale, is_quick, monkeypatch):
    """Often, once and never; in blocks of four steps, as on a GPU."""
    monkeypatch.setattr(module, "draw_among", functools.partial(draw_among, count=3))
    monkeypatch.setattr(module, "GRAIN", 8)
    model, questions = make("Qwen2"), prompts(3, 8, 5, 55)
    options = {"max_tokens": 9, "stop_ids": {101}, "temperature": 0.7 / scale, "top_p": 0.9}
    slots = Slots(model, 2, longest=64, **options)
    slots._stride, slots._block = 4, slots._zeros(2, 4)
    written = [answer.ids for answer in sorted(slots.write(questions))]
    assert written == [plainly(model, *question, **options) for question in questions]
    assert slots._is_quick is is_quick and (slots._again > 0) is (scale < 200)


@pytest.mark.parametrize(("name", "changes"), LEFT.items())
def test_other_models_are_left_to_generate(name, changes):
    assert not can_write(make(name, **changes))


def test_embeddings_that_change_with_the_length_are_left_to_generate():
    model = make("Qwen2")
    for kind, taken in (("dynamic", False), ("longrope", False), ("linear", True)):
        rope = {"rope_type": kind, "rope_theta": 1e4, "factor": 2.0}
        model.config.rope_scaling = model.config.rope_parameters = rope
        assert can_write(model) is taken


def test_slot_goes_to_the_next_prompt_as_soon_as_an_answer_ends():
    model = make("Qwen2")
    questions = prompts(3, 4, 5, 6, 7, 8, 9, 10)
    options = {"max_tokens": 12, "stop_ids": set(range(100, 130)), "temperature": 1.0, "top_p": 1.0}
    lengths = [len(plainly(model, *question, **options)) for question in questions]
    assert len(set(lengths)) > 1 and min(lengths) < 12
    ends, shapes = [0, 0], []
    for length in lengths:
        ends[ends.index(min(ends))] += length
    model.register_forward_pre_hook(lambda _, __, named: shapes.append(named["input_ids"].shape), with_kwargs=True)
    written = list(Slots(model, 2, longest=22, **options).write(questions))
    assert [len(answer.ids) for answer in sorted(written)] == lengths
    steps = sum(tokens == 1 for _, tokens in shapes)  # the others read prompts
    assert steps == max(ends) < sum(map(max, zip(lengths[::2], lengths[1::2], strict=True)))
    assert written[0].number == int(lengths[1] < lengths[0])
