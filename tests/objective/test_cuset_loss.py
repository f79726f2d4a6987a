"""The readable loss, compared with an independent float64 implementation, with cross-entropy, and with results known
in advance.
"""

import itertools

import loss_oracle as oracle
import pytest
import torch
from loss_cases import AWAY, OFF, make_batch

from cuset_stage.objective import ObjectiveSettings, cuset_loss, token_terms


def value_and_gradient(logits, *args, **options):
    logits = logits.clone().requires_grad_()
    loss = cuset_loss(logits, *args, **options)
    loss.backward()
    return loss.detach(), logits.grad


def assert_matches_oracle(batch, **options):
    expected, expected_gradient = oracle.cuset(*(tensor.numpy() for tensor in batch), **options)
    loss, gradient = value_and_gradient(*batch, **options)
    torch.testing.assert_close(loss.double().item(), expected, rtol=1e-5, atol=1e-7)
    torch.testing.assert_close(gradient.double(), torch.from_numpy(expected_gradient), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("shape", [(1, 3, 4, 7), (2, 47, 8, 31), (3, 123, 8, 17), (1, 600, 4, 5)])
@pytest.mark.parametrize("window", [1, 2, 5, 12, 256])  # 12: the length of a sample
def test_matches_oracle(shape, window):
    assert_matches_oracle(make_batch(shape), window=window)


@pytest.mark.parametrize(
    "options",
    [*(dict(zip(OFF, on, strict=True)) for on in itertools.product([True, False], repeat=3)), AWAY],
    ids=str,
)
def test_every_option_matches_the_oracle(options):
    assert_matches_oracle(make_batch((3, 123, 8, 17), seed=2), **{"window": 8, **options})


def test_masks_that_are_all_plain_all_cuda_or_empty():
    logits, labels, mask, ids = make_batch(seed=5)
    plain, doubled = (
        cuset_loss(logits, labels, torch.full_like(mask, fill), ids, use_confidence_mask=False, window=8)
        for fill in (0, 1)
    )
    torch.testing.assert_close(doubled, 2 * plain)
    assert_matches_oracle((logits, labels, torch.ones_like(mask), ids), window=8)
    a_row = torch.ones_like(mask).index_fill(0, torch.tensor([0]), 0)
    assert_matches_oracle((logits, labels, a_row, ids), window=8, region_scope="cuda")
    loss, gradient = value_and_gradient(0.01 * logits, labels, torch.zeros_like(mask), ids, tau=0.5)
    assert loss == 0 and not gradient.any()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), 6.0e4])
def test_no_supervised_token_is_zero_whatever_the_logits_hold(value):
    logits = torch.full((1, 40, 50), value, dtype=torch.float16)
    loss, gradient = value_and_gradient(logits, torch.full((1, 40), -100), None, None)
    assert loss == 0 and not gradient.any()


def test_weights_are_constants_of_the_optimisation():
    """The gradient is that of a cross-entropy with fixed token weights: no gradient flows through c, M or w."""
    logits, labels, *columns = make_batch(seed=7)
    fixed = token_terms(logits, labels, *columns, ObjectiveSettings(window=8))
    plain = logits.clone().requires_grad_()
    keep = labels[:, 1:] != -100
    nll = torch.nn.functional.cross_entropy(plain[:, :-1][keep], labels[:, 1:][keep], reduction="none")
    (fixed.weight * fixed.sample_weight[fixed.sample] * nll).mean().backward()
    torch.testing.assert_close(value_and_gradient(logits, labels, *columns, window=8)[1], plain.grad)


def test_windows_do_not_cross_samples_or_rows():
    """The loss of a row with two samples is the sum of the losses of each sample alone."""
    logits, labels, *columns, ids = make_batch((1, 60, 8, 13), seed=8, samples=2)
    packed, first, second = (
        cuset_loss(logits, of, *columns, ids, window=6, num_items_in_batch=1)
        for of in (labels, torch.where(ids == 1, labels, -100), torch.where(ids == 2, labels, -100))
    )
    torch.testing.assert_close(packed, first + second)


def test_missing_columns_mean_no_cuda_and_a_sample_a_row():
    logits, labels, mask, ids = make_batch(seed=10)
    spelled_out = cuset_loss(logits, labels, torch.zeros_like(mask), torch.ones_like(ids), window=8)
    assert torch.equal(cuset_loss(logits, labels, None, None, window=8), spelled_out)


def test_bfloat16_logits_are_worked_on_in_float32():
    logits, *rest = make_batch(seed=11)
    logits = logits.bfloat16()
    loss = cuset_loss(logits, *rest, window=8)
    assert loss.dtype == torch.float32
    torch.testing.assert_close(loss, cuset_loss(logits.float(), *rest, window=8))


def test_runs_under_deterministic_algorithms():
    torch.use_deterministic_algorithms(True)
    try:
        first, second = (value_and_gradient(*make_batch(seed=12), window=8) for _ in range(2))
    finally:
        torch.use_deterministic_algorithms(False)
    assert all(map(torch.equal, first, second))
