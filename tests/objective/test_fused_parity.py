"""The fused head equals the readable loss of the materialised logits, in value, terms and gradients (plain PyTorch path)."""

import itertools
from dataclasses import dataclass, field, replace

import loss_oracle as oracle
import numpy as np
import pytest
import torch

from cuset_stage.objective import (
    OBJECTIVES,
    ObjectiveSettings,
    cuset_loss,
    fused_linear_cuset_loss,
    fused_objective,
    objective_loss,
    token_terms,
)


SHAPES = [(1, 3, 7, 11), (2, 47, 31, 123), (3, 64, 16, 257)]
OFF = {"use_confidence_mask": False, "use_cuda_mask": False, "use_region_weight": False}


@dataclass
class Case:
    """A head, its input and a batch; `trained` says what requires a gradient."""

    hidden: torch.Tensor  # [B, T, H]
    weight: torch.Tensor  # [V, H]
    bias: torch.Tensor | None
    base_hidden: torch.Tensor  # [B, T, H]
    labels: torch.Tensor
    cuda_mask: torch.Tensor
    sample_ids: torch.Tensor
    trained: tuple[str, ...] = ("hidden",)

    def leaves(self) -> dict[str, torch.Tensor | None]:
        """Fresh copies of the inputs, to be differentiated."""
        names = ("hidden", "weight", "bias")
        tensors = {name: getattr(self, name) for name in names}
        return {n: None if t is None else t.clone().requires_grad_(n in self.trained) for n, t in tensors.items()}

    @property
    def batch(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        return self.labels, self.cuda_mask, self.sample_ids

    def logits(self, hidden, weight, bias) -> torch.Tensor:
        logits = torch.nn.functional.linear(hidden, weight, bias)
        return logits.to(torch.promote_types(hidden.dtype, torch.float32))

    def dense(self, settings, **options):
        """(loss, gradients, terms) by way of the logits."""
        leaves = self.leaves()
        base = self.logits(self.base_hidden, self.weight, self.bias)
        logits = self.logits(**leaves)
        loss = objective_loss(logits, *self.batch, settings, reference_logits=base, **options)
        torch.manual_seed(7)
        columns = {name: values for name, values in options.items() if name != "num_items_in_batch"}
        terms = token_terms(logits.detach(), *self.batch, settings, reference_logits=base, **columns)
        return loss.detach(), gradients(loss, leaves), terms

    def fused(self, settings, **options):
        leaves = self.leaves()
        loss, terms = fused_objective(
            leaves["hidden"],
            leaves["weight"],
            *self.batch,
            settings,
            bias=leaves["bias"],
            reference=(self.base_hidden, (self.weight, self.bias)),
            **options,
        )
        return loss.detach(), gradients(loss, leaves), terms


def gradients(loss, leaves) -> dict[str, torch.Tensor]:
    loss.backward()
    return {name: leaf.grad for name, leaf in leaves.items() if leaf is not None and leaf.requires_grad}


def make_case(
    shape=(2, 47, 31, 123), seed=0, bias=False, dtype=torch.float32, device="cpu", samples=3, **changes
) -> Case:
    """Several samples a row with unsupervised gaps, probabilities over (0, 1), CUDA spans."""
    rows, length, hidden_size, vocab_size = shape
    generator = torch.Generator().manual_seed(seed)

    def normal(*size):
        return torch.randn(*size, generator=generator)

    hidden, weight = normal(rows, length, hidden_size), 3 * hidden_size**-0.5 * normal(vocab_size, hidden_size)
    offset = normal(vocab_size) if bias else None
    logits = torch.nn.functional.linear(hidden, weight, offset)
    labels = torch.randint(0, vocab_size, (rows, length), generator=generator)
    likely = torch.rand(rows, length, generator=generator) < 0.6
    labels = torch.where(likely, logits.argmax(-1).roll(1, dims=1), labels)
    sample_ids = torch.arange(length).expand(rows, length) * samples // length + 1
    labels = torch.where(torch.rand(rows, length, generator=generator) < 0.2, -100, labels)
    labels[:, -1] = 1
    cuda_mask = (torch.rand(rows, length, generator=generator) < 0.3).long()
    base = hidden + 0.3 * normal(rows, length, hidden_size)
    tensors = [t if t is None else t.to(device, dtype) for t in (hidden, weight, offset, base)]
    batch = [t.to(device) for t in (labels, cuda_mask, sample_ids.contiguous())]
    return Case(*tensors, *batch, **changes)


def assert_same(actual, expected, tolerance=1e-5):
    """Values, gradients and terms of two (loss, gradients, terms) within `tolerance` of the largest entry."""
    torch.testing.assert_close(actual[0].float(), expected[0].float(), rtol=tolerance, atol=tolerance)
    assert actual[1].keys() == expected[1].keys()
    for name, gradient in expected[1].items():
        assert actual[1][name].dtype == gradient.dtype
        size = gradient.abs().max().item()
        torch.testing.assert_close(
            actual[1][name].float(),
            gradient.float(),
            rtol=tolerance,
            atol=tolerance * size,
            msg=lambda m, n=name: f"{n}: {m}",
        )
    for name in ("nll", "confidence", "weight", "region_confidence", "sample_weight", "penalty", "given_weight"):
        mine, theirs = getattr(actual[2], name), getattr(expected[2], name)
        if name in ("region_confidence", "sample_weight"):
            mine, theirs = mine[actual[2].is_sample], theirs[expected[2].is_sample]
        assert (mine is None) == (theirs is None), name
        if mine is not None:
            torch.testing.assert_close(mine, theirs.detach(), rtol=tolerance, atol=tolerance, check_dtype=False)
    for name in ("is_cuda", "row"):
        assert torch.equal(getattr(actual[2], name), getattr(expected[2], name)), name
    same = [terms.sample[1:] == terms.sample[:-1] for terms in (actual[2], expected[2])]
    assert torch.equal(*same), "sample"


@dataclass
class Point:
    """A place of the grid: settings, the case, options of the call, and how near the two have to be."""

    settings: dict
    case: dict = field(default_factory=dict)
    options: dict = field(default_factory=dict)
    tolerance: float = 1e-5
    weighted: bool = False
    autocast: torch.dtype | None = None
    fill: int | None = -1  # of the CUDA mask; None: neither mask nor ids are given


AWAY = {"tau": 0.35, "lam": 2.5, "window": 11, "region_scope": "cuda", "normalization": "samples"}
HALVES = {torch.bfloat16: 2e-2, torch.float16: 2e-3}
GRID = {f"{o} {s}": Point({"objective": o}, {"shape": s}) for o in OBJECTIVES for s in SHAPES}
GRID |= {f"parts {p}": Point(dict(zip(OFF, p, strict=True))) for p in itertools.product([True, False], repeat=3)}
GRID |= {
    f"every option away from its default, divided by {count}": Point(
        AWAY, {"shape": (3, 64, 16, 257)}, {"num_items_in_batch": count, "chunk_rows": 37, "backend": "torch"}
    )
    for count in (None, 17, torch.tensor(23))
}
GRID |= {
    f"profit {direction} {threshold}": Point(
        {"objective": "profit", "prob_threshold": threshold, "threshold_direction": direction}
    )
    for direction, threshold in (
        ("higher", (0.2,)),
        ("lower", (0.2,)),
        ("middle", (0.1, 0.6)),
        ("random", (0.4,)),
        ("random", (1.0,)),
    )
}
for name in OBJECTIVES:
    GRID |= {f"{name} with weights": Point({"objective": name}, weighted=True, options={"chunk_rows": 23})}
    GRID |= {f"{name} filled with {fill}": Point({"objective": name}, fill=fill) for fill in (0, 1, None)}
    small = {"shape": (2, 40, 16, 97)}
    for dtype, tolerance in HALVES.items():
        GRID[f"{name} in {dtype}"] = Point(
            {"objective": name}, {**small, "dtype": dtype}, {"chunk_rows": 32}, tolerance
        )
        GRID[f"{name} under autocast to {dtype}"] = Point({"objective": name}, small, tolerance=1e-2, autocast=dtype)


TRAINED = [("hidden",), ("hidden", "weight", "bias"), ("hidden", "weight"), ("weight",)]
POINTS = [(name, trained) for name in GRID for trained in (TRAINED if "(2, 47, 31, 123)" in name else TRAINED[:2])]


@pytest.mark.parametrize(("name", "trained"), POINTS)
def test_equals_the_readable_loss(name, trained):
    point = GRID[name]
    case = make_case(bias="bias" in trained, trained=trained, **point.case)
    if point.fill != -1:
        case.labels[0] = -100  # a whole row without a supervised token
        case.cuda_mask = None if point.fill is None else torch.full_like(case.cuda_mask, point.fill)
        case.sample_ids = None if point.fill is None else case.sample_ids
    settings, options = ObjectiveSettings(**{"window": 8, **point.settings}), dict(point.options)
    shared = {key: options.pop(key) for key in ("num_items_in_batch",) if key in options}
    if point.weighted:
        shared["token_weights"] = weights_of(case)
    with torch.autocast("cpu", dtype=point.autocast, enabled=point.autocast is not None):
        torch.manual_seed(7)
        expected = case.dense(settings, **shared)
        for chunk_rows in (None, 5) if not options else (options.pop("chunk_rows"),):
            torch.manual_seed(7)
            found = case.fused(settings, chunk_rows=chunk_rows, **shared, **options)
            assert_same(found, expected, point.tolerance)


def test_public_function_is_cuset_loss():
    case = make_case(bias=True, trained=("hidden", "weight", "bias"), seed=4)
    options = {
        "tau": 0.3,
        "lam": 2.0,
        "window": 9,
        "num_items_in_batch": 50,
        "region_scope": "cuda",
        "normalization": "samples",
    }
    for chosen in ({}, options, OFF, options | OFF):
        fused, dense = case.leaves(), case.leaves()
        leaves = fused["hidden"], fused["weight"]
        loss = fused_linear_cuset_loss(*leaves, *case.batch, bias=fused["bias"], **chosen)
        expected = cuset_loss(case.logits(**dense), *case.batch, **chosen)
        torch.testing.assert_close(loss, expected)
        theirs = gradients(expected, dense)
        for name, gradient in gradients(loss, fused).items():
            torch.testing.assert_close(gradient, theirs[name], rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_pieces_of_a_batch_add_up(objective):
    case = make_case((4, 33, 16, 61), seed=6)
    settings, weights = ObjectiveSettings(objective=objective, window=8), weights_of(case)
    whole = case.fused(settings, num_items_in_batch=100, token_weights=weights)
    total, pieces = 0.0, []
    for row in range(4):
        changes = {
            k: getattr(case, k)[row : row + 1] for k in ("hidden", "base_hidden", "labels", "cuda_mask", "sample_ids")
        }
        piece = replace(case, **changes)
        loss, gradient, _ = piece.fused(settings, num_items_in_batch=100, token_weights=weights[row : row + 1])
        total, pieces = total + loss, [*pieces, gradient["hidden"]]
    torch.testing.assert_close(total, whole[0])
    torch.testing.assert_close(torch.cat(pieces), whole[1]["hidden"])


def weights_of(case: Case, seed=0) -> torch.Tensor:
    """Weights from 0 to 3, some of them 0, as data give them."""
    weights = 3 * torch.rand(case.labels.shape, generator=torch.Generator().manual_seed(seed))
    return torch.where(weights < 0.5, 0.0, weights)


@pytest.mark.parametrize("trained", [("hidden",), ("hidden", "weight", "bias")])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_weights_of_the_data_multiply_each_token_s_loss(objective, trained):
    """Token by token from the loss without them; the divisor is still the number of tokens."""
    case = make_case(bias=True, trained=trained, seed=14)
    settings, weights = ObjectiveSettings(objective=objective, window=8), weights_of(case)
    given = weights[:, 1:][case.labels[:, 1:] != -100]
    plain = case.dense(settings)[2].loss
    torch.testing.assert_close(case.dense(settings, token_weights=weights)[0], (plain * given).mean())
    for method in (case.dense, case.fused):
        one, two = (method(settings, token_weights=torch.full_like(weights, value)) for value in (1.0, 2.0))
        without = method(settings)
        assert torch.equal(one[0], without[0]) and torch.equal(two[0], 2 * without[0])
        for name, gradient in without[1].items():
            assert torch.equal(one[1][name], gradient) and torch.equal(two[1][name], 2 * gradient)


def test_weighted_cross_entropy_is_pytorch_s():
    case = make_case((3, 64, 16, 257), seed=15)
    leaves, weights = case.leaves(), weights_of(case)
    is_token = case.labels[:, 1:] != -100
    logits, target = case.logits(**leaves)[:, :-1][is_token], case.labels[:, 1:][is_token]
    nll = torch.nn.functional.cross_entropy(logits, target, reduction="none")
    expected = (nll * weights[:, 1:][is_token]).sum() / is_token.sum()
    loss, gradient, _ = case.fused(ObjectiveSettings(objective="sft"), token_weights=weights)
    torch.testing.assert_close(loss, expected.detach())
    torch.testing.assert_close(gradient["hidden"], gradients(expected, leaves)["hidden"], rtol=1e-5, atol=1e-8)


def masked_vocabulary(case: Case) -> Case:
    """All but five tokens of the vocabulary can never be produced."""
    case.bias[5:] = -float("inf")
    case.labels = torch.where(case.labels == -100, -100, case.labels % 5)
    return case


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_logits_of_minus_infinity_stay_finite(objective):
    case = masked_vocabulary(make_case(bias=True, trained=("hidden", "weight"), seed=8))
    loss, gradient, terms = case.fused(ObjectiveSettings(objective=objective, window=8))
    assert torch.isfinite(loss) and all(torch.isfinite(g).all() for g in gradient.values())
    assert torch.isfinite(terms.weight).all()
    if objective not in ("eaft", "asft"):  # there the readable loss meets 0 times infinity
        assert_same((loss, gradient, terms), case.dense(ObjectiveSettings(objective=objective, window=8)))


# An independent float64 oracle in NumPy, with the logits' gradient written by hand.


def selected(settings: ObjectiveSettings, p: float) -> float:
    low, high = settings.prob_threshold[0], settings.prob_threshold[-1]
    match settings.threshold_direction:
        case "higher":
            return float(p >= low)
        case "lower":
            return float(p <= high)
    return float(low <= p <= high)


def numpy_oracle(case: Case, settings: ObjectiveSettings) -> tuple[float, np.ndarray]:
    """(loss, gradient with respect to hidden) of profit and asft, token by token."""
    hidden, weight, base = (t.double().numpy() for t in (case.hidden, case.weight, case.base_hidden))
    labels, loss, count = case.labels.numpy(), 0.0, 0
    gradient = np.zeros_like(hidden)
    for row, t in itertools.product(range(labels.shape[0]), range(1, labels.shape[1])):
        if labels[row, t] == -100:
            continue
        target, count = labels[row, t], count + 1
        log_p = oracle.log_softmax(weight @ hidden[row, t - 1])
        p, onehot = np.exp(log_p), np.eye(len(log_p))[target]
        if settings.objective == "profit":
            m = selected(settings, p[target])
            loss += -m * log_p[target]
            step = m * (p - onehot)
        else:
            log_q = oracle.log_softmax(weight @ base[row, t - 1])
            q = np.exp(log_q)
            loss += -p[target] * log_p[target] + settings.asft_alpha * (q * (log_q - log_p)).sum()
            step = p[target] * (p - onehot) + settings.asft_alpha * (p - q)
        gradient[row, t - 1] = step @ weight
    return loss / count, gradient / count


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(
    "settings",
    [
        ObjectiveSettings(objective="asft"),
        ObjectiveSettings(objective="asft", asft_alpha=0.7),
        ObjectiveSettings(objective="profit"),
        ObjectiveSettings(objective="profit", prob_threshold=(0.3,), threshold_direction="lower"),
        ObjectiveSettings(objective="profit", prob_threshold=(0.05, 0.7), threshold_direction="middle"),
    ],
)
def test_profit_and_asft_against_float64(settings, dtype):
    case = make_case((2, 23, 12, 41), seed=9, dtype=dtype)
    loss, gradient, _ = case.fused(settings, chunk_rows=9)
    expected, expected_gradient = numpy_oracle(case, settings)
    tolerance = 1e-5 if dtype == torch.float32 else 1e-12
    np.testing.assert_allclose(loss.item(), expected, rtol=tolerance)
    np.testing.assert_allclose(
        gradient["hidden"].numpy(), expected_gradient, rtol=tolerance, atol=tolerance * np.abs(expected_gradient).max()
    )


def test_cuset_against_float64():
    case = make_case((2, 47, 31, 53), seed=10, dtype=torch.float64)
    expected, by_logits = oracle.cuset(
        case.logits(case.hidden, case.weight, None).numpy(), *(t.numpy() for t in case.batch), window=9
    )
    loss, gradient, _ = case.fused(ObjectiveSettings(window=9))
    np.testing.assert_allclose(loss.item(), expected, rtol=1e-6)  # the region weight is float32
    np.testing.assert_allclose(gradient["hidden"].numpy(), by_logits @ case.weight.numpy(), rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize(
    ("objective", "alpha"), [("sft", None), ("dft", None), ("eaft", 1.0), ("eaft", 0.5), ("eaft", 2.0)]
)
def test_against_llamafactory(objective, alpha):
    from llamafactory.train import trainer_utils

    case = make_case((3, 64, 16, 257), seed=11)
    leaves = case.leaves()
    outputs = {"logits": case.logits(**leaves)}
    if objective == "sft":
        flat = torch.nn.functional.pad(case.labels, (0, 1), value=-100)[:, 1:].flatten()
        expected = torch.nn.functional.cross_entropy(outputs["logits"].flatten(0, 1), flat, ignore_index=-100)
    else:
        options = {} if alpha is None else {"alpha": alpha}
        expected = getattr(trainer_utils, f"{objective}_loss_func")(outputs, case.labels, **options)
    options = {} if alpha is None else {"eaft_alpha": alpha}
    loss, gradient, _ = case.fused(ObjectiveSettings(objective=objective, **options))
    torch.testing.assert_close(loss, expected.detach(), rtol=1e-6, atol=1e-7)
    torch.testing.assert_close(gradient["hidden"], gradients(expected, leaves)["hidden"], rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize(
    "settings",
    [
        ObjectiveSettings(objective="sft"),
        ObjectiveSettings(objective="profit", prob_threshold=(0.2,)),
        ObjectiveSettings(use_region_weight=False, lam=1.5),
    ],
)
def test_gradcheck(settings):
    case = make_case((1, 6, 3, 5), bias=True, dtype=torch.float64, seed=12)

    def loss(hidden, weight, bias):
        return fused_objective(hidden, weight, *case.batch, settings, bias=bias, chunk_rows=3)[0]

    leaves = [t.clone().requires_grad_() for t in (case.hidden, case.weight, case.bias)]
    assert torch.autograd.gradcheck(loss, leaves)


@pytest.mark.parametrize("vocab_size", [23, 130])
def test_uniform_model(vocab_size):
    """c = 1 / V everywhere: DFT is cross-entropy / V, the region weighs 1 - 1 / V, EAFT's entropy is ln 20."""
    case = make_case((2, 20, 8, vocab_size), seed=13)
    case.hidden = torch.zeros_like(case.hidden)
    entropy = torch.tensor(float(vocab_size)).log()
    losses = {name: case.fused(ObjectiveSettings(objective=name))[0] for name in ("sft", "dft", "eaft")}
    torch.testing.assert_close(losses["sft"], entropy)
    torch.testing.assert_close(losses["dft"], entropy / vocab_size)
    torch.testing.assert_close(losses["eaft"], entropy * torch.tensor(20.0).log() / 3.0)
    terms = case.fused(ObjectiveSettings())[2]
    weight = terms.sample_weight[terms.is_sample]
    torch.testing.assert_close(weight, torch.full_like(weight, 1 - 1 / vocab_size))
    case.base_hidden = case.hidden
    torch.testing.assert_close(case.fused(ObjectiveSettings(objective="asft"))[0], losses["dft"])  # KL(p || p) = 0
