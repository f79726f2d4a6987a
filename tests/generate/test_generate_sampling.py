"""Sampling: the random numbers are what they should be, and draws follow the wanted distribution."""

import itertools
import math

import numpy as np
import pytest
import torch

from cuset_stage.generate.plan import sample_seed
from cuset_stage.generate.sampling import draw, draw_among, gumbel_noise, mix
from cuset_stage.generate.slots import Slots


SPLITMIX_1234567 = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]


def chi_square(counts: np.ndarray, probabilities: np.ndarray) -> float:
    """Pearson's statistic over its number of degrees of freedom: about 1 when the counts follow the probabilities."""
    expected = probabilities * counts.sum()
    kept = expected >= 5
    return float((((counts - expected)[kept] ** 2) / expected[kept]).sum() / (kept.sum() - 1))


def test_output_function_is_splitmix64s():
    state = torch.tensor([1234567 + step * 0x9E3779B97F4A7C15 % 2**64 for step in range(1, 5)], dtype=torch.uint64)
    assert mix(state.view(torch.int64)).view(torch.uint64).tolist() == SPLITMIX_1234567


def test_noise_is_standard_gumbel_and_independent():
    noise = gumbel_noise(torch.arange(400), 3, torch.arange(1000))  # [400, 1000]
    count = noise.numel()
    assert abs(noise.mean().item() - np.euler_gamma) < 4 * math.pi / math.sqrt(6 * count)
    assert abs(noise.var().item() - math.pi**2 / 6) < 0.03
    uniform = torch.exp(-torch.exp(-noise))
    bins = torch.histc(uniform, 64, 0, 1).numpy()
    assert chi_square(bins, np.full(64, 1 / 64)) < 1.8
    other = gumbel_noise(torch.arange(400), 4, torch.arange(1000))
    for first, second in ((noise[:, 1:], noise[:, :-1]), (noise[1:], noise[:-1]), (noise, other)):
        correlation = torch.corrcoef(torch.stack([first.flatten(), second.flatten()]))[0, 1].item()
        assert abs(correlation) < 4 / math.sqrt(first.numel())


def test_noise_belongs_to_seed_step_and_token_alone():
    noise = gumbel_noise(torch.tensor([7, 8, 9]), 2, torch.arange(50))
    assert torch.equal(noise[1:2, :20], gumbel_noise(torch.tensor([8]), 2, torch.arange(20)))
    assert torch.equal(noise, gumbel_noise(torch.tensor([7, 8, 9]), 2, torch.arange(50)))
    assert not torch.equal(noise[0], noise[1])
    some = torch.tensor([[3, 1], [4, 1], [5, 9]])
    assert torch.equal(noise.gather(1, some), gumbel_noise(torch.tensor([7, 8, 9]), 2, some))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_few_candidates_draw_what_the_whole_vocabulary_does(dtype):
    """Wherever they say that the nucleus lies among them; bfloat16 makes equally likely tokens, also at its end."""
    generator = torch.Generator().manual_seed(0)
    logits = (torch.randn(4000, 500, generator=generator) * torch.linspace(0.5, 8, 4000)[:, None]).to(dtype).float()
    seeds, shape = torch.arange(4000), {"temperature": 0.8, "top_p": 0.9}
    expected = draw(logits, seeds, 3, **shape)
    for count in (1, 5, 50, 500):
        tokens, is_whole = draw_among(logits, seeds, 3, **shape, count=count)
        assert torch.equal(tokens[is_whole], expected[is_whole])
        assert is_whole.all() if count == 500 else not is_whole.all()
    assert is_whole.any()


@pytest.mark.parametrize(("temperature", "top_p"), [(1.0, 1.0), (0.5, 1.0), (2.0, 1.0), (1.0, 0.7), (0.8, 0.95)])
def test_draws_follow_the_softmax(temperature, top_p):
    """Against probabilities worked out here: over rows (many samples) and over steps (one long sample)."""
    logits = torch.tensor([2.0, 1.0, 0.5, 0.0, -1.0, -3.0])
    expected = torch.softmax(logits / temperature, 0).numpy()
    before = np.concatenate([[0], np.cumsum(expected)[:-1]])  # the logits are sorted: mass of the likelier tokens
    expected = np.where(before < top_p, expected, 0)
    expected /= expected.sum()

    shape = {"temperature": temperature, "top_p": top_p}
    rows = 20_000
    drawn = draw(logits.repeat(rows, 1), torch.arange(rows), 4, **shape)
    counts = np.bincount(drawn.numpy(), minlength=6)
    assert not counts[expected == 0].any()
    assert chi_square(counts, expected) < 3.5

    steps = 2_000
    drawn = draw(logits.repeat(steps, 1), torch.full((steps,), 11), torch.arange(steps), **shape).tolist()
    assert chi_square(np.bincount(drawn, minlength=6), expected) < 3.5
    pairs = np.bincount([6 * a + b for a, b in itertools.pairwise(drawn)], minlength=36)
    assert chi_square(pairs, np.outer(expected, expected).flatten()) < 2.5


def test_first_tokens_follow_the_models_own_distribution(backend):
    model, start = backend.model, 700
    with torch.inference_mode():
        expected = torch.softmax(model(torch.tensor([[start]])).logits[0, -1].double() / 0.3, 0).numpy()
    slots = Slots(model, 500, longest=2, max_tokens=1, stop_ids=set(), temperature=0.3, top_p=1.0)
    drawn = [written.ids[0] for written in slots.write([([start], sample_seed(0, "t", n)) for n in range(3000)])]
    counts = np.bincount(drawn, minlength=len(expected))
    order = np.argsort(-expected)
    groups = [counts[group].sum() for group in np.array_split(order, 40)]  # the tail has too few draws a token
    shares = [expected[group].sum() for group in np.array_split(order, 40)]
    assert chi_square(np.array(groups), np.array(shares)) < 1.8


def test_sample_seeds_differ_and_stay():
    seeds = {sample_seed(seed, task, sample) for seed in range(5) for task in ("a", "b") for sample in range(50)}
    assert len(seeds) == 500
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert sample_seed(0, "scan", 0) == sample_seed(0, "scan", 0)
