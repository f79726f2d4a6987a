"""The fused head in a training loop: memory, evaluation, autocast, checkpointing, torch.compile, and bad input."""

import sys

import pytest
import torch
from test_fused_parity import assert_same, gradients, make_case
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint

from cuset_stage.objective import (
    OBJECTIVES,
    ObjectiveSettings,
    engine,
    fused_linear_cuset_loss,
    fused_objective,
    objective_loss,
    token_terms,
)
from cuset_stage.objective.engine import CHUNK_BYTES, TORCH, choose_backend, rows_per_chunk


PRODUCTS = ("aten.mm", "aten.addmm", "aten.addmm_")


class Watch(TorchDispatchMode):
    """Counts matrix products and remembers the largest tensor anything returned."""

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
    assert watch.largest <= 16 * 320  # a chunk, its rows padded to 64 columns; the batch has 400 * 300 logits
    assert max(saved) <= max(400 * 4, 300 * 4)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_evaluation_computes_the_forward_product_only(objective):
    case = make_case(trained=("hidden", "weight"))
    settings = ObjectiveSettings(objective=objective, window=8)
    expected = case.dense(settings)
    chunks = -(-int((case.labels[:, 1:] != -100).sum()) // 16)
    forward = chunks * (2 if settings.needs_reference else 1)
    for frozen in (True, False):
        hidden, weight = (t.clone().requires_grad_(not frozen) for t in (case.hidden, case.weight))
        with torch.set_grad_enabled(frozen), Watch() as watch:
            loss, terms = fused_objective(
                hidden, weight, *case.batch, settings, reference=(case.base_hidden, None), chunk_rows=16
            )
        assert watch.products == forward
        assert not loss.requires_grad and not terms.nll.requires_grad
        torch.testing.assert_close(loss, expected[0])
        torch.testing.assert_close(terms.nll, expected[2].nll)


def test_products_of_a_step():
    """Two with a frozen head; four for a trained head whose tokens wait for their sample's weight, else three."""
    for trained, settings, expected in (
        (("hidden",), ObjectiveSettings(), 2),
        (("hidden", "weight"), ObjectiveSettings(), 4),
        (("hidden", "weight"), ObjectiveSettings(objective="dft"), 3),
    ):
        case = make_case(trained=trained)
        with Watch() as watch:
            case.fused(settings, chunk_rows=1000)
        assert watch.products == expected


@pytest.mark.parametrize("lam", [200.0, 2000.0])
def test_large_weights_stay_within_float16(lam):
    case = make_case((2, 40, 64, 97), dtype=torch.float16, seed=2)
    settings = ObjectiveSettings(lam=lam, window=8, tau=0.05)
    assert_same(case.fused(settings, num_items_in_batch=4096), case.dense(settings, num_items_in_batch=4096), 4e-3)


def test_small_probabilities_survive_float16():
    """A sure token among 20000 of 2e-8 each, which float16 takes for 0; together they are half of the gradient."""
    hidden = torch.tensor([[[17.7, 0.0], [0.0, 0.0]]], dtype=torch.float16, requires_grad=True)
    weight = torch.tensor([[0.0, 1.0]], dtype=torch.float16).repeat(20000, 1)
    weight[7] = torch.tensor([1.0, 0.0])
    batch = torch.tensor([[-100, 7]]), None, None
    loss, terms = fused_objective(hidden, weight, *batch, ObjectiveSettings(objective="sft"))
    (loss * 2.0**10).backward()
    rest = 1 - terms.confidence.double().item()
    assert 1e-8 < rest / 20000 < 2.9e-8  # half of float16's smallest step
    expected = torch.tensor([-rest, rest], dtype=torch.float64)
    # A CPU's product sums so many small numbers badly, one without AVX-512 by 14 %; numbers taken for 0 would be off by 100 %.
    torch.testing.assert_close(hidden.grad[0, 0].double() / 2**10, expected, rtol=0.3, atol=0)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"tau": 0.0, "use_cuda_mask": False}, [0.0, 1.0]),  # Eq. 2: above tau
        ({"objective": "profit", "prob_threshold": (0.0,)}, [1.0, 1.0]),  # ProFit keeps its thresholds
        ({"objective": "profit", "prob_threshold": (1.0,)}, [0.0, 1.0]),
        ({"objective": "profit", "prob_threshold": (0.0,), "threshold_direction": "lower"}, [1.0, 0.0]),
        ({"objective": "profit", "prob_threshold": (0.0, 0.0), "threshold_direction": "middle"}, [1.0, 0.0]),
        ({"objective": "profit", "prob_threshold": (1.0, 1.0), "threshold_direction": "middle"}, [0.0, 1.0]),
    ],
)
def test_probabilities_on_a_threshold(options, expected):
    """Of two tokens whose probabilities are exactly 0 and 1."""
    hidden, weight = torch.full((1, 3, 1), 200.0), torch.tensor([[0.0], [1.0]])
    batch, settings = (torch.tensor([[-100, 0, 1]]), None, None), ObjectiveSettings(**options)
    for terms in (
        fused_objective(hidden, weight, *batch, settings)[1],
        token_terms(hidden @ weight.T, *batch, settings),
    ):
        assert terms.confidence.tolist() == [0.0, 1.0]
        assert terms.weight.tolist() == expected


@pytest.mark.parametrize("use_reentrant", [True, False])
@pytest.mark.parametrize("trained", [("hidden",), ("hidden", "weight")])
def test_gradient_checkpointing_around_it(trained, use_reentrant):
    case = make_case(trained=trained)
    settings = ObjectiveSettings(window=8)
    leaves = case.leaves()

    def loss(hidden, weight):
        return fused_objective(hidden, weight, *case.batch, settings)[0]

    value = checkpoint(loss, leaves["hidden"], leaves["weight"], use_reentrant=use_reentrant)
    actual = gradients(value, leaves)
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


@pytest.mark.parametrize("trained", [("hidden",), ("hidden", "weight", "bias")])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_nothing_supervised_is_zero_with_a_gradient_path(objective, trained):
    case = make_case(bias=True, trained=trained)
    case.labels.fill_(-100)
    case.hidden[0, 0] = float("nan")  # padding may hold anything
    loss, gradient, terms = case.fused(ObjectiveSettings(objective=objective))
    assert loss == 0 and set(gradient) == set(trained)
    assert all(torch.equal(g, torch.zeros_like(g)) for g in gradient.values())
    assert terms.nll.numel() == terms.sample_weight.numel() == 0
    with torch.no_grad():
        loss, _ = fused_objective(case.hidden, case.weight, *case.batch, ObjectiveSettings())
    assert loss == 0 and not loss.requires_grad


def test_hidden_states_that_are_not_supervised_do_not_matter():
    case = make_case()
    expected = case.fused(ObjectiveSettings())
    ignored = torch.ones_like(case.labels, dtype=torch.bool)
    ignored[:, :-1] = case.labels[:, 1:] == -100
    case.hidden[ignored] = float("nan")
    assert_same(case.fused(ObjectiveSettings()), expected)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("trained", [("hidden",), ("hidden", "weight")])
def test_diverged_hidden_states_are_reported(value, trained):
    case = make_case(trained=trained)
    position = (case.labels[0, 1:] != -100).nonzero()[0]
    case.hidden[0, position] = value
    with pytest.raises(ValueError, match=r"1 of \d+ supervised tokens have NaN or infinite logits"):
        case.fused(ObjectiveSettings())


def test_bad_values_are_reported_at_once_without_a_gradient():
    case = make_case()
    case.labels[0, 5] = 123
    with torch.no_grad(), pytest.raises(ValueError, match="outside the vocabulary of 123"):
        fused_objective(case.hidden, case.weight, *case.batch, ObjectiveSettings())
    case = make_case()
    case.hidden[:] = float("nan")
    with torch.no_grad(), pytest.raises(ValueError, match="NaN or infinite"):
        fused_objective(case.hidden, case.weight, *case.batch, ObjectiveSettings())


def test_a_diverged_base_model_is_reported():
    case = make_case()
    case.base_hidden[:] = float("nan")
    with pytest.raises(ValueError, match="NaN or infinite"):
        case.fused(ObjectiveSettings(objective="asft"))


@pytest.mark.parametrize("options", [{"num_items_in_batch": 0}, {"num_items_in_batch": torch.tensor(0)}])
@pytest.mark.parametrize("trained", [("hidden",), ()])
def test_an_infinite_loss_of_finite_logits_is_none_of_the_models(options, trained):
    """Where the divisor is at fault, nobody says that training has diverged: the loss is infinite as the readable one is."""
    case = make_case(trained=trained)
    leaves = case.leaves()
    with torch.set_grad_enabled(bool(trained)):
        loss, terms = fused_objective(leaves["hidden"], leaves["weight"], *case.batch, ObjectiveSettings(), **options)
        expected = objective_loss(case.logits(**case.leaves()), *case.batch, ObjectiveSettings(), **options)
    if trained:
        loss.backward()
    assert loss == expected == float("inf") and torch.isfinite(terms.nll).all()


@pytest.mark.parametrize("label", [-1, 123, 10**6])
def test_labels_outside_the_vocabulary(label):
    case = make_case()
    case.labels[0, 5] = label
    with pytest.raises(ValueError, match=f"{label}, outside the vocabulary of 123|from {label} .*outside"):
        case.fused(ObjectiveSettings())


def test_tensors_that_do_not_belong_together():
    case = make_case()
    settings = ObjectiveSettings()
    h, w, (labels, cuda, ids) = case.hidden, case.weight, case.batch
    for arguments, options, message in (
        ((h[0], w, labels, cuda, ids), {}, "expected hidden"),
        ((h, w[:, :-1], labels, cuda, ids), {}, "different hidden sizes"),
        ((h, w, labels[:, :-1], cuda, ids), {}, "labels has the shape"),
        ((h, w, labels, cuda[:1], ids), {}, "cuda_mask has the shape"),
        ((h, w, labels, cuda, ids[:1]), {}, "sample_ids has the shape"),
        ((h, w, labels.to("meta"), cuda, ids), {}, "labels is on meta, hidden on cpu"),
        ((h, w, labels, cuda.to("meta"), ids), {}, "cuda_mask is on meta, hidden on cpu"),
        ((h, w, labels, cuda, ids.to("meta")), {}, "sample_ids is on meta, hidden on cpu"),
        ((h, w, labels, cuda, ids), {"bias": w[:5, 0]}, "bias has the shape"),
        ((h, w.bfloat16(), labels, cuda, ids), {}, "expected one floating dtype"),
        ((h, w, labels, cuda, ids), {"backend": "cuda"}, "expected auto, torch or triton"),
        ((h, w, labels, cuda, ids), {"backend": "triton"}, "on a GPU"),
    ):
        with pytest.raises(ValueError, match=message):
            fused_objective(*arguments, settings, **options)


def test_asft_wants_a_reference_that_fits():
    case = make_case()
    settings = ObjectiveSettings(objective="asft")
    arguments = (case.hidden, case.weight, *case.batch, settings)
    for reference, message in (
        (None, "pass reference"),
        ((case.hidden[:, :-1], None), "same batch and length"),
        ((case.hidden[..., :-1], None), "different hidden sizes"),
        ((case.hidden, (case.weight[:, :-1], None)), "different hidden sizes"),
        ((case.hidden, (case.weight[:-1], None)), "expected 123 rows, as the head has"),
        ((case.hidden, (case.weight, case.weight[:1, 0])), "reference bias has the shape"),
    ):
        with pytest.raises(ValueError, match=message):
            fused_objective(*arguments, reference=reference)
    fused_objective(*arguments[:-1], ObjectiveSettings(objective="asft", asft_alpha=0.0))  # no KL, no reference


def test_a_base_model_of_another_width():
    case = make_case()
    generator = torch.Generator().manual_seed(3)
    narrow, head = torch.randn(2, 47, 8, generator=generator), torch.randn(123, 8, generator=generator)
    settings = ObjectiveSettings(objective="asft")
    _, terms = fused_objective(
        case.hidden, case.weight, *case.batch, settings, reference=(narrow, (head, None)), chunk_rows=9
    )
    keep = case.labels[:, 1:] != -100
    log_q = (narrow @ head.T)[:, :-1][keep].log_softmax(-1)
    log_p = (case.hidden @ case.weight.T)[:, :-1][keep].log_softmax(-1)
    torch.testing.assert_close(terms.penalty, 0.1 * (log_q.exp() * (log_q - log_p)).sum(-1), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("row_bytes", [1, 2 * 152064, 10**9])
@pytest.mark.parametrize("num_tokens", [1, 129, 16383])
def test_chunks_stay_within_the_budget(num_tokens, row_bytes):
    rows = rows_per_chunk(num_tokens, row_bytes)
    assert 1 <= rows <= num_tokens
    assert rows * row_bytes <= max(CHUNK_BYTES, row_bytes)
    assert rows == num_tokens or rows % 96 == 95 or CHUNK_BYTES // row_bytes < 96


def test_float64_and_cpus_take_the_pytorch_path():
    for device, dtype in (("cpu", torch.float32), ("cuda", torch.float64)):
        assert choose_backend(torch.device(device), dtype) is TORCH


def test_without_triton_a_gpu_takes_the_pytorch_path(monkeypatch):
    monkeypatch.setitem(sys.modules, "cuset_stage.objective.triton_kernels", None)
    monkeypatch.delattr("cuset_stage.objective.triton_kernels", raising=False)
    gpu = torch.device("cuda")
    assert choose_backend(gpu, torch.bfloat16) is TORCH
    with pytest.raises(ImportError):
        choose_backend(gpu, torch.bfloat16, "triton")


@pytest.fixture
def looks_again():
    """What was found of a compiler is forgotten, before and after."""
    engine._finds_compiler.cache_clear()
    yield engine._finds_compiler.cache_clear
    engine._finds_compiler.cache_clear()


def test_without_a_c_compiler_a_gpu_takes_the_pytorch_path(monkeypatch, tmp_path, looks_again):
    gpu = torch.device("cuda")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    with pytest.warns(UserWarning, match="Triton finds no C compiler"):
        assert choose_backend(gpu, torch.bfloat16) is TORCH
    assert choose_backend(gpu, torch.bfloat16, "triton") is not TORCH  # then Triton says it
    looks_again()
    (tmp_path / "gcc").write_text("#!/bin/sh\n")
    (tmp_path / "gcc").chmod(0o755)
    assert choose_backend(gpu, torch.bfloat16) is not TORCH


@pytest.mark.parametrize("layout", ["transposed", "strided", "expanded"])
def test_labels_that_are_not_contiguous(layout):
    case = make_case((3, 40, 16, 97))
    expected = case.fused(ObjectiveSettings(window=8))
    for name in ("labels", "cuda_mask", "sample_ids"):
        values = getattr(case, name)
        match layout:
            case "transposed":
                values = values.t().contiguous().t()
            case "strided":
                values = torch.stack([values, torch.full_like(values, 5)], dim=-1)[..., 0]
            case "expanded" if name == "sample_ids":  # the same ids in every row
                values = values[:1].expand(3, -1)
        setattr(case, name, values)
    assert not case.sample_ids.is_contiguous()
    assert_same(case.fused(ObjectiveSettings(window=8)), expected)


@pytest.mark.parametrize("trained", [("hidden",), ("hidden", "weight")])
def test_the_loss_is_on_its_way_before_the_last_products(trained):
    """So that backward, which asks whether the batch was sound, finds the answer there while the device still has work."""
    case = make_case(trained=trained)
    leaves = case.leaves()
    with Watch() as watch:
        fused_objective(leaves["hidden"], leaves["weight"], *case.batch, ObjectiveSettings(window=8), chunk_rows=16)
    last = max(i for i, name in enumerate(watch.calls) if name in PRODUCTS)
    assert "aten.div" in watch.calls[:last]
    assert "aten.div" not in watch.calls[last:]


def test_each_call_keeps_its_own_verdict():
    """Two micro-batches in flight: the error belongs to the one whose logits are NaN, and leaves no gradient behind."""
    bad, good = make_case(), make_case(seed=1)
    bad.hidden[0, (bad.labels[0, 1:] != -100).nonzero()[0]] = float("nan")
    leaves = [case.leaves() for case in (bad, good)]
    losses = [
        fused_linear_cuset_loss(leaf["hidden"], leaf["weight"], *case.batch)
        for leaf, case in zip(leaves, (bad, good), strict=True)
    ]
    with pytest.raises(ValueError, match="NaN or infinite"):
        losses[0].backward()
    assert leaves[0]["hidden"].grad is None
    losses[1].backward()
    assert torch.isfinite(leaves[1]["hidden"].grad).all()
