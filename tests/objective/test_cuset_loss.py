"""The readable loss against an independent float64 oracle, against SFT, and on cases that can be worked out by hand."""

import itertools

import loss_oracle as oracle
import pytest
import torch
import torch.nn.functional as F
from torch.utils._python_dispatch import TorchDispatchMode

from cuset_stage.objective import ObjectiveSettings, cuset_loss, token_terms
from cuset_stage.objective.cuset import number_samples, window_confidence


SHAPES = [(1, 3, 7), (2, 47, 31), (3, 123, 17), (1, 600, 5)]


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


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("window", [1, 2, 5, 16, 256])
def test_matches_oracle(batch, shape, window):
    assert_matches_oracle(batch(shape, samples=1 if shape[1] < 10 else 3), window=window)


PARTS = ("use_confidence_mask", "use_cuda_mask", "use_region_weight")
AWAY = {"tau": 0.35, "lam": 2.5, "window": 11, "region_scope": "cuda", "normalization": "samples"}


@pytest.mark.parametrize(
    "options",
    [*(dict(zip(PARTS, on, strict=True)) for on in itertools.product([True, False], repeat=3)), AWAY],
    ids=str,
)
def test_every_option_matches_the_oracle(batch, options):
    assert_matches_oracle(batch((3, 123, 17), seed=2), **{"window": 8, **options})


@pytest.mark.parametrize("normalization", ["tokens", "samples"])
def test_all_parts_off_is_sft(batch, normalization):
    logits, labels, cuda_mask, sample_ids = batch(seed=3)
    off = dict(use_confidence_mask=False, use_cuda_mask=False, use_region_weight=False, normalization=normalization)
    loss, gradient = value_and_gradient(logits, labels, cuda_mask, sample_ids, num_items_in_batch=100, **off)

    plain = logits.clone().requires_grad_()
    sft = F.cross_entropy(plain[:, :-1].flatten(0, 1), labels[:, 1:].flatten(), reduction="sum") / 100
    sft.backward()
    torch.testing.assert_close(loss, sft.detach(), rtol=1e-6, atol=0)
    assert torch.equal(gradient, plain.grad)  # what trains is the same to the last bit


def test_all_plain_and_all_cuda(batch):
    logits, labels, cuda_mask, sample_ids = batch(seed=5)
    region_only = dict(use_confidence_mask=False, window=8)
    plain = cuset_loss(logits, labels, torch.zeros_like(cuda_mask), sample_ids, **region_only)
    all_cuda = cuset_loss(logits, labels, torch.ones_like(cuda_mask), sample_ids, lam=1.0, **region_only)
    torch.testing.assert_close(all_cuda, 2 * plain)
    assert_matches_oracle((logits, labels, torch.ones_like(cuda_mask), sample_ids), window=8)


def test_nothing_confident_and_no_cuda_is_zero_and_finite(batch):
    logits, labels, cuda_mask, sample_ids = batch((2, 47, 31), seed=6, scale=0.01)
    loss, gradient = value_and_gradient(logits, labels, torch.zeros_like(cuda_mask), sample_ids, tau=0.5)
    assert loss == 0
    assert torch.equal(gradient, torch.zeros_like(gradient))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), 6.0e4])
def test_no_supervised_token_is_zero_whatever_the_logits_hold(value):
    logits = torch.full((1, 40, 50), value, dtype=torch.float16, requires_grad=True)
    loss = cuset_loss(logits, torch.full((1, 40), -100), None, None)
    loss.backward()
    assert loss == 0 and torch.equal(logits.grad, torch.zeros_like(logits))


def test_weights_are_constants_of_the_optimisation(batch):
    """The gradient is that of a fixed-weight cross-entropy: nothing flows through c, M or w."""
    logits, labels, cuda_mask, sample_ids = batch(seed=7)
    settings = ObjectiveSettings(window=8)
    fixed = token_terms(logits, labels, cuda_mask, sample_ids, settings)
    weight = (fixed.weight * fixed.sample_weight[fixed.sample]).detach()

    plain = logits.clone().requires_grad_()
    keep = labels[:, 1:] != -100
    nll = F.cross_entropy(plain[:, :-1][keep], labels[:, 1:][keep], reduction="none")
    (weight * nll).sum().div(weight.numel()).backward()
    _, gradient = value_and_gradient(logits, labels, cuda_mask, sample_ids, window=8)
    torch.testing.assert_close(gradient, plain.grad)


def test_windows_do_not_cross_samples_or_rows(batch):
    """A row with two samples equals two rows with one each, whatever lies between."""
    logits, labels, cuda_mask, sample_ids = batch((1, 60, 13), seed=8, samples=2)
    packed = cuset_loss(logits, labels, cuda_mask, sample_ids, window=6, num_items_in_batch=1)
    apart = sum(
        cuset_loss(
            logits,
            torch.where(sample_ids == number, labels, -100),
            cuda_mask,
            sample_ids,
            window=6,
            num_items_in_batch=1,
        )
        for number in (1, 2)
    )
    torch.testing.assert_close(packed, apart)


def test_accumulation_is_exact(batch):
    """Micro-batches divided by the count of the whole step add up to the whole batch, also where one is empty."""
    logits, labels, cuda_mask, sample_ids = batch((4, 47, 31), seed=9)
    labels[2] = -100
    count = int((labels != -100).sum())
    whole, gradient = value_and_gradient(logits, labels, cuda_mask, sample_ids, window=8, num_items_in_batch=count)
    parts = [
        value_and_gradient(
            *(t[row : row + 1] for t in (logits, labels, cuda_mask, sample_ids)), window=8, num_items_in_batch=count
        )
        for row in range(4)
    ]
    torch.testing.assert_close(sum(loss for loss, _ in parts), whole)
    torch.testing.assert_close(torch.cat([g for _, g in parts]), gradient)


def test_missing_columns_mean_no_cuda_and_a_sample_a_row(batch):
    logits, labels, cuda_mask, sample_ids = batch(seed=10)
    bare = cuset_loss(logits, labels, None, None, window=8)
    spelled_out = cuset_loss(logits, labels, torch.zeros_like(cuda_mask), torch.ones_like(sample_ids), window=8)
    assert torch.equal(bare, spelled_out)


def test_bfloat16_logits_are_worked_on_in_float32(batch):
    logits, *rest = batch(seed=11, dtype=torch.bfloat16)
    loss = cuset_loss(logits, *rest, window=8)
    assert loss.dtype == torch.float32
    torch.testing.assert_close(loss, cuset_loss(logits.float(), *rest, window=8))


def test_runs_under_deterministic_algorithms(batch):
    torch.use_deterministic_algorithms(True)
    try:
        first, gradient = value_and_gradient(*batch(seed=12), window=8)
        second, again = value_and_gradient(*batch(seed=12), window=8)
    finally:
        torch.use_deterministic_algorithms(False)
    assert torch.equal(first, second) and torch.equal(gradient, again)


class Elements(TorchDispatchMode):
    """Counts the elements that operations return."""

    total = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        self.total += out.numel()
        return out


def test_windows_cost_the_same_whatever_their_length():
    """A window of 4096 costs what a window of 2 costs: sums are differences of prefix sums."""
    confidence = torch.rand(10_000)
    sample, lengths = number_samples(torch.zeros(10_000), torch.ones(10_000))
    totals = []
    for window in (2, 4096):
        with Elements() as elements:
            window_confidence(confidence, sample, lengths, window)
        totals.append(elements.total)
    assert totals[0] == totals[1] < 50 * 10_000


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (dict(tau=1.5), r"cuset_tau=1.5: expected a probability in \[0, 1\)"),
        (dict(tau=float("nan")), "cuset_tau"),
        (dict(tau="0.1"), "cuset_tau='0.1'"),
        (dict(lam=-1), "cuset_lambda=-1: expected a finite number >= 0"),
        (dict(window=0), "cuset_window=0: expected a number of tokens >= 1"),
        (dict(window=2.5), "cuset_window=2.5"),
        (dict(window=float("inf")), "cuset_window=inf: expected a number of tokens >= 1"),
        (dict(window=float("nan")), "cuset_window=nan: expected a number of tokens >= 1"),
        (dict(region_scope="file"), "cuset_region_scope='file': expected one of response, cuda"),
        (dict(normalization="batch"), "cuset_normalization='batch': expected one of tokens, samples"),
    ],
)
def test_values_out_of_range_are_refused(batch, change, message):
    with pytest.raises(ValueError, match=message):
        cuset_loss(*batch(), **change)


def test_shapes_that_do_not_match_are_refused(batch):
    logits, labels, cuda_mask, sample_ids = batch()
    with pytest.raises(ValueError, match=r"cuda_mask has the shape \[2, 46\]"):
        cuset_loss(logits, labels, cuda_mask[:, :-1], sample_ids)
    with pytest.raises(ValueError, match="expected logits"):
        cuset_loss(logits[0], labels, cuda_mask, sample_ids)


def test_labels_outside_the_vocabulary_are_refused(batch):
    logits, labels, cuda_mask, sample_ids = batch()
    labels[labels != -100] = 31
    with pytest.raises(ValueError, match="outside the vocabulary of 31 logits"):
        cuset_loss(logits, labels, cuda_mask, sample_ids)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_broken_logits_are_an_error_not_a_loss(batch, value):
    logits, labels, cuda_mask, sample_ids = batch()
    logits[0, sample_ids[0].nonzero()[0, 0] - 1, 0] = value
    with pytest.raises(ValueError, match=r"1 of .* supervised tokens have NaN or infinite logits"):
        cuset_loss(logits, labels, cuda_mask, sample_ids)
