"""The fused head in training: memory, evaluation, gradient checkpointing, torch.compile, numerical range, and choice
of backend.
"""

import sys

import pytest
import torch
from loss_cases import assert_same, gradients, make_case
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint

from cuset_stage.objective import (
    OBJECTIVES,
    ObjectiveSettings,
    engine,
    fused_linear_cuset_loss,
    fused_objective,
    token_terms,
)
from cuset_stage.objective.engine import CHUNK_BYTES, TORCH, choose_backend, rows_per_chunk


PRODUCTS = ("aten.mm", "aten.addmm", "aten.addmm_")
GPU = torch.device("cuda")


class Watch(TorchDispatchMode):
    """Watches all operations: their names, the matrix products, and the elements of the largest tensor returned."""

    def __init__(self):
        super().__init__()
        self.largest, self.products, self.calls = 0, 0, []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        self.calls.append(str(func.overloadpacket))
        self.products += self.calls[-1] in PRODUCTS
        for tensor in out if isinstance(out, (tuple, list)) else [out]:
            if isinstance(tensor, torch.Tensor):
                self.largest = max(self.largest, tensor.numel())
        return out


@pytest.mark.parametrize("trained", [("hidden",), ("hidden", "weight")])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_logits_never_exist(objective, trained):
    case = make_case((2, 200, 4, 300), trained=trained)
    saved = []

    def pack(tensor):
        saved.append(tensor.numel())
        return tensor

    with Watch() as watch, torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        case.fused(ObjectiveSettings(objective=objective), chunk_rows=16)
    assert watch.largest <= 16 * 320  # a chunk with rows padded to 64 columns; all logits would be 400 * 300
    assert max(saved) <= max(400 * 4, 300 * 4)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_evaluation_computes_the_forward_product_only(objective):
    settings = ObjectiveSettings(objective=objective, window=8)
    for trained, grad in (((), True), (("hidden", "weight"), False)):
        case = make_case(trained=trained)
        with torch.set_grad_enabled(grad), Watch() as watch:
            found = case.fused(settings, chunk_rows=16)
        chunks = -(-int(case.is_token.sum()) // 16)
        assert watch.products == chunks * (2 if settings.needs_reference else 1)
        assert not found[2].nll.requires_grad and all(gradient is None for gradient in found[1].values())
        case.trained = ()
        assert_same((found[0], {}, found[2]), case.dense(settings))


@pytest.mark.parametrize(
    ("trained", "objective", "products"),
    [(("hidden",), "cuset", 2), (("hidden", "weight"), "cuset", 4), (("hidden", "weight"), "dft", 3)],
)
def test_products_of_a_step(trained, objective, products):
    """A frozen head needs 2 products, a trained head 3, or 4 if a token's gradient has to wait for its sample's
    weight.
    """
    case = make_case(trained=trained)
    with Watch() as watch:
        case.fused(ObjectiveSettings(objective=objective), chunk_rows=1000)
    assert watch.products == products


@pytest.mark.parametrize("trained", [("hidden",), ("hidden", "weight")])
def test_the_loss_is_on_its_way_before_the_last_products(trained):
    """The loss is computed before the last matrix products.

    The backward pass reads from the loss whether the batch was sound. It can then do so while the device still has
    work.
    """
    case = make_case(trained=trained)
    leaves = case.leaves()
    with Watch() as watch:
        fused_objective(leaves["hidden"], leaves["weight"], *case.batch, ObjectiveSettings(window=8), chunk_rows=16)
    last = max(i for i, name in enumerate(watch.calls) if name in PRODUCTS)
    assert "aten.div" in watch.calls[:last] and "aten.div" not in watch.calls[last:]


@pytest.mark.parametrize("row_bytes", [1, 2 * 152064, 10**9])
@pytest.mark.parametrize("num_tokens", [1, 129, 16383])
def test_chunks_stay_within_the_budget(num_tokens, row_bytes):
    rows = rows_per_chunk(num_tokens, row_bytes)
    assert 1 <= rows <= num_tokens
    assert rows * row_bytes <= max(CHUNK_BYTES, row_bytes)
    assert rows == num_tokens or rows % 96 == 95 or CHUNK_BYTES // row_bytes < 96


def test_small_probabilities_survive_float16():
    """20000 tokens of probability 2e-8 each, which float16 rounds to 0, together make up half of the gradient of a
    sure token.
    """
    hidden = torch.tensor([[[17.7, 0.0], [0.0, 0.0]]], dtype=torch.float16, requires_grad=True)
    weight = torch.tensor([[0.0, 1.0]], dtype=torch.float16).repeat(20000, 1)
    weight[7] = torch.tensor([1.0, 0.0])
    batch = torch.tensor([[-100, 7]]), None, None
    loss, terms = fused_objective(hidden, weight, *batch, ObjectiveSettings(objective="sft"))
    (loss * 2.0**10).backward()
    rest = 1 - terms.confidence.double().item()
    assert 1e-8 < rest / 20000 < 2.9e-8  # below half of float16's smallest positive number
    expected = torch.tensor([-rest, rest], dtype=torch.float64)
    # Summing so many small numbers is inexact on CPUs (14 % off without AVX-512). Numbers rounded to 0 would be 100 %
    # off.
    torch.testing.assert_close(hidden.grad[0, 0].double() / 2**10, expected, rtol=0.3, atol=0)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"tau": 0.0, "use_cuda_mask": False}, [0.0, 1.0]),  # Eq. 2 asks for more than tau
        ({"objective": "profit", "prob_threshold": (0.0,)}, [1.0, 1.0]),  # ProFit keeps tokens on a threshold
        ({"objective": "profit", "prob_threshold": (1.0,)}, [0.0, 1.0]),
        ({"objective": "profit", "prob_threshold": (0.0,), "threshold_direction": "lower"}, [1.0, 0.0]),
        ({"objective": "profit", "prob_threshold": (0.0, 0.0), "threshold_direction": "middle"}, [1.0, 0.0]),
        ({"objective": "profit", "prob_threshold": (1.0, 1.0), "threshold_direction": "middle"}, [0.0, 1.0]),
    ],
)
def test_probabilities_on_a_threshold(options, expected):
    """Token weights where the probabilities are exactly 0 and 1, which are also the thresholds."""
    hidden, weight = torch.full((1, 3, 1), 200.0), torch.tensor([[0.0], [1.0]])
    batch, settings = (torch.tensor([[-100, 0, 1]]), None, None), ObjectiveSettings(**options)
    fused = fused_objective(hidden, weight, *batch, settings)[1]
    for terms in (fused, token_terms(hidden @ weight.T, *batch, settings)):
        assert terms.confidence.tolist() == [0.0, 1.0]
        assert terms.weight.tolist() == expected


@pytest.mark.parametrize("use_reentrant", [True, False])
@pytest.mark.parametrize("trained", [("hidden",), ("hidden", "weight")])
def test_gradient_checkpointing_around_it(trained, use_reentrant):
    case, settings = make_case(trained=trained), ObjectiveSettings(window=8)
    leaves = case.leaves()

    def loss(hidden, weight):
        return fused_objective(hidden, weight, *case.batch, settings)[0]

    actual = gradients(checkpoint(loss, leaves["hidden"], leaves["weight"], use_reentrant=use_reentrant), leaves)
    for name, expected in case.dense(settings)[1].items():
        torch.testing.assert_close(actual[name], expected, rtol=1e-4, atol=1e-7)


def test_torch_compile_of_what_surrounds_it():
    case = make_case()
    layer = torch.nn.Linear(31, 31)

    def model(hidden):
        return 2.0 * fused_linear_cuset_loss(layer(hidden).tanh(), case.weight, *case.batch, window=8)

    plain = model(case.hidden)
    plain.backward()
    expected, layer.weight.grad = layer.weight.grad, None
    compiled = torch.compile(model, backend="aot_eager")(case.hidden)
    compiled.backward()
    torch.testing.assert_close(compiled, plain)
    torch.testing.assert_close(layer.weight.grad, expected)


@pytest.mark.parametrize("trained", [("hidden",), ("hidden", "weight", "bias")])
def test_backward_twice_and_a_scaled_loss(trained):
    case = make_case(bias=True, trained=trained)
    expected = case.dense(ObjectiveSettings(window=8))[1]
    leaves = case.leaves()
    loss = fused_linear_cuset_loss(leaves["hidden"], leaves["weight"], *case.batch, bias=leaves["bias"], window=8)
    (3.0 * loss).backward(retain_graph=True)
    loss.backward()
    for name, gradient in expected.items():
        torch.testing.assert_close(leaves[name].grad, 4 * gradient, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("trained", [("hidden",), ("hidden", "weight", "bias"), ()])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_nothing_supervised_is_zero_with_a_gradient_path(objective, trained):
    case = make_case(bias=True, trained=trained)
    case.labels.fill_(-100)
    case.hidden[0, 0] = float("nan")  # hidden states of padding may be anything
    loss, gradient, terms = case.fused(ObjectiveSettings(objective=objective))
    assert loss == 0 and set(gradient) == set(trained)
    assert not any(g.any() for g in gradient.values())
    assert terms.nll.numel() == terms.sample_weight.numel() == 0


def test_hidden_states_that_are_not_supervised_do_not_matter():
    case = make_case()
    expected = case.fused(ObjectiveSettings())
    case.hidden[:, :-1][~case.is_token] = float("nan")
    case.hidden[:, -1] = float("nan")
    assert_same(case.fused(ObjectiveSettings()), expected)


# ---- choice of the backend


def test_which_backend_computes(monkeypatch, tmp_path):
    """PyTorch computes on CPUs, for float64, without Triton, and where Triton finds no C compiler.

    The missing compiler causes a warning.
    """
    assert choose_backend(torch.device("cpu"), torch.float32) is choose_backend(GPU, torch.float64) is TORCH
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    engine._finds_compiler.cache_clear()
    with pytest.warns(UserWarning, match="Triton finds no C compiler"):
        assert choose_backend(GPU, torch.bfloat16) is TORCH
    assert choose_backend(GPU, torch.bfloat16, "triton") is not TORCH  # Triton itself will fail then
    engine._finds_compiler.cache_clear()
    (tmp_path / "gcc").write_text("#!/bin/sh\n")
    (tmp_path / "gcc").chmod(0o755)
    assert choose_backend(GPU, torch.bfloat16) is not TORCH
    engine._finds_compiler.cache_clear()
    monkeypatch.setitem(sys.modules, "cuset_stage.objective.triton_kernels", None)
    monkeypatch.delattr("cuset_stage.objective.triton_kernels", raising=False)
    assert choose_backend(GPU, torch.bfloat16) is TORCH
    with pytest.raises(ImportError):
        choose_backend(GPU, torch.bfloat16, "triton")
