"""Sampling: the random numbers are what they should be, and draws follow the wanted distribution."""

import itertools

import numpy as np
import pytest
import torch

from cuset_stage.generate.sampling import draw, draw_among, mix


SPLITMIX_1234567 = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]


def chi_square(counts: np.ndarray, probabilities: np.ndarray) -> float:
    """Pearson's statistic over its number of degrees of freedom: about 1 when the counts follow the probabilities."""
    expected = probabilities * counts.sum()
    kept = expected >= 5
    return float((((counts - expected)[kept] ** 2) / expected[kept]).sum() / (kept.sum() - 1))


def test_output_function_is_splitmix64s():
    state = torch.tensor([1234567 + step * 0x9E3779B97F4A7C15 % 2**64 for step in range(1, 5)], dtype=torch.uint64)
    assert mix(state.view(torch.int64)).view(torch.uint64).tolist() == SPLITMIX_1234567


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
        assert (is_whole.any(), is_whole.all()) == (count > 1, count == 500)


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
