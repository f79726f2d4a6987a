"""The Triton kernels, run by Triton's interpreter without a GPU, give what the PyTorch backend gives.

The interpreter has to be chosen before Triton is imported. So the first test runs this file again in a new process,
and the other tests run only there.
"""

import itertools
import os
import subprocess
import sys

import pytest
import torch
from loss_cases import assert_same, make_case

from cuset_stage.objective import ObjectiveSettings, cuset, engine
from cuset_stage.objective.cuset import SupervisedTokens
from cuset_stage.objective.engine import chunk_step
from cuset_stage.objective.rules import MEASURED, rule


pytest.importorskip("triton")
INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
interpreted = pytest.mark.skipif(not INTERPRETED, reason="runs in the process that the first test starts")

TOLERANCE = {torch.float32: 1e-5, torch.bfloat16: 1e-2, torch.float16: 1e-3}


@pytest.mark.skipif(INTERPRETED, reason="already in the process that this test starts")
def test_kernels_under_the_interpreter(tmp_path):
    command = [sys.executable, "-m", "pytest", "-q", "-o", "addopts=", "-o", f"cache_dir={tmp_path}", __file__]
    environment = os.environ | {"TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert "passed" in done.stdout


@pytest.fixture(scope="module", autouse=INTERPRETED)
def patched_once():
    """Keep the interpreter from replacing all of triton.language in each call of a function: half of its time."""
    from triton.runtime import interpreter

    patch, patched = interpreter._patch_lang, {}
    interpreter._LangPatchScope.restore = lambda scope: None
    interpreter._patch_lang = lambda function: (
        patched.get(function.__module__) or patched.setdefault(function.__module__, patch(function))
    )


@pytest.fixture
def kernels(monkeypatch):
    from cuset_stage.objective import triton_kernels

    # With small blocks, small vocabularies reach every loop of the kernels: pairs of blocks, a single block, and a
    # part of one.
    monkeypatch.setattr(triton_kernels, "LAUNCH_SHAPES", ((0, 64, 4),))
    monkeypatch.setattr(triton_kernels, "UNSCALED_LAUNCH_SHAPES", ((0, 64, 4),))
    return triton_kernels


def inputs(rows=5, vocab_size=299, dtype=torch.float32, seed=0, scale=3.0):
    """Return two sets of logits, each in a wider buffer whose 40 last columns are NaN, and targets, half of them the
    likeliest.
    """
    generator = torch.Generator().manual_seed(seed)
    buffers = []
    for _ in range(2):
        buffer = torch.full((rows, vocab_size + 40), float("nan"), dtype=dtype)
        buffer[:, :vocab_size] = scale * torch.randn(rows, vocab_size, generator=generator)
        buffers.append(buffer)
    target = torch.randint(0, vocab_size, (rows,), generator=generator)
    target[::2] = buffers[0][::2, :vocab_size].argmax(-1)
    return *buffers, target


def run(step, buffer, base, target, weight=None, single_read=False, **options):
    """Run a step on copies.

    Return (nll, penalty, logits or their gradient), and check that nothing beyond the vocabulary changed.
    """
    factor = torch.full((target.numel(),), float("nan")) if single_read else None
    vocab_size = buffer.size(1) - 40
    buffer = buffer.clone()
    nll, penalty = torch.empty(target.numel()), torch.zeros(target.numel())
    if base is not None:
        options |= {"reference": base[:, :vocab_size], "penalty": penalty, "kl": 0.3}
    step(buffer[:, :vocab_size], target, nll, weight=weight, factor=factor, **options)
    assert buffer[:, vocab_size:].isnan().all()
    gradient = buffer[:, :vocab_size].float()
    return nll, penalty, gradient if factor is None else gradient * factor[:, None]


def assert_equal_steps(kernels, buffer, base, target, **options):
    """Check that both backends compute the same, and return what the kernels computed."""
    expected = run(chunk_step, buffer, base, target, **options)
    actual = run(kernels.chunk_step, buffer, base, target, **options)
    for name, mine, theirs in zip(("nll", "penalty", "gradient"), actual, expected, strict=True):
        rtol = TOLERANCE[buffer.dtype] if name == "gradient" else 1e-5
        atol = rtol * 1e-1 * options.get("gradient_scale", 1.0)
        about = {"rtol": rtol, "atol": atol, "equal_nan": True, "msg": lambda m, n=name: f"{n}: {m}"}
        torch.testing.assert_close(mine, theirs, **about)
    return actual


def assert_equal_measures(kernels, buffer, target):
    logits = buffer[:, :-40]
    expected, actual = (module.measure(logits, target, [*MEASURED, "probability"]) for module in (engine, kernels))
    for name, theirs in expected.items():
        torch.testing.assert_close(actual[name], theirs, rtol=1e-5, atol=2e-5, msg=lambda m, n=name: f"{n}: {m}")


WEIGHTS = torch.tensor([0.0, 0.7, 2.0])


@interpreted
@pytest.mark.parametrize(
    ("dtype", "vocab_size"),
    [*((dtype, 299) for dtype in TOLERANCE), *((torch.float32, size) for size in (2, 65, 128, 257))],
)
def test_equals_the_pytorch_step(kernels, dtype, vocab_size):
    """Compared with and without weights, gradient, base model and second read. Tokens of weight 0 get no gradient."""
    buffer, base, target = inputs(rows=3, vocab_size=vocab_size, dtype=dtype)
    for weight, single_read in itertools.product((None, WEIGHTS), (False, True)):
        options = {"weight": weight, "single_read": single_read}
        gradient = assert_equal_steps(kernels, buffer, None, target, gradient_scale=4.0, **options)[2]
        assert weight is None or not gradient[0].any()
    assert_equal_steps(kernels, buffer, None, target, want_gradient=False)
    for want in (True, False):
        assert_equal_steps(kernels, buffer, base, target, weight=WEIGHTS, want_gradient=want)
    assert_equal_measures(kernels, buffer, target)


@interpreted
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_measures_equal_the_pytorch_ones(kernels, dtype):
    buffer, _, target = inputs(rows=4, dtype=dtype)
    buffer[0, target[0]] = buffer[0, (target[0] + 1) % 299]  # ties with the target
    buffer[1, 7:90] = -float("inf")
    target[1], target[3] = 5, 8
    buffer[3, 8] = 50.0  # a sure token
    assert_equal_measures(kernels, buffer, target)


@interpreted
def test_launch_shapes_that_ship():
    from cuset_stage.objective import triton_kernels

    for vocab_size in (1500, 9000, 70001):
        buffer, _, target = inputs(rows=2, vocab_size=vocab_size, dtype=torch.bfloat16, scale=1.0)
        assert_equal_steps(triton_kernels, buffer, None, target, single_read=False)
        assert_equal_steps(triton_kernels, buffer, None, target, single_read=True)
        assert_equal_measures(triton_kernels, buffer, target)


@interpreted
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("size", [60.0, 1e9])
def test_targets_far_below_the_largest_logits(kernels, dtype, size):
    """The single read over the logits keeps a running base for its exponentials, which larger logits force it to
    change.

    It has to change once, in every block, in the last block, before and after the target.
    """
    buffer, _, target = inputs(rows=6, dtype=dtype)
    buffer[0, 290] += size  # the last block
    buffer[1, 3] += size  # the first
    buffer[2, :299] += size * (torch.arange(299) // 64) / 4  # every one
    buffer[3, 70], buffer[3, 140] = 0.9 * size, 0.9 * size + 1.0  # the second is close to the first
    buffer[4, :299] -= size
    buffer[4, 100] = 1.0
    buffer[5, 5:298] = -float("inf")
    buffer[5, 298] = size
    target[:] = torch.tensor([7, 130, 0, 200, 250, 2])
    assert_equal_steps(kernels, buffer, None, target, single_read=True)


@interpreted
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_sure_tokens_have_no_loss_below_0(kernels, dtype):
    """Rounding gives sure tokens neither a negative loss nor a wrong gradient: it is softmax minus one-hot in float64."""
    buffer, base, target = inputs(rows=16, vocab_size=140, dtype=dtype)
    place = torch.arange(16)
    buffer[place, target] = torch.linspace(4, 60, 16).to(dtype)
    base[:, :140] = buffer[:, :140] * (1 + 1e-4)
    expected = buffer[:, :140].double().softmax(-1)
    expected[place, target] -= 1
    for options in ({"single_read": True}, {"single_read": False}, {"want_gradient": False}):
        nll, _, gradient = run(kernels.chunk_step, buffer, None, target, **options)
        assert (nll >= 0).all() and (-nll).exp().le(1).all()
        if "single_read" in options:
            torch.testing.assert_close(gradient.double(), expected, rtol=TOLERANCE[dtype], atol=1e-5)
    assert (run(kernels.chunk_step, buffer, base, target, want_gradient=False)[1] >= 0).all()


@interpreted
def test_ties_among_the_largest_logits(kernels):
    buffer, _, target = inputs(rows=5, vocab_size=200)
    buffer[0, :200] = 1.0  # all equal
    buffer[1, :200] = (torch.arange(200) % 7).float()  # more ties than the 20 places
    buffer[2, 3:200:64] = 9.0  # several of the largest fall into one lane
    buffer[3, 12:] = -float("inf")  # fewer than 20 finite logits
    buffer[4, :200] = torch.arange(200).float() * 1e-3
    target[:] = 5
    entropy = kernels.top_entropy(buffer[:, :200])
    top = buffer[:, :200].double().topk(20, dim=-1).values.softmax(-1)
    torch.testing.assert_close(entropy.double(), torch.special.entr(top).sum(-1), rtol=1e-5, atol=1e-6)


@interpreted
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("single_read", [False, True])
def test_diverged_logits_and_targets_that_cannot_be_produced_show_in_the_loss(kernels, value, single_read):
    buffer, _, target = inputs(rows=6)
    for row, place in ((0, 0), (1, 130), (3, 298)):  # in a pair of blocks, in the tail
        buffer[row, place] = value
    buffer[4, :299] = -float("inf")
    buffer[5, target[5]] = -float("inf")
    nll = run(kernels.chunk_step, buffer, None, target, single_read=single_read)[0]
    assert torch.isfinite(nll).tolist() == [False, False, True, False, False, False] and nll[5] == float("inf")


@interpreted
@pytest.mark.parametrize(
    ("objective", "trained"), [("cuset", ("hidden", "weight", "bias")), ("eaft", ("hidden",)), ("asft", ("hidden",))]
)
def test_the_whole_head(kernels, objective, trained):
    case = make_case((1, 7, 7, 130), bias=True, trained=trained)
    settings = ObjectiveSettings(objective=objective, window=4)
    assert_same(case.fused(settings, backend="triton", chunk_rows=3), case.dense(settings), 2e-5)


@rule("samples of mean weight 1", sample_weight=lambda region: (1 - region) / (1 - region).mean())
def weighs_together(tokens):
    return torch.ones_like(tokens.nll)


@interpreted
def test_a_rule_that_combines_samples_gets_them_alone(kernels):
    case = make_case((2, 9, 7, 130), trained=("hidden",))
    settings = ObjectiveSettings(f"{__name__}:weighs_together", window=4)
    assert_same(case.fused(settings, backend="triton"), case.dense(settings), 2e-5)


@interpreted
@pytest.mark.parametrize("size", [7, 1024, 1500])
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_gradients_return_to_their_places(kernels, dtype, size):
    generator = torch.Generator().manual_seed(size)
    rows = torch.randn(4, size, generator=generator).to(dtype)
    position = torch.tensor([0, 3, 4, 8])
    scale = torch.tensor([1.0, 1e-7, 0.5, 3.0])  # 1e-7 is subnormal in float16
    results = []
    for module in (engine, kernels):
        out = torch.zeros(9, size, dtype=dtype)
        module.scatter_rows(rows, position, scale, torch.tensor(1024.0), out)
        results.append(out)
    # The interpreter truncates float32 to bfloat16, where a GPU rounds.
    torch.testing.assert_close(results[1], results[0], rtol=2**-7 if dtype == torch.bfloat16 else 0, atol=0)
    assert results[0][[1, 2, 5, 6, 7]].eq(0).all() and results[0][3].ne(0).any()


@interpreted
@pytest.mark.parametrize(("window", "scope"), [(1, "response"), (16, "cuda"), (250, "response")])
def test_samples_equal_the_pytorch_ones(kernels, monkeypatch, window, scope):
    """Samples have 1 to 70 tokens and may span several blocks.

    Windows are shorter and longer than samples, and a row uses an id again for a later sample.
    """
    monkeypatch.setattr(kernels, "REGION_LANES", 16)
    generator = torch.Generator().manual_seed(window)
    lengths = torch.tensor([1, 70, 15, 16, 17, 2, 32, 5])
    row = torch.repeat_interleave(torch.tensor([0, 0, 0, 1, 1, 2, 2, 2]), lengths)
    ids = torch.repeat_interleave(torch.tensor([1, 2, 1, 1, 2, 7, 1, 7]), lengths)
    confidence = torch.rand(row.numel(), generator=generator)
    is_cuda = torch.rand(row.numel(), generator=generator) < 0.05
    is_cuda[0] = False  # in a sample without CUDA tokens all windows count
    for sample_id in (None, ids.int() if window == 16 else ids):
        settings = ObjectiveSettings(window=window, region_scope=scope)
        tokens = SupervisedTokens(row, row, row, row, is_cuda, sample_id)
        expected, actual = (module.weigh_regions(confidence, tokens, settings) for module in (cuset, kernels))
        torch.testing.assert_close(actual[1][actual[0]], expected[1][expected[0]], rtol=1e-5, atol=1e-6)
        assert actual[0].unique().numel() == expected[0].unique().numel()
        assert actual[0].diff().ne(0).equal(expected[0].diff().ne(0))
