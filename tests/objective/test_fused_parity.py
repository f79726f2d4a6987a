"""The fused head (PyTorch backend) gives the values, terms and gradients of the readable loss on materialised logits."""

import itertools
from dataclasses import dataclass, field, replace

import pytest
import torch
from loss_cases import AWAY, OFF, Case, assert_same, gradients, make_case, weights_of

from cuset_stage.objective import OBJECTIVES, ObjectiveSettings, cuset_loss, fused_linear_cuset_loss, fused_objective


SHAPES = [(1, 3, 7, 11), (2, 47, 31, 123), (3, 64, 16, 257)]
SMALL = {"shape": (2, 40, 16, 97)}


@dataclass
class Point:
    """One combination to test."""

    settings: dict  # fields of `ObjectiveSettings`
    case: dict = field(default_factory=dict)  # arguments of `make_case`
    options: dict = field(default_factory=dict)  # of the fused head; `num_items_in_batch` of both losses
    tolerance: float = 1e-5  # of `assert_same`
    weighted: bool = False  # the data give token weights
    autocast: torch.dtype | None = None
    # If not -1, the CUDA mask is filled with it and the first row has nothing supervised. None: there is neither a CUDA
    # mask nor sample ids.
    fill: int | None = -1


GRID = {f"{o} {s}": Point({"objective": o}, {"shape": s}) for o in OBJECTIVES for s in SHAPES}
GRID |= {f"parts {p}": Point(dict(zip(OFF, p, strict=True))) for p in itertools.product([True, False], repeat=3)}
for count in (None, 17, torch.tensor(23)):
    options = {"num_items_in_batch": count, "chunk_rows": 37, "backend": "torch"}
    GRID[f"every option away from its default, divided by {count}"] = Point(AWAY, {"shape": SHAPES[2]}, options)
for direction, threshold in {
    "higher": (0.2,), "lower": (0.2,), "middle": (0.1, 0.6), "random": (0.4,), "random of 1": (1.0,),
}.items():  # fmt: skip
    profit = {"objective": "profit", "prob_threshold": threshold, "threshold_direction": direction.split()[0]}
    GRID[f"profit {direction}"] = Point(profit)
for name in OBJECTIVES:
    of = {"objective": name}
    GRID[f"{name} with weights"] = Point(of, weighted=True, options={"chunk_rows": 23})
    GRID |= {f"{name} filled with {fill}": Point(of, fill=fill) for fill in (0, 1, None)}
    for dtype, tolerance in {torch.bfloat16: 2e-2, torch.float16: 2e-3}.items():
        GRID[f"{name} in {dtype}"] = Point(of, {**SMALL, "dtype": dtype}, {"chunk_rows": 32}, tolerance)
        GRID[f"{name} under autocast to {dtype}"] = Point(of, SMALL, tolerance=1e-2, autocast=dtype)

TRAINED = [("hidden",), ("hidden", "weight", "bias"), ("hidden", "weight"), ("weight",)]
POINTS = [(name, trained) for name in GRID for trained in (TRAINED if "(2, 47, 31, 123)" in name else TRAINED[:2])]
for lam in (200.0, 2000.0):  # large weights must not overflow float16
    wide = {"shape": (2, 40, 64, 97), "dtype": torch.float16}
    GRID[f"lambda {lam}"] = Point({"lam": lam, "tau": 0.05}, wide, {"num_items_in_batch": 4096}, 4e-3)
    POINTS.append((f"lambda {lam}", TRAINED[0]))


@pytest.mark.parametrize(("name", "trained"), POINTS)
def test_equals_the_readable_loss(name, trained):
    point = GRID[name]
    case = make_case(bias="bias" in trained, trained=trained, **point.case)
    if point.fill != -1:
        case.labels[0] = -100  # a row without any supervised token
        case.cuda_mask = None if point.fill is None else torch.full_like(case.cuda_mask, point.fill)
        case.sample_ids = None if point.fill is None else case.sample_ids
    settings, options = ObjectiveSettings(**{"window": 8, **point.settings}), dict(point.options)
    shared = {key: options.pop(key) for key in ("num_items_in_batch",) if key in options}
    if point.weighted:
        shared["token_weights"] = weights_of(case)
    with torch.autocast("cpu", dtype=point.autocast, enabled=point.autocast is not None):
        torch.manual_seed(7)
        expected = case.dense(settings, **shared)
        for chunk_rows in (options.pop("chunk_rows"),) if "chunk_rows" in options else (None, 5):
            torch.manual_seed(7)
            found = case.fused(settings, chunk_rows=chunk_rows, **shared, **options)
            assert_same(found, expected, point.tolerance)


@pytest.mark.parametrize("layout", ["transposed", "strided", "expanded"])
def test_columns_that_are_not_contiguous(layout):
    case = make_case((3, 40, 16, 97))
    expected = case.fused(ObjectiveSettings(window=8))
    for name in ("labels", "cuda_mask", "sample_ids"):
        values = getattr(case, name)
        if layout == "transposed":
            values = values.t().contiguous().t()
        elif layout == "strided":
            values = torch.stack([values, torch.full_like(values, 5)], dim=-1)[..., 0]
        elif name == "sample_ids":  # all rows share one row of ids
            values = values[:1].expand(3, -1)
        setattr(case, name, values)
    assert not case.sample_ids.is_contiguous()
    assert_same(case.fused(ObjectiveSettings(window=8)), expected)


@pytest.mark.parametrize("options", [{}, {**AWAY, "num_items_in_batch": 50}, OFF])
def test_public_function_is_cuset_loss(options):
    case = make_case(bias=True, trained=("hidden", "weight", "bias"), seed=4)
    fused, dense = case.leaves(), case.leaves()
    found = fused_linear_cuset_loss(fused["hidden"], fused["weight"], *case.batch, bias=fused["bias"], **options)
    expected = cuset_loss(case.logits(**dense), *case.batch, **options)
    torch.testing.assert_close(found, expected)
    theirs = gradients(expected, dense)
    for name, gradient in gradients(found, fused).items():
        torch.testing.assert_close(gradient, theirs[name], rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_pieces_of_a_step_add_up(objective):
    """Micro-batches, each divided by the token count of the step, add up to the whole batch.

    One of them has nothing supervised.
    """
    case = make_case((4, 33, 16, 61), seed=6)
    case.labels[2] = -100
    settings, weights = ObjectiveSettings(objective=objective, window=8), weights_of(case)
    tensors = ("hidden", "base_hidden", "labels", "cuda_mask", "sample_ids")
    rows = [slice(row, row + 1) for row in range(4)]
    pieces = [replace(case, **{name: getattr(case, name)[row] for name in tensors}) for row in rows]
    for method in (Case.dense, Case.fused):
        whole = method(case, settings, num_items_in_batch=100, token_weights=weights)
        results = [
            method(piece, settings, num_items_in_batch=100, token_weights=weights[row])
            for piece, row in zip(pieces, rows, strict=True)
        ]
        torch.testing.assert_close(sum(loss for loss, _, _ in results), whole[0])
        torch.testing.assert_close(torch.cat([gradient["hidden"] for _, gradient, _ in results]), whole[1]["hidden"])


@pytest.mark.parametrize("trained", [("hidden",), ("hidden", "weight", "bias")])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_weights_of_the_data_multiply_each_token_s_loss(objective, trained):
    """Weights multiply each token's loss. The divisor stays the number of tokens."""
    case = make_case(bias=True, trained=trained, seed=14)
    settings, weights = ObjectiveSettings(objective=objective, window=8), weights_of(case)
    plain = case.dense(settings)[2].loss
    expected = (plain * weights[:, 1:][case.is_token]).mean()
    torch.testing.assert_close(case.dense(settings, token_weights=weights)[0], expected)
    for method in (case.dense, case.fused):
        one, two = (method(settings, token_weights=torch.full_like(weights, value)) for value in (1.0, 2.0))
        without = method(settings)
        assert torch.equal(one[0], without[0]) and torch.equal(two[0], 2 * without[0])
        for name, gradient in without[1].items():
            assert torch.equal(one[1][name], gradient) and torch.equal(two[1][name], 2 * gradient)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_logits_of_minus_infinity_stay_finite(objective):
    """All but five tokens of the vocabulary have the logit -inf."""
    case = make_case(bias=True, trained=("hidden", "weight"), seed=8)
    case.bias[5:] = -float("inf")
    case.labels = torch.where(case.labels == -100, -100, case.labels % 5)
    settings = ObjectiveSettings(objective=objective, window=8)
    loss, gradient, terms = found = case.fused(settings)
    assert torch.isfinite(loss) and all(torch.isfinite(g).all() for g in gradient.values())
    assert torch.isfinite(terms.weight).all()
    if objective not in ("eaft", "asft"):  # where the readable loss computes 0 times infinity
        assert_same(found, case.dense(settings))


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


def test_a_base_model_of_another_width():
    case = make_case()
    generator = torch.Generator().manual_seed(3)
    narrow, head = torch.randn(2, 47, 8, generator=generator), torch.randn(123, 8, generator=generator)
    settings, options = ObjectiveSettings(objective="asft"), {"reference": (narrow, (head, None)), "chunk_rows": 9}
    _, terms = fused_objective(case.hidden, case.weight, *case.batch, settings, **options)
    states = ((narrow, head), (case.hidden, case.weight))
    log_q, log_p = ((hidden @ weight.T)[:, :-1][case.is_token].log_softmax(-1) for hidden, weight in states)
    torch.testing.assert_close(terms.penalty, 0.1 * (log_q.exp() * (log_q - log_p)).sum(-1), rtol=1e-4, atol=1e-6)
