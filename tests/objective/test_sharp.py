"""Models that are sure of their tokens, where rounding is most dangerous.

No confidence may be above 1, no loss below 0, and no gradient may be lost.
"""

import itertools

import pytest
import torch
from loss_cases import IN_RANGE, assert_in_range, sharp_case

from cuset_stage.objective import OBJECTIVES, ObjectiveMeter, ObjectiveSettings, cuset_loss, token_terms
from cuset_stage.objective.cuset import number_samples, window_confidence
from cuset_stage.objective.vocabulary import at_least_zero, base_divergence


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("objective", [*OBJECTIVES, IN_RANGE])
def test_values_stay_in_range(objective, dtype):
    for seed, confidence in enumerate(("online", "online", "base")):
        case = sharp_case(seed, dtype, trained=("hidden", "weight") if seed == 1 else ("hidden",))
        settings = ObjectiveSettings(objective=objective, window=5, confidence=confidence)
        for run in (case.dense, case.fused):
            _, gradients, terms = run(settings)
            assert_in_range(terms)
            assert all(gradient.isfinite().all() for gradient in gradients.values())
            assert objective != IN_RANGE or terms.weight.all()


@pytest.mark.parametrize("objective", ["sft", "cuset", "asft"])
def test_gradients_are_those_of_float64(objective):
    settings = ObjectiveSettings(objective=objective, window=5)
    for seed in range(4):
        single, double = (sharp_case(seed, torch.float32, bias=True, trained=("hidden", "bias")) for _ in range(2))
        for name in ("hidden", "weight", "bias", "base_hidden"):
            setattr(double, name, getattr(double, name).double())
        expected = double.dense(settings)
        for run in (single.dense, single.fused):
            found = run(settings)
            for name, gradient in expected[1].items():
                size = float(gradient.abs().max())
                torch.testing.assert_close(found[1][name].double(), gradient, rtol=1e-3, atol=1e-5 * size)


def test_values_that_are_lifted_to_0_keep_their_gradient():
    values = torch.tensor([-1e-7, -0.0, 0.0, 2.0, float("nan"), float("inf")], requires_grad=True)
    lifted = at_least_zero(values)
    lifted.sum().backward()
    torch.testing.assert_close(lifted.detach(), torch.tensor([0, 0, 0, 2, torch.nan, torch.inf]), equal_nan=True)
    assert values.grad.tolist() == [1.0] * 6

    logits = 5 * torch.randn(200, 300, generator=torch.Generator().manual_seed(0))
    base = logits * (1 + 1e-4)
    plain = torch.nn.functional.kl_div(logits.log_softmax(-1), base.softmax(-1), reduction="none").sum(-1)
    assert (plain < 0).sum() > 10  # the plain formula does go below 0, or this test would prove nothing
    gradients = []
    for dtype in (torch.float32, torch.float64):
        leaf = logits.to(dtype, copy=True).requires_grad_()
        divergence = base_divergence(leaf.log_softmax(-1), base.to(dtype).log_softmax(-1))
        assert (divergence >= 0).all()
        divergence.sum().backward()
        gradients.append(leaf.grad.double())
    torch.testing.assert_close(*gradients, rtol=1e-2, atol=1e-6)


def test_the_readable_loss_of_logits_without_a_doubt_is_0():
    labels = torch.randint(0, 50, (2, 30), generator=torch.Generator().manual_seed(0))
    for size, dtype in itertools.product((20.0, 90.0, 1e4), (torch.float32, torch.bfloat16, torch.float16)):
        logits = size * torch.nn.functional.one_hot(labels.roll(-1, dims=1), 50).to(dtype)
        assert 0 <= cuset_loss(logits, labels, torch.ones_like(labels), None) < 1e-6


@pytest.mark.parametrize("value", [1.0, 1.0000001, 0.0, -1e-9, 1 - 2**-24, 1e-8])
def test_window_means_stay_in_range(value):
    for length, window in itertools.product((1, 7, 1000, 4099), (1, 2, 256)):
        sample, lengths = number_samples(torch.zeros(length, dtype=torch.long), None)
        means = window_confidence(torch.full((length,), value), sample, lengths, window)
        assert ((means >= 0) & (means <= 1)).all()
        torch.testing.assert_close(means, torch.full((length,), value), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("other", [1.0, 0.0])
def test_averages_in_the_log_stay_in_range(other):
    """The average of one other token, sure or impossible, beside thousands of CUDA tokens is exact.

    It must not be computed as a difference of large sums.
    """
    generator = torch.Generator().manual_seed(0)
    for place in range(7, 17):
        logits = 20 * torch.rand(1, 4001, 12, generator=generator)
        labels = torch.randint(0, 12, (1, 4001), generator=generator)
        mask = torch.ones_like(labels)
        mask[0, place] = 0
        logits[0, place - 1, labels[0, place]] += 200 if other else -200
        meter = ObjectiveMeter()
        meter.update(token_terms(logits, labels, mask, None, ObjectiveSettings(window=9)), 0.1)
        log = meter.compute(torch.device("cpu"))
        assert log["other_confidence"] == other
        assert log["other_nll"] == 0 if other else log["other_nll"] > 150
        assert all(0 <= log[name] <= 1 for name in log if "nll" not in name)
