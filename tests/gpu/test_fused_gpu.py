"""The fused head on a GPU: the Triton kernels against plain PyTorch, the dense loss, and the promise about memory."""

import warnings
from dataclasses import replace

import pytest
import torch
from loss_cases import IN_RANGE, Case, assert_in_range, assert_same, make_case, sharp_case

from cuset_stage.objective import OBJECTIVES, ObjectiveSettings, fused_objective
from cuset_stage.objective.engine import TORCH, choose_backend, chunk_step
from cuset_stage.objective.rules import MEASURED


pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")]

GIB = 2**30
STEP_TOLERANCE = {torch.float32: 2e-5, torch.bfloat16: 1e-2, torch.float16: 1e-3}


@pytest.fixture(autouse=True)
def full_float32():
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = False
    yield
    torch.backends.cuda.matmul.allow_tf32 = before


@pytest.mark.parametrize("vocab_size", [11, 1500, 32000, 50257, 152064, 262144])
@pytest.mark.parametrize("dtype", STEP_TOLERANCE)
def test_kernel_equals_the_pytorch_step(dtype, vocab_size):
    """The same logits through both: statistics to float32's precision, gradients to that of the dtype."""
    device = torch.device("cuda")
    kernels = choose_backend(device, dtype)
    assert kernels is not TORCH
    generator = torch.Generator(device).manual_seed(vocab_size)
    rows, columns = 24, -(-vocab_size // 64) * 64
    buffers = torch.full((2, rows, columns), float("nan"), device=device, dtype=dtype)
    buffers[..., :vocab_size] = 3 * torch.randn(2, rows, vocab_size, device=device, generator=generator)
    target = torch.randint(0, vocab_size, (rows,), device=device, generator=generator)
    places = torch.arange(0, rows, 2, device=device)
    # Likely targets, of a probability near one half whatever the vocabulary, so that no threshold is met exactly.
    normaliser = buffers[0, ::2, :vocab_size].float().logsumexp(-1)
    buffers[0, places, target[::2]] = normaliser.to(dtype)

    for weight, base in ((None, None), (torch.linspace(0, 2, rows, device=device), None), (None, buffers[1])):
        results = []
        for step, single_read in ((chunk_step, False), (kernels.chunk_step, False), (kernels.chunk_step, True)):
            buffer = buffers[0].clone()
            factor = torch.full((rows,), float("nan"), device=device) if single_read else None
            nll, penalty = torch.empty(rows, device=device), torch.zeros(rows, device=device)
            options = {"weight": weight, "gradient_scale": 2.0, "factor": factor}
            if base is not None:
                options |= {"reference": base[:, :vocab_size], "penalty": penalty, "kl": 0.3}
            step(buffer[:, :vocab_size], target, nll, **options)
            assert buffer[:, vocab_size:].isnan().all()
            gradient = buffer[:, :vocab_size].float()
            results.append((nll, penalty, gradient * factor[:, None] if single_read else gradient))
        names = 2 * ("nll", "penalty", "gradient")
        for name, mine, theirs in zip(names, results[1] + results[2], 2 * results[0], strict=True):
            tolerance = STEP_TOLERANCE[dtype] if name == "gradient" else 2e-5
            torch.testing.assert_close(
                mine, theirs, rtol=tolerance, atol=tolerance / 10, msg=lambda m, n=name: f"{n}: {m}"
            )

    logits, names = buffers[0][:, :vocab_size], [*MEASURED, "probability"]
    expected, actual = (module.measure(logits, target, names) for module in (TORCH, kernels))
    for name in names:
        torch.testing.assert_close(
            actual[name], expected[name], rtol=2e-5, atol=2e-5, msg=lambda m, n=name: f"{n}: {m}"
        )


@pytest.mark.parametrize("trained", [("hidden",), ("hidden", "weight", "bias")])
@pytest.mark.parametrize("shape", [(2, 47, 31, 123), (2, 300, 64, 50257)])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_float32_equals_the_readable_loss(objective, shape, trained):
    case = make_case(shape, bias=True, trained=trained, device="cuda")
    settings = ObjectiveSettings(objective=objective, window=32)
    expected = case.dense(settings)
    for chunk_rows in (None, 100):
        assert_same(case.fused(settings, chunk_rows=chunk_rows), expected, tolerance=1e-4)


def away_from_tokens(case: Case) -> float:
    """A threshold near 0.1 in the widest gap between confidences: rounding in bf16 must not decide which side a token is on."""
    confidence = case.dense(ObjectiveSettings())[2].confidence
    near = confidence[(confidence > 0.03) & (confidence < 0.4)].sort().values.log()
    widest = near.diff().argmax()
    return float(((near[widest] + near[widest + 1]) / 2).exp())


def assert_near(actual, expected, tolerance: float) -> None:
    """The loss, and each gradient in its norm."""
    torch.testing.assert_close(actual[0], expected[0], rtol=tolerance, atol=0)
    for name, gradient in expected[1].items():
        difference = torch.linalg.norm((actual[1][name] - gradient).float()) / torch.linalg.norm(gradient.float())
        assert difference < tolerance, (name, difference.item())


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.bfloat16, 1e-2), (torch.float16, 2e-3)])
@pytest.mark.parametrize("trained", [("hidden",), ("hidden", "weight", "bias")])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_half_precision_equals_the_readable_loss(objective, trained, dtype, tolerance):
    case = make_case((2, 250, 64, 152064), bias="bias" in trained, trained=trained, device="cuda", dtype=dtype)
    threshold = away_from_tokens(case)
    settings = ObjectiveSettings(objective=objective, window=32, tau=threshold, prob_threshold=(threshold,))
    # Divided by 1: in float16 the small gradients of the dense loss would vanish.
    expected = case.dense(settings, num_items_in_batch=1)
    actual = case.fused(settings, num_items_in_batch=1, chunk_rows=128)
    assert_near(actual, expected, tolerance)
    off = torch.linalg.norm(actual[2].weight - expected[2].weight)
    assert off <= tolerance * torch.linalg.norm(expected[2].weight)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.bfloat16, 1e-2), (torch.float16, 5e-3)])
@pytest.mark.parametrize("trained", [("hidden",), ("hidden", "weight", "bias")])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_autocast(objective, trained, dtype, tolerance):
    case = make_case((2, 100, 64, 5003), bias=True, trained=trained, device="cuda")
    with torch.autocast("cuda", dtype=dtype):
        threshold = away_from_tokens(case)
        settings = ObjectiveSettings(objective=objective, window=32, tau=threshold, prob_threshold=(threshold,))
        # Divided by 1: in float16 the small gradients of the dense loss would vanish.
        expected, actual = (method(settings, num_items_in_batch=1) for method in (case.dense, case.fused))
    assert_near(actual, expected, tolerance)
    assert {gradient.dtype for gradient in actual[1].values()} == {torch.float32}


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_diverged_hidden_states_are_reported(value):
    case = make_case((2, 47, 64, 32003), device="cuda", dtype=torch.bfloat16)
    case.hidden[1, (case.labels[1, 1:] != -100).nonzero()[0]] = value
    for objective in OBJECTIVES:
        with pytest.raises(ValueError, match="NaN or infinite logits"):
            case.fused(ObjectiveSettings(objective=objective))


def test_labels_outside_the_vocabulary_are_reported_and_none_at_all_give_no_loss():
    case = make_case((2, 47, 64, 32003), device="cuda", dtype=torch.bfloat16)
    case.labels[0, 3] = 32003
    with pytest.raises(ValueError, match="outside the vocabulary of 32003"):
        case.fused(ObjectiveSettings())
    torch.cuda.synchronize()  # no illegal access was left behind
    case.labels.fill_(-100)
    loss, gradient, _ = case.fused(ObjectiveSettings())
    assert loss == 0 and gradient["hidden"].abs().max() == 0


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_targets_far_below_the_largest_logits(dtype):
    """Where the single read of the logits has to change its base, in blocks before and behind the target."""
    kernels = choose_backend(torch.device("cuda"), dtype)
    logits = torch.randn(64, 152064, device="cuda", generator=torch.Generator("cuda").manual_seed(0))
    for row in range(64):
        logits[row, torch.arange(row * 311, 152064, 23011, device="cuda")] += 3.0 * row
        logits[row, 2371 * row] += 5.0 * row
    logits[:8, 100000:] = -float("inf")
    target = torch.arange(64, device="cuda") * 1501
    results = []
    for step, factor in ((chunk_step, None), (kernels.chunk_step, torch.full((64,), float("nan"), device="cuda"))):
        buffer, nll = logits.to(dtype, copy=True), torch.empty(64, device="cuda")
        step(buffer, target, nll, factor=factor)
        results.append((nll, buffer.float() if factor is None else buffer.float() * factor[:, None]))
    torch.testing.assert_close(results[1][0], results[0][0], rtol=2e-5, atol=2e-5)
    tolerance = 1e-4 if dtype == torch.float32 else 1e-2  # float32 logits of 300 are good to 3e-5
    torch.testing.assert_close(results[1][1], results[0][1], rtol=tolerance, atol=tolerance / 10)


def test_calls_in_flight_keep_their_own_verdicts():
    """Losses and errors of micro-batches whose copies are under way together do not mix."""
    settings = ObjectiveSettings(window=32)
    cases = [make_case((2, 300, 64, 32003), device="cuda", seed=seed) for seed in range(6)]
    for number, case in enumerate(cases):
        case.labels[:, 50 * number + 50 :] = -100
    expected = [case.fused(settings) for case in cases]
    cases[2].hidden[0, (cases[2].labels[0, 1:] != -100).nonzero()[0]] = float("nan")
    leaves = [case.leaves() for case in cases]
    losses = [
        fused_objective(leaf["hidden"], leaf["weight"], *case.batch, settings)[0]
        for leaf, case in zip(leaves, cases, strict=True)
    ]
    for number in reversed(range(6)):
        if number == 2:
            with pytest.raises(ValueError, match="NaN or infinite"):
                losses[number].backward()
            assert leaves[number]["hidden"].grad is None
        else:
            losses[number].backward()
            torch.testing.assert_close(losses[number].detach(), expected[number][0])
            torch.testing.assert_close(leaves[number]["hidden"].grad, expected[number][1]["hidden"])


def test_another_stream_than_the_default():
    case = make_case((2, 300, 64, 32003), device="cuda")
    settings = ObjectiveSettings(window=32)
    expected = case.fused(settings)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        actual = case.fused(settings)
    torch.cuda.current_stream().wait_stream(stream)
    assert_same(actual, expected)


def measured(length: int, objective: str, vocab_size=152064, hidden_size=3584) -> tuple[float, int]:
    """(peak in GiB above the inputs and the gradient that is returned, waits for the device) of a step with a frozen head."""
    generator = torch.Generator("cuda").manual_seed(0)
    like = {"device": "cuda", "generator": generator}
    hidden = torch.randn(1, length, hidden_size, dtype=torch.bfloat16, **like).requires_grad_()
    weight = 0.02 * torch.randn(vocab_size, hidden_size, dtype=torch.bfloat16, **like)
    labels = torch.randint(0, vocab_size, (1, length), **like)
    masks = [torch.randint(0, 2, (1, length), **like), torch.arange(length, device="cuda")[None] // 512]
    settings = ObjectiveSettings(objective=objective)
    base = hidden.detach()

    def step():
        loss, terms = fused_objective(hidden, weight, labels, *masks, settings, reference=(base, None))
        del terms
        loss.backward()

    step()  # compiles the kernels, allocates cuBLAS's workspace
    hidden.grad = None
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.cuda.set_sync_debug_mode("warn")
        try:
            step()
        finally:
            torch.cuda.set_sync_debug_mode("default")
    extra = torch.cuda.max_memory_allocated() - before - hidden.grad.numel() * hidden.grad.itemsize
    # Turning the mode on warns too, once, that it is a prototype.
    texts = [str(warning.message) for warning in caught]
    waits = sum("synchronizing" in text and "prototype" not in text for text in texts)
    return extra / GIB, waits


@pytest.mark.parametrize("length", [4096, 16384])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_memory_and_waits(objective, length):
    extra, waits = measured(length, objective)
    assert extra < 0.30, f"{extra:.3f} GiB beyond the inputs and their gradient"
    assert waits <= 1  # for the number of tokens; the verdict is a copy of its own, waited for by its event


def test_a_run_compiles_each_kernel_twice_at_most():
    """Steps and evaluations of many lengths, on the device: no length is compiled for anew."""
    import triton

    compiled = []

    def hook(*, fn, compile, **_):
        compiled.append(fn.name)

    before, triton.knobs.runtime.jit_cache_hook = triton.knobs.runtime.jit_cache_hook, hook
    try:
        for tokens in (5, 1, 2, 15, 16, 17, 64, 100, 333):
            for rows in (1, 3):
                # sizes of no other test
                case = make_case((rows, tokens + 1, 72, 7013), device="cuda", dtype=torch.bfloat16)
                case.fused(ObjectiveSettings(), chunk_rows=50)
                with torch.no_grad():
                    fused_objective(case.hidden, case.weight, *case.batch, ObjectiveSettings())
    finally:
        triton.knobs.runtime.jit_cache_hook = before
    assert compiled and max(compiled.count(name) for name in compiled) <= 2, compiled


def test_evaluation_needs_no_gradient_memory():
    case = make_case((1, 2048, 512, 152064), device="cuda", dtype=torch.bfloat16)
    with torch.no_grad():
        fused_objective(case.hidden, case.weight, *case.batch, ObjectiveSettings())
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        loss, terms = fused_objective(case.hidden, case.weight, *case.batch, ObjectiveSettings())
    assert not loss.requires_grad and torch.isfinite(terms.nll).all()
    assert (torch.cuda.max_memory_allocated() - before) / GIB < 0.30


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two GPUs")
def test_a_head_on_another_than_the_current_device():
    case = make_case((2, 47, 64, 1003))
    here, there = (
        replace(case, **{k: v.to(device) for k, v in vars(case).items() if isinstance(v, torch.Tensor)})
        for device in ("cuda:0", "cuda:1")
    )
    assert torch.cuda.current_device() == 0
    results = [c.fused(ObjectiveSettings(window=8)) for c in (here, there)]
    torch.testing.assert_close(results[0][1]["hidden"].cpu(), results[1][1]["hidden"].cpu())


@pytest.mark.parametrize("dtype", STEP_TOLERANCE)
@pytest.mark.parametrize("objective", [*OBJECTIVES, IN_RANGE])
def test_sure_tokens_stay_in_range(objective, dtype):
    """Rounding leaves no loss below 0 and no confidence above 1, by either step and from logits."""
    for seed in range(10):
        # 9000: the single read of UNSCALED_LAUNCH_SHAPES needs two of its blocks.
        shape = (2, 200, 64, (130, 9000)[seed % 2])
        trained = ("hidden", "weight") if seed % 4 == 3 else ("hidden",)
        case = sharp_case(seed // 2, dtype, device="cuda", shape=shape, trained=trained)
        settings = ObjectiveSettings(objective=objective, window=(1, 16, 256)[seed % 3])
        for run in (case.dense, case.fused):
            terms = run(settings)[2]
            assert_in_range(terms)
            assert objective != IN_RANGE or terms.weight.all()


@pytest.mark.parametrize("dtype", STEP_TOLERANCE)
@pytest.mark.parametrize("vocab_size", [130, 9000, 152064])
def test_the_gradient_of_sure_tokens_is_that_of_float64(vocab_size, dtype):
    rows, device = 256, torch.device("cuda")
    generator = torch.Generator(device).manual_seed(vocab_size)
    logits = 3 * torch.randn(rows, vocab_size, device=device, generator=generator)
    target = torch.randint(0, vocab_size, (rows,), device=device, generator=generator)
    place = torch.arange(rows, device=device)
    logits[place, target] = torch.linspace(5, 40, rows, device=device)
    logits = logits.to(dtype)
    expected = logits.double().softmax(-1)
    expected[place, target] -= 1
    for single_read in (False, True):
        gradient, nll = logits.clone(), torch.empty(rows, device=device)
        factor = torch.empty(rows, device=device) if single_read else None
        choose_backend(device, dtype).chunk_step(gradient, target, nll, factor=factor)
        assert (nll >= 0).all()
        gradient = gradient.double() if factor is None else gradient.double() * factor[:, None]
        torch.testing.assert_close(gradient, expected, rtol=STEP_TOLERANCE[dtype], atol=2e-5)
