"""Measure the language model head and its loss alone, ours beside its peers: milliseconds and extra memory.

    python scripts/bench_head.py --json benchmarks/head_h200.json
    python scripts/bench_head.py --chunks --json chunks.json    # ours by number of rows of a chunk, beside the bare products
    python scripts/bench_head.py --quick          # smoke run, also on a CPU

Forward and backward to the hidden states with a frozen head, bf16, one GPU, one process. Times are medians over rounds in which the
methods take turns in random order, of CUDA events around calls back to back. A turn lasts 0.4 s and the second half of it is timed: the
GPU is then at the clock that its power limit allows for that method, as in training. Memory is the peak above the inputs and the
returned gradient. Four targets in five are likely ones, as in fine-tuning, and half the tokens are CUDA. A peer that is not
installed is listed with the reason. TRL's chunked loss is in its versions 1.6 to 1.12, later than the one LLaMA-Factory takes: a
folder with it on PYTHONPATH will do. QuACK (quack-kernels) has no token weights: it computes plain cross-entropy.
"""

import argparse
import datetime
import json
import math
import random
import statistics
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from itertools import product
from pathlib import Path

import torch
import torch.nn.functional as F

from cuset_stage.objective import OBJECTIVES, ObjectiveSettings, fused_objective


HIDDEN_SIZE = 3584
LENGTHS, VOCABULARIES = (1024, 4096, 16384), (32000, 152064)
PEERS = ("liger-kernel", "cut-cross-entropy", "quack-kernels", "trl", "triton", "torch")
TRL_CHUNK = 256  # its default
HALF_TURN_MS = 200  # untimed, and then timed, in each round


class Inputs:
    """Hidden states that predict most of the labels, [1, length, hidden_size], and a head [vocab_size, hidden_size]."""

    def __init__(self, length: int, vocab_size: int, hidden_size: int, device: str):
        generator = torch.Generator(device).manual_seed(0)
        dtype = torch.bfloat16 if device == "cuda" else torch.float32
        like = {"device": device, "generator": generator}
        self.weight = (hidden_size**-0.5 * torch.randn(vocab_size, hidden_size, **like)).to(dtype)
        self.labels = torch.randint(0, vocab_size, (1, length), **like)
        self.target = self.labels[0, 1:]
        # A head's row has length 1, so a token's logit is how far its row stands out of the noise: near the log of the vocabulary.
        strength = torch.log(torch.tensor(float(vocab_size))) + 1.0 + 2.5 * torch.randn(length, 1, **like)
        noise = torch.randn(length, hidden_size, **like)
        likely = self.weight[self.labels[0].roll(-1)].float() * strength
        self.hidden = (noise + likely).to(dtype)[None].requires_grad_()
        self.cuda_mask = torch.randint(0, 2, (1, length), **like)
        self.sample_ids = (torch.arange(length, device=device) // 512)[None]
        self.base_hidden = (self.hidden.detach().float() + 0.1 * torch.randn(1, length, hidden_size, **like)).to(dtype)


def two_products(x: Inputs) -> None:
    """What no method can avoid; it leaves out everything between them."""
    with torch.no_grad():
        result = torch.zeros_like(x.hidden)
        torch.mm(x.hidden[0, :-1] @ x.weight.t(), x.weight, out=result[0, :-1])
        x.hidden.grad = result


def logits_float32(x: Inputs) -> None:
    """LLaMA-Factory's way: logits in bf16, upcast, cross-entropy."""
    logits = F.linear(x.hidden, x.weight).float()
    F.cross_entropy(logits[0, :-1], x.target).backward()


def compiled_chunks() -> Callable[[Inputs], None]:
    """A chunked softmax as one would write it today, under torch.compile."""

    @torch.compile
    def chunk(rows, weight, target):
        logits = (rows @ weight.t()).float()
        lse = logits.logsumexp(-1, keepdim=True)
        loss = (lse - logits.gather(1, target[:, None])).sum()
        onehot = torch.arange(weight.size(0), device=rows.device) == target[:, None]
        gradient = ((logits - lse).exp() - onehot).to(rows.dtype)
        return loss, gradient @ weight

    def run(x: Inputs) -> None:
        with torch.no_grad():
            result, total = torch.zeros_like(x.hidden), 0.0
            labels = x.labels[0].roll(-1)  # whole chunks only, so that it compiles once; a token more than the others
            for start in range(0, x.hidden.size(1), 1024):
                part = slice(start, start + 1024)
                loss, result[0, part] = chunk(x.hidden[0, part], x.weight, labels[part])
                total += loss
            x.hidden.grad = result.div_(x.target.numel())

    return run


def liger(token_scaling: bool) -> Callable[[Inputs], None]:
    from liger_kernel.transformers.functional import liger_fused_linear_cross_entropy

    options = {"use_token_scaling": True} if token_scaling else {}

    def run(x: Inputs) -> None:
        result = liger_fused_linear_cross_entropy(x.hidden[0, :-1], x.weight, x.target, **options)
        (result[0] if isinstance(result, tuple) else getattr(result, "loss", result)).backward()

    return run


def apple_cce() -> Callable[[Inputs], None]:
    from cut_cross_entropy import linear_cross_entropy

    return lambda x: linear_cross_entropy(x.hidden[0, :-1], x.weight, x.target).backward()


def quack() -> Callable[[Inputs], None]:
    from quack.linear_cross_entropy import chunked_linear_cross_entropy

    def run(x: Inputs) -> None:
        target = F.pad(x.target, (0, 1), value=-100)  # its kernels want a number of rows that 8 divides
        chunked_linear_cross_entropy(x.hidden[0], x.weight, target, chunk_size=1024).backward()

    return run


def trl_chunked(autocast: bool) -> Callable[[Inputs], None]:
    from trl.trainer.sft_trainer import _chunked_cross_entropy_loss as chunked

    def run(x: Inputs) -> None:
        with torch.autocast(x.hidden.device.type, torch.bfloat16, enabled=autocast):
            loss = chunked(x.hidden, x.weight, TRL_CHUNK, labels=x.labels)[0]
        loss.backward()

    return run


def ours(objective: str, **options) -> Callable[[Inputs], None]:
    settings = ObjectiveSettings(objective=objective)

    def run(x: Inputs) -> None:
        loss, _ = fused_objective(
            x.hidden,
            x.weight,
            x.labels,
            x.cuda_mask,
            x.sample_ids,
            settings,
            reference=(x.base_hidden, None),
            **options,
        )
        loss.backward()

    return run


METHODS = {
    "two products": lambda: two_products,
    "logits in float32 + cross-entropy": lambda: logits_float32,
    "torch.compile, chunks of 1024": compiled_chunks,
    "Liger fused linear CE": lambda: liger(False),
    "Liger, token scaling (DFT)": lambda: liger(True),
    "Apple cut-cross-entropy": apple_cce,
    "QuACK linear CE, chunks of 1024": quack,
    "TRL chunked NLL": lambda: trl_chunked(True),  # as its trainer calls it with bf16: true
    "TRL chunked NLL, without autocast": lambda: trl_chunked(False),  # products in float32
    **{f"ours, {name}": lambda name=name: ours(name) for name in OBJECTIVES},
}
CHUNKS = {
    "two products": lambda: two_products,
    "as shipped": lambda: ours("cuset"),
    **{
        f"chunks of {rows}": lambda rows=rows: ours("cuset", chunk_rows=rows)
        for rows in (671, 767, 863, 896, 959, 1024)
    },
}


def wait(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def stopwatch(run: Callable[[Inputs], None], x: Inputs, device: str, calls: int = 1) -> float:
    """Milliseconds of a call, as the mean of several back to back, as a training loop would make them."""
    x.hidden.grad = None
    if device != "cuda":
        start = time.perf_counter()
        for _ in range(calls):
            run(x)
        return 1000 * (time.perf_counter() - start) / calls
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(calls):
        run(x)
        x.hidden.grad = None
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / calls


def extra_gib(run: Callable[[Inputs], None], x: Inputs, device: str) -> float | None:
    if device != "cuda":
        return None
    x.hidden.grad = None
    wait(device)
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    run(x)
    wait(device)
    return (torch.cuda.max_memory_allocated() - before - x.hidden.numel() * x.hidden.itemsize) / 2**30


def reason(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:160]


def measure(x: Inputs, methods: dict[str, Callable], rounds: int, device: str) -> dict[str, dict]:
    """{method: {"ms", "extra_gib"} or {"absent": why}}; the methods take turns, so that clocks and heat treat them alike."""
    results, runs = {}, {}
    for name, make in methods.items():
        try:
            run = make()
            for _ in range(2):  # compiles, tunes, allocates workspaces
                stopwatch(run, x, device)
            results[name] = {"extra_gib": extra_gib(run, x, device)}
            runs[name] = run
        except Exception as error:  # a peer that fails must not end the comparison
            results[name] = {"absent": reason(error)}
        x.hidden.grad = None
    times = {name: [] for name in runs}
    order, shuffle = list(runs), random.Random(0).shuffle
    calls = {name: max(5, math.ceil(HALF_TURN_MS / stopwatch(run, x, device))) for name, run in runs.items()}
    for _ in range(rounds):
        shuffle(order)  # the GPU is hotter after some methods than after others
        for name in order:
            stopwatch(runs[name], x, device, calls[name])
            times[name].append(stopwatch(runs[name], x, device, calls[name]))
    for name, values in times.items():
        results[name] |= {"ms": statistics.median(values), "ms_min": min(values)}
    return results


def table(cases: list[dict]) -> str:
    """Markdown: a row a method, a column a case, "ms / extra GiB"."""
    names = list(dict.fromkeys(name for case in cases for name in case["methods"]))
    lines = [
        "| ms / extra GiB | " + " | ".join(f"{case['length']} x {case['vocab_size']}" for case in cases) + " |",
        "|---|" + "---|" * len(cases),
    ]
    for name in names:
        cells = []
        for case in cases:
            result = case["methods"].get(name, {"absent": "not run"})
            gib = result.get("extra_gib")
            cells.append("-" if "absent" in result else f"{result['ms']:.2f} / {'-' if gib is None else f'{gib:.2f}'}")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    absent = {name: r["absent"] for case in cases for name, r in case["methods"].items() if "absent" in r}
    return "\n".join([*lines, "", *(f"{name}: {why}" for name, why in absent.items())])


def versions() -> dict[str, str]:
    found = {}
    for name in PEERS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "absent"
    return found


def record(device: str, rounds: int) -> dict:
    """What a JSON says besides its results: when, where and with what they were measured."""
    return {
        "date": datetime.date.today().isoformat(),
        "gpu": torch.cuda.get_device_name() if device == "cuda" else "cpu",
        "cuda": torch.version.cuda,
        "versions": versions(),
        "dtype": "bfloat16" if device == "cuda" else "float32",
        "what": f"frozen head, forward and backward to the hidden states; ms: median over rounds of the mean of calls that last {HALF_TURN_MS} ms together, after as many untimed ones; extra_gib: peak above inputs and gradient",
        "rounds": rounds,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="where to write the results")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="small shapes, two rounds; runs on a CPU")
    parser.add_argument("--chunks", action="store_true", help="sizes of a chunk instead of the peers")
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cpu" and not args.quick:
        parser.error("no CUDA device: only --quick runs on a CPU")

    lengths, vocabularies, hidden_size, rounds = LENGTHS, VOCABULARIES, HIDDEN_SIZE, args.rounds
    if args.quick:
        lengths, vocabularies, hidden_size, rounds = (128,), (512, 1500), 64, 2
    elif args.chunks:
        lengths, vocabularies = (1024, 4096), (152064,)
    cases, started = [], time.time()
    report = record(device, rounds) | {"cases": cases}
    for vocab_size, length in product(vocabularies, lengths):
        x = Inputs(length, vocab_size, hidden_size, device)
        with torch.no_grad():
            batch = x.labels, x.cuda_mask, x.sample_ids
            _, terms = fused_objective(x.hidden, x.weight, *batch, ObjectiveSettings())
        case = {"length": length, "vocab_size": vocab_size, "hidden_size": hidden_size}
        case |= {"confident_share": round((terms.confidence > 0.1).float().mean().item(), 3)}
        case["methods"] = measure(x, CHUNKS if args.chunks else METHODS, rounds, device)
        cases.append(case)
        print(f"{length} x {vocab_size}: {time.time() - started:.0f} s so far", flush=True)
        if args.json:  # after each case: a later one may be cut off
            args.json.parent.mkdir(parents=True, exist_ok=True)
            args.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
        del x, terms, batch
        if device == "cuda":
            torch.cuda.empty_cache()
    print(table(cases))


if __name__ == "__main__":
    main()
