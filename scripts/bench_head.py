"""Measure the language model head and its loss alone, ours beside its peers: milliseconds, extra memory, error.

    python scripts/bench_head.py                             # one GPU; writes benchmarks/head_CARD.json
    python scripts/bench_head.py --peers PEERS --skip QuACK  # peers from a folder, one of them left out
    python scripts/bench_head.py --device cpu --tiny --out /tmp/head    # smoke run

Each case is forward and backward of 4096 supervised tokens in bf16, at the shapes of Qwen2.5 7B and 1.5B, on one GPU
in one process. The head is frozen (only the hidden states get a gradient) or trained (its weight gets one, too). Peers
that return a loss per token get CuSeT on top of it in plain code (`cuset_weights`). The others compute plain
cross-entropy.

Times are measured with CUDA events around calls back to back. They are medians, with minimum and maximum, over rounds
in which the methods take turns in random order. A turn lasts 0.4 s and only its second half is timed. By then the GPU
is at the clock that its power limit allows for that method, as in training. Memory is the peak above inputs and
returned gradients. Errors are |loss - oracle| / oracle, and the same of norms for each gradient. The oracle is the
readable loss on float64 logits of the same bf16 inputs.

Four targets in five are likely ones, as in fine-tuning, and half the tokens are CUDA. No confidence is within a
quarter of tau from tau, because there rounding would decide whether a token counts. A peer that is not installed or
that fails is listed with the reason. PEERS is a folder of installed wheels that are imported before the environment's
packages, since LLaMA-Factory pins TRL 0.24. QuACK needs this folder to be called site-packages:

    pip install --no-deps --target PEERS trl==1.16.0 liger-kernel==0.8.5 cut-cross-entropy==25.1.1 quack-kernels==0.6.5
    pip install --no-deps --target PEERS nvidia-cutlass-dsl{,-libs-base,-libs-core,-libs-cu13}==4.7.1 apache-tvm-ffi==0.1.15.post2 \\
        torch-c-dlpack-ext einops

QuACK compiles with the packages of the second line, and so does Liger's scaled cross-entropy on Hopper GPUs. When it
is started again, the script measures only the cases that its JSON does not hold yet.
"""

import argparse
import datetime
import json
import math
import random
import re
import site
import statistics
import sys
import time
from collections.abc import Callable
from importlib.metadata import distributions
from pathlib import Path
from types import SimpleNamespace

import torch
import torch.nn.functional as F

from cuset_stage.files import write_atomically
from cuset_stage.objective import ObjectiveSettings, fused_linear_cuset_loss, fused_objective, objective_loss


SHAPES = ((3584, 152064), (1536, 151936))  # hidden and vocabulary size of Qwen2.5 7B and 1.5B
ROWS = 4096
TAU, LAM, WINDOW = 0.1, 1.0, 256
PEERS = ("trl", "liger-kernel", "quack-kernels", "nvidia-cutlass-dsl", "cut-cross-entropy", "triton", "torch")
CHUNK_ROWS = 1024  # for the chunked methods that leave it to the caller
ROUNDS = 5
HALF_TURN_MS = 200  # in each round a method runs this long untimed and then as long timed
CPU_ONCE_MS = 1  # so short that a method usually runs once


class Inputs:
    """The inputs of one case, with hidden states that predict most of the labels.

    Attributes:
        hidden: [1, rows + 1, hidden_size], requires a gradient.
        weight: the head's weight, [vocab_size, hidden_size]. It requires a gradient if the head is trained.
        labels, cuda_mask, sample_ids: [1, rows + 1]. Samples have 512 tokens.
        base_hidden: the hidden states of a base model, of the same shape as `hidden`.
        target, is_cuda, sample: labels, CUDA mask and sample ids of the supervised tokens, [rows].
        confident_share: the share of tokens whose confidence is above tau.
    """

    def __init__(self, rows: int, hidden_size: int, vocab_size: int, is_trained: bool, device: str):
        generator = torch.Generator(device).manual_seed(0)
        dtype = torch.bfloat16 if device == "cuda" else torch.float32
        like = {"device": device, "generator": generator}
        weight = (hidden_size**-0.5 * torch.randn(vocab_size, hidden_size, **like)).to(dtype)
        labels = torch.randint(0, vocab_size, (rows + 1,), **like)
        # A row of the head has length 1 and the noise in the hidden states has variance 1. So `strength` is the margin
        # of the label's logit. Around the log of the vocabulary size the label becomes likely.
        strength = math.log(vocab_size) + 1.0 + 2.5 * torch.randn(rows + 1, 1, **like)
        noise = torch.randn(rows + 1, hidden_size, **like)
        hidden = (noise + weight[labels.roll(-1)].float() * strength).to(dtype)
        with torch.no_grad():
            p = torch.cat([F.cross_entropy((h @ weight.t()).float(), y, reduction="none").neg().exp()
                           for h, y in zip(hidden[:-1].split(256), labels[1:].split(256), strict=True)])  # fmt: skip
        is_clear = (p < 0.75 * TAU) | (p > 1.25 * TAU)
        source = torch.where(is_clear, torch.arange(rows, device=device), is_clear.nonzero()[0])
        # Tokens with a confidence near tau become copies of one that is clear.
        hidden[:-1], labels[1:] = hidden[source], labels[source + 1]
        self.confident_share = (p[source] > TAU).float().mean().item()
        self.hidden, self.labels = hidden[None].requires_grad_(), labels[None]
        self.weight = weight.requires_grad_(is_trained)
        self.cuda_mask = torch.randint(0, 2, (1, rows + 1), **like)
        self.sample_ids = 1 + (torch.arange(rows + 1, device=device) // 512)[None]
        self.base_hidden = (self.hidden.detach() + 0.1 * torch.randn(1, rows + 1, hidden_size, **like)).to(dtype)
        # `target` is a copy, because QuACK takes aligned memory only.
        self.target, self.is_cuda, self.sample = labels[1:].clone(), self.cuda_mask[0, 1:], self.sample_ids[0, 1:]

    @property
    def rows(self) -> torch.Tensor:
        """The hidden states that predict `target`, [rows, hidden_size]."""
        return self.hidden[0, :-1]

    @property
    def batch(self) -> tuple[torch.Tensor, ...]:
        """The arguments that describe the tokens in `objective_loss` and the fused losses."""
        return self.labels, self.cuda_mask, self.sample_ids

    def take_gradients(self) -> dict[str, torch.Tensor | None]:
        """Return the gradients and reset them."""
        taken = {"hidden": self.hidden.grad, "weight": self.weight.grad}
        self.hidden.grad = self.weight.grad = None
        return taken


def cuset_weights(nll: torch.Tensor, x: Inputs) -> torch.Tensor:
    """Return the constant factor of each token's loss under CuSeT.

    It is written as one would write it for any head that returns losses per token.

    Args:
        nll: negative log-likelihoods of the targets, [rows].
        x: the inputs, for the samples and the CUDA mask.

    Returns:
        The factors, [rows].
    """
    p = (-nll.detach().float()).exp()
    t = torch.arange(p.numel(), device=p.device)
    first, end = torch.searchsorted(x.sample, x.sample), torch.searchsorted(x.sample, x.sample, right=True)
    is_short = end - first < WINDOW
    left = torch.where(is_short, first, torch.maximum(first, t - WINDOW // 2))
    right = torch.where(is_short, end, torch.minimum(end, t + (WINDOW + 1) // 2))
    prefix = F.pad(p.double().cumsum(0), (1, 0))
    window_mean = ((prefix[right] - prefix[left]) / (right - left)).float()
    # Samples are numbered from 1, and there are at most as many samples as tokens.
    region = torch.full((p.numel() + 1,), torch.inf, device=p.device).scatter_reduce(0, x.sample, window_mean, "amin")
    return (1 - region[x.sample]) * ((p > TAU) + LAM * x.is_cuda)


# ---- methods: each makes a function that takes the inputs, leaves the gradients in them and returns the loss


def products(number: int) -> Callable:
    """Return a function that makes the method of the matrix products alone, without a loss. Its time is a lower bound.

    Two products are the logits and the gradient of the hidden states. Three include the gradient of the weight, and
    four compute the logits twice. A trained head needs four, unless the logits are kept or the weight of a token does
    not depend on other tokens.
    """

    def run(x: Inputs) -> None:
        with torch.no_grad():
            logits = x.rows @ x.weight.t()
            if number == 4:
                torch.mm(x.rows, x.weight.t(), out=logits)
            gradient = torch.zeros_like(x.hidden)
            torch.mm(logits, x.weight, out=gradient[0, :-1])
            x.hidden.grad = gradient
            if number > 2:
                x.weight.grad = logits.t() @ x.rows

    return lambda: run


def scalar(loss_of: Callable[[Inputs], torch.Tensor]) -> Callable[[Inputs], torch.Tensor]:
    """Make a method of a function that returns a scalar loss with an autograd graph."""

    def run(x: Inputs) -> torch.Tensor:
        loss = loss_of(x)
        loss.backward()
        return loss.detach()

    return run


def with_cuset(nll_of: Callable[[Inputs], torch.Tensor]) -> Callable[[Inputs], torch.Tensor]:
    """Make a method that puts CuSeT on a head.

    The head returns the negative log-likelihood of each token, [rows], and its backward takes a gradient for each.
    """

    def loss(x: Inputs) -> torch.Tensor:
        nll = nll_of(x)
        return (cuset_weights(nll, x) * nll).sum() / nll.numel()

    return scalar(loss)


def logits_float32() -> Callable:
    """Make the method of LLaMA-Factory: logits in bf16, upcast to float32, cross-entropy."""
    return scalar(lambda x: F.cross_entropy(F.linear(x.rows, x.weight).float(), x.target))


def readable() -> Callable:
    """Make the method that computes the readable CuSeT loss from all logits."""
    settings = ObjectiveSettings(tau=TAU, lam=LAM, window=WINDOW)
    return scalar(lambda x: objective_loss(F.linear(x.hidden, x.weight), *x.batch, settings))


def compiled_chunks() -> Callable:
    """Make a method with a chunked softmax under torch.compile, as one would write it today.

    With a frozen head, the tokens' weights can scale the rows of the gradient after the last chunk. The gradient of
    the head's weight sums over tokens and needs the weights before, so a trained head needs a first pass for the
    losses.
    """

    @torch.compile
    def losses(rows, weight, target):
        logits = (rows @ weight.t()).float()
        return logits.logsumexp(-1) - logits.gather(1, target[:, None])[:, 0]

    @torch.compile
    def gradients(rows, weight, target, scale):
        logits = (rows @ weight.t()).float()
        lse = logits.logsumexp(-1, keepdim=True)
        onehot = torch.arange(weight.size(0), device=rows.device) == target[:, None]
        logits_grad = (((logits - lse).exp() - onehot.float()) * scale[:, None]).to(rows.dtype)
        return (lse - logits.gather(1, target[:, None]))[:, 0], logits_grad, logits_grad @ weight

    def run(x: Inputs) -> torch.Tensor:
        chunks = [slice(start, start + CHUNK_ROWS) for start in range(0, x.target.numel(), CHUNK_ROWS)]
        is_trained, number = x.weight.requires_grad, x.target.numel()
        with torch.no_grad():
            gradient, nll, factor = torch.zeros_like(x.hidden), torch.empty(number, device=x.hidden.device), None
            weight = x.weight.detach()
            if is_trained:
                for part in chunks:
                    nll[part] = losses(x.rows[part], weight, x.target[part])
                factor = cuset_weights(nll, x) / number
                weight_grad = torch.zeros(weight.shape, device=weight.device)
            for part in chunks:
                scale = factor[part] if is_trained else torch.ones_like(nll[part])
                nll[part], logits_grad, gradient[0, :-1][part] = gradients(x.rows[part], weight, x.target[part], scale)
                if is_trained:
                    weight_grad += logits_grad.t() @ x.rows[part]
            if is_trained:
                x.weight.grad = weight_grad.to(weight.dtype)
            else:
                factor = cuset_weights(nll, x) / number
                gradient[0, :-1] *= factor[:, None]
            x.hidden.grad = gradient
            return (factor * nll).sum()

    return run


def trl_head() -> Callable:
    """Make a method of TRL's `add_fused_lm_head` on a model whose decoder has already run."""
    from trl.trainer.utils import add_fused_lm_head

    class HeadOnly(torch.nn.Module):
        config = SimpleNamespace(get_text_config=SimpleNamespace)

        def forward(self, labels):
            """Do nothing: `add_fused_lm_head` replaces this method."""

        def base_model(self, **_):
            return SimpleNamespace(last_hidden_state=self.x.hidden)

        def get_output_embeddings(self):
            return SimpleNamespace(weight=self.x.weight, bias=None)

    model = HeadOnly()
    add_fused_lm_head(model)

    def nll(x: Inputs) -> torch.Tensor:
        model.x = x
        return -model(labels=x.labels, fused_lm_head=True).log_probs[0]

    return with_cuset(nll)


def liger(per_token: bool = False, **options) -> Callable:
    """Make a method of Liger's linear cross-entropy, which returns a loss per token for CuSeT or the mean."""
    from liger_kernel.transformers.functional import liger_fused_linear_cross_entropy as head

    if per_token:
        return with_cuset(lambda x: head(x.rows, x.weight, x.target, reduction="none", **options))
    return scalar(lambda x: head(x.rows, x.weight, x.target, **options))


def liger_scaled() -> Callable:
    from liger_kernel.ops import LigerFusedLinearScaledCrossEntropyFunction as Head

    return with_cuset(lambda x: Head.apply(x.rows, x.weight, x.target))


def apple_cce() -> Callable:
    from cut_cross_entropy import linear_cross_entropy

    return with_cuset(lambda x: linear_cross_entropy(x.rows, x.weight, x.target, reduction="none"))


def quack() -> Callable:
    from quack.linear_cross_entropy import chunked_linear_cross_entropy

    return scalar(lambda x: chunked_linear_cross_entropy(x.rows, x.weight, x.target, chunk_size=CHUNK_ROWS))


def ours(objective: str) -> Callable:
    """Return a function that makes the method of our fused loss with this objective."""
    settings = ObjectiveSettings(objective=objective)

    def loss(x: Inputs) -> torch.Tensor:
        return fused_objective(x.hidden, x.weight, *x.batch, settings, reference=(x.base_hidden, None))[0]

    return lambda: scalar(loss)


def ours_cuset() -> Callable:
    options = {"tau": TAU, "lam": LAM, "window": WINDOW}
    return scalar(lambda x: fused_linear_cuset_loss(x.hidden, x.weight, *x.batch, **options))


CUSET, PLAIN, OTHER = "CuSeT", "cross-entropy", "another"
METHODS = {  # name -> (the loss that it computes, function that makes the method)
    "two products": (None, products(2)),
    "three products": (None, products(3)),
    "four products": (None, products(4)),
    "logits in float32": (PLAIN, logits_float32),
    "logits, the readable loss": (CUSET, readable),
    f"torch.compile, chunks of {CHUNK_ROWS}": (CUSET, compiled_chunks),
    "TRL, add_fused_lm_head": (CUSET, trl_head),
    "Liger, scaled cross-entropy": (CUSET, liger_scaled),
    "Liger, loss per token": (CUSET, lambda: liger(per_token=True)),
    "Liger, loss per token, chunks of 8 x": (CUSET, lambda: liger(per_token=True, chunk_mem_const=8)),
    "Liger, linear cross-entropy": (PLAIN, liger),
    "Liger, linear cross-entropy, chunks of 8 x": (PLAIN, lambda: liger(chunk_mem_const=8)),
    "Apple cut-cross-entropy": (CUSET, apple_cce),
    f"QuACK, chunks of {CHUNK_ROWS}": (PLAIN, quack),
    "ours, cuset": (CUSET, ours_cuset),
    "ours, sft": (PLAIN, ours("sft")),
    "ours, eaft": (OTHER, ours("eaft")),
    "ours, asft": (OTHER, ours("asft")),
}
BOUNDS = {"frozen": ("two products",), "trained": ("three products", "four products")}


def methods_of(head: str, skip: list[str]) -> dict[str, tuple]:
    """Return the methods without those to skip and without the lower bounds of the other kind of head."""
    skip = [*skip, *(name for other, names in BOUNDS.items() if other != head for name in names)]
    return {name: method for name, method in METHODS.items() if not any(part in name for part in skip)}


def oracle(objective: str, x: Inputs) -> dict[str, torch.Tensor | None]:
    """Return the readable loss of float64 logits, and its gradients by autograd (None for a frozen weight)."""
    hidden, weight = x.hidden.detach().double().requires_grad_(), x.weight.detach().double()
    weight.requires_grad_(x.weight.requires_grad)
    loss = objective_loss(hidden @ weight.t(), *x.batch, ObjectiveSettings(objective, TAU, LAM, WINDOW))
    loss.backward()
    weight_grad = None if weight.grad is None else weight.grad.float()
    return {"loss": loss.detach(), "hidden": hidden.grad.float(), "weight": weight_grad}


def errors(got: dict[str, torch.Tensor | None], want: dict[str, torch.Tensor | None]) -> dict[str, float]:
    """Return ||got - want|| / ||want|| of the loss and of each gradient that is wanted."""
    norm = torch.linalg.vector_norm
    return {name: (norm(got[name].float() - value.float()) / norm(value.float())).item()
            for name, value in want.items() if value is not None}  # fmt: skip


def stopwatch(run: Callable, x: Inputs, calls: int) -> float:
    """Return the milliseconds of a call, as the mean of calls back to back, as a training loop makes them."""
    if x.hidden.is_cuda:
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
    began = time.perf_counter()
    for _ in range(calls):
        run(x)
        x.take_gradients()
    if not x.hidden.is_cuda:
        return 1000 * (time.perf_counter() - began) / calls
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / calls


def first_calls(run: Callable, x: Inputs, want: dict[str, torch.Tensor] | None) -> dict:
    """Return extra memory and errors, measured after a call that compiles, tunes and allocates workspaces.

    `want` is the oracle's loss and gradients. Without it, no errors are computed.
    """
    run(x)
    x.take_gradients()
    is_cuda = x.hidden.is_cuda
    if is_cuda:
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
    loss = run(x)
    got = x.take_gradients()
    result = {}
    if is_cuda:
        torch.cuda.synchronize()
        returned = sum(g.numel() * g.itemsize for g in got.values() if g is not None)
        result["extra_gib"] = (torch.cuda.max_memory_allocated() - before - returned) / 2**30
    return result if want is None else result | {"error": errors({"loss": loss, **got}, want)}


def measure(x: Inputs, methods: dict[str, tuple]) -> dict[str, dict]:
    """Measure all methods on the same inputs.

    The methods take turns in random order, so that clocks and heat affect them equally.

    Returns:
        For each method a dict with "loss", "ms", "ms_min", "ms_max", "extra_gib" and "error". A method that failed has
        only "absent", the reason.
    """
    oracles = {PLAIN: oracle("sft", x), CUSET: oracle("cuset", x)}
    results, runs = {}, {}
    for name, (loss, make) in methods.items():
        try:
            run = make()
            results[name] = {"loss": loss} | first_calls(run, x, oracles.get(loss))
            runs[name] = run
        except Exception as error:  # a peer that fails must not end the comparison
            results[name] = {"absent": f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"[:160]}
            x.take_gradients()
            if x.hidden.is_cuda:
                torch.cuda.synchronize()  # raises if the method broke the CUDA context: start again with --skip
                torch.cuda.empty_cache()
    del oracles
    half_turn = HALF_TURN_MS if x.hidden.is_cuda else CPU_ONCE_MS
    calls = {name: max(1, math.ceil(half_turn / stopwatch(run, x, 2))) for name, run in runs.items()}
    times, order, shuffle = {name: [] for name in runs}, list(runs), random.Random(0).shuffle
    for _ in range(ROUNDS):
        shuffle(order)  # because the GPU is hotter after some methods than after others
        for name in order:
            stopwatch(runs[name], x, calls[name])
            times[name].append(stopwatch(runs[name], x, calls[name]))
    for name, values in times.items():
        results[name] |= {"ms": statistics.median(values), "ms_min": min(values), "ms_max": max(values)}
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("benchmarks"), help="folder of the JSON")
    parser.add_argument("--peers", type=Path, help="folder with peers that come before the environment's packages")
    parser.add_argument("--skip", nargs="*", default=[], help="leave out methods whose name holds one of these")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--tiny", action="store_true", help="small shapes")
    args = parser.parse_args()
    if args.device == "cpu" and not args.tiny:
        parser.error("on a CPU only --tiny runs")
    if args.peers:
        site.addsitedir(str(args.peers))  # for its .pth files
        sys.path.insert(0, str(args.peers))

    gpu = torch.cuda.get_device_name() if args.device == "cuda" else "cpu"
    card = re.search(r"[A-Z]+\d+|cpu", gpu)[0].lower()
    path = args.out / f"head_{card}.json"
    report = {
        "date": datetime.date.today().isoformat(),
        "gpu": gpu,
        "card": card,
        "cuda": torch.version.cuda,
        "versions": {package.name: package.version for package in distributions() if package.name in PEERS},
        "dtype": "bfloat16" if args.device == "cuda" else "float32",
        "what": f"forward and backward; ms: median over rounds of the mean of calls that last {HALF_TURN_MS} ms together, after as many untimed ones; extra_gib: peak above inputs and gradients; error: of loss and gradients against float64, relative norms",
        "rounds": ROUNDS,
        "cases": json.loads(path.read_text(encoding="utf-8"))["cases"] if path.exists() else [],
    }
    rows, shapes = (2 * CHUNK_ROWS, ((64, 512),)) if args.tiny else (ROWS, SHAPES)
    for hidden_size, vocab_size in shapes:
        for head in BOUNDS:
            case = {"head": head, "rows": rows, "hidden_size": hidden_size, "vocab_size": vocab_size}
            if any(case.items() <= finished.items() for finished in report["cases"]):
                continue
            x = Inputs(rows, hidden_size, vocab_size, head == "trained", args.device)
            case["confident_share"] = round(x.confident_share, 3)
            case["methods"] = measure(x, methods_of(head, args.skip))
            report["cases"].append(case)
            print(json.dumps(case, indent=1), flush=True)
            write_atomically(path, json.dumps(report, indent=2) + "\n")  # a run may be cut off while it writes
            del x


if __name__ == "__main__":
    main()
