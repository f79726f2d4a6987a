"""Measure the language model head and its loss alone, ours beside its peers: milliseconds and extra memory.

    python scripts/bench_head.py --json benchmarks/head_h200.json
    python scripts/bench_head.py --variants --json variants.json    # ways to do it, and both products by number of rows
    python scripts/bench_head.py --zero-shares --json shares.json   # when leaving out tokens of weight 0 pays
    python scripts/bench_head.py --quick          # smoke run, also on a CPU

Forward and backward to the hidden states with a frozen head, bf16, one GPU, one process. Times are medians over
rounds in which the methods take turns in random order, of CUDA events around five calls back to back; memory is the peak above the inputs and the returned gradient. Four targets in five are
likely ones, as in fine-tuning, and half the tokens are CUDA. A peer that is not installed is listed with the reason; TRL's chunked
loss is in its versions 1.6 to 1.12, later than the one LLaMA-Factory takes: a folder with it on PYTHONPATH will do.
"""

import argparse
import datetime
import json
import random
import statistics
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import torch
import torch.nn.functional as F

from cuset_stage.objective import OBJECTIVES, ObjectiveSettings, fused_objective


HIDDEN_SIZE = 3584
LENGTHS, VOCABULARIES = (1024, 4096, 16384), (32000, 152064)
PEERS = ("liger-kernel", "cut-cross-entropy", "trl", "triton", "torch")
TRL_CHUNK = 256  # its default
CALLS = 5  # back to back, in each round


class Inputs:
    """Hidden states that predict most of the labels, [1, length, hidden_size], and a head [vocab_size, hidden_size].

    With `predicted`, that share of the labels is predicted almost surely and the others are not at all.
    """

    def __init__(self, length: int, vocab_size: int, hidden_size: int, device: str, predicted: float | None = None):
        generator = torch.Generator(device).manual_seed(0)
        dtype = torch.bfloat16 if device == "cuda" else torch.float32
        like = {"device": device, "generator": generator}
        self.weight = (hidden_size**-0.5 * torch.randn(vocab_size, hidden_size, **like)).to(dtype)
        self.labels = torch.randint(0, vocab_size, (1, length), **like)
        self.target = self.labels[0, 1:]
        # A head's row has length 1, so a token's logit is how far its row stands out of the noise: near the log of the vocabulary.
        strength = torch.log(torch.tensor(float(vocab_size))) + 1.0 + 2.5 * torch.randn(length, 1, **like)
        if predicted is not None:
            surely = torch.rand(length, 1, **like).argsort(0) < round(predicted * length)
            strength = 2 * torch.log(torch.tensor(float(vocab_size))) * surely
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
            labels = x.labels[0].roll(
                -1
            )  # whole chunks only, so that it compiles once; one more token than the others
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
            reference_hidden=x.base_hidden,
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
    "TRL chunked NLL": lambda: trl_chunked(True),  # as its trainer calls it with bf16: true
    "TRL chunked NLL, without autocast": lambda: trl_chunked(False),  # products in float32
    **{f"ours, {name}": lambda name=name: ours(name) for name in OBJECTIVES},
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
    for _ in range(rounds):
        shuffle(order)  # the GPU is hotter, and slower, after some methods than after others
        for name in order:
            times[name].append(stopwatch(runs[name], x, device, CALLS))
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


VARIANTS = {  # changes of `engine`, and options of the call
    "as shipped": ({}, {}),
    "two reads": ({"SINGLE_READ": False}, {}),
    "number first": ({"EAGER_SHARE": 0.0}, {}),
    "first chunk at once": ({"EAGER_SHARE": 1.0}, {}),
    "number first, two reads": ({"EAGER_SHARE": 0.0, "SINGLE_READ": False}, {}),
    "skipping weight 0": ({}, {"skip_zero_rows": True}),
    **{f"chunks of {rows}": ({}, {"chunk_rows": rows}) for rows in (683, 767, 819, 831, 911, 959, 1007, 1023, 1024)},
}


def variant(changes: dict, options: dict) -> Callable[[Inputs], None]:
    from cuset_stage.objective import engine

    shipped = {name: vars(engine)[name] for name in changes}

    def run(x: Inputs) -> None:
        vars(engine).update(changes)
        try:
            call(x)
        finally:
            vars(engine).update(shipped)

    call = ours("cuset", **options)
    return run


def variants(device: str, rounds: int, quick: bool) -> dict:
    """Ways to compute CuSeT's objective, taking turns with the bare products, and milliseconds per 4096 rows of the parts."""
    vocab_size, hidden_size = (1500, 64) if quick else (152064, HIDDEN_SIZE)
    cases, methods = [], {"two products": lambda: two_products}
    methods |= {name: (lambda v=v: variant(*v)) for name, v in VARIANTS.items()}
    for length in (128,) if quick else (4096, 1024):
        x = Inputs(length, vocab_size, hidden_size, device)
        case = {"length": length, "vocab_size": vocab_size, "methods": measure(x, methods, rounds, device)}
        bare = case["methods"]["two products"]
        for result in case["methods"].values():
            if "ms" in result:
                result |= {"ratio": result["ms"] / bare["ms"], "ratio_min": result["ms_min"] / bare["ms_min"]}
        cases.append(case)
    print(table(cases))
    for case in cases:
        print(f"\n{case['length']}: ratio of the medians, of the minima")
        for name, result in case["methods"].items():
            print(f"  {name}: " + (f"{result['ratio']:.3f} {result['ratio_min']:.3f}" if "ms" in result else "absent"))
    return {"cases": cases, "parts": {} if device == "cpu" else parts(x, device)}


def parts(x: Inputs, device: str) -> dict:
    """Milliseconds per 4096 rows of both products by number of rows, and of the kernel by launch shape."""
    from cuset_stage.objective import triton_kernels as kernels
    from cuset_stage.objective.chunk import LogitTransform, WeightRule

    buffer = torch.empty(1024, 152064, dtype=torch.bfloat16, device=device)
    hidden = torch.randn(1024, HIDDEN_SIZE, device=device).bfloat16()
    out, results = torch.empty_like(hidden), {"product 1": {}, "product 2": {}, "kernel": {}}
    for rows in sorted({*range(511, 1024, 32), *range(512, 1025, 64), 543, 683, 819, 843, 863, 875, 1023}):
        h, b, o = hidden[:rows], buffer[:rows], out[:rows]
        results["product 1"][rows] = (
            timed(lambda h=h, b=b: torch.mm(h, x.weight.t(), out=b), x, device, 8) * 4096 / rows
        )
        results["product 2"][rows] = timed(lambda o=o, b=b: torch.mm(b, x.weight, out=o), x, device, 8) * 4096 / rows

    rows, flat = 863, LogitTransform(1e-9)  # the kernel meets its own results, which must not diverge
    target = torch.randint(0, 152064, (rows,), device=device)
    nll, weight, factor = torch.ones(3, rows, device=device)
    shipped = kernels.LAUNCH_SHAPES, kernels.UNSCALED_LAUNCH_SHAPES
    for lanes, warps in (
        (2048, 8),
        (4096, 8),
        (4096, 16),
        (8192, 16),
        (8192, 32),
        (16384, 16),
        (16384, 32),
        (32768, 32),
    ):
        kernels.LAUNCH_SHAPES = kernels.UNSCALED_LAUNCH_SHAPES = ((0, lanes, warps),)
        for name, f in (("two reads", None), ("one read", factor)):

            def step(f=f):
                kernels.chunk_step(
                    buffer[:rows], target, nll, weight, None, WeightRule("above", low=0.1), flat, factor=f
                )

            torch.mm(hidden, x.weight.t(), out=buffer)
            results["kernel"][f"{name}, {lanes} lanes, {warps} warps"] = timed(step, x, device, 8) * 4096 / rows
    kernels.LAUNCH_SHAPES, kernels.UNSCALED_LAUNCH_SHAPES = shipped
    for name, values in results.items():
        print(f"\n{name}, ms for 4096 rows")
        for key, value in values.items():
            print(f"  {key}: {value:.3f}")
    return results


ZERO_SHARES = (0.1, 0.3, 0.4, 0.5, 0.6, 0.7, 0.9)


def zero_shares(device: str, rounds: int, quick: bool) -> dict:
    """Milliseconds with and without the tokens of weight 0 in the second product, by their share; ProFit weighs 0 what is unlikely."""
    length, vocab_size, hidden_size = (128, 1500, 64) if quick else (4096, 152064, HIDDEN_SIZE)
    methods = {
        "all tokens": lambda: ours("profit"),
        "without weight 0": lambda: ours("profit", skip_zero_rows=True),
    }
    shares = []
    for share in ZERO_SHARES:
        x = Inputs(length, vocab_size, hidden_size, device, predicted=1 - share)
        with torch.no_grad():
            terms = fused_objective(
                x.hidden, x.weight, x.labels, x.cuda_mask, x.sample_ids, ObjectiveSettings(objective="profit")
            )[1]
        found = round((terms.weight == 0).float().mean().item(), 3)
        results = measure(x, methods, rounds, device)
        shares.append({"zero_share": found, "methods": results})
        print(found, *(f"{name}: {result['ms']:.2f} ms" for name, result in results.items()), sep="  ")
        del x, terms
    return {"length": length, "vocab_size": vocab_size, "shares": shares}


def timed(call: Callable[[], object], x: Inputs, device: str, repeats: int = 20) -> float:
    """Milliseconds of one of many calls in a row: the device is never idle between them."""

    def calls(_: Inputs) -> None:
        for _ in range(repeats):
            call()

    return statistics.median(stopwatch(calls, x, device) for _ in range(4)) / repeats


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
        "what": f"frozen head, forward and backward to the hidden states; ms: median over rounds of the mean of {CALLS} calls, extra_gib: peak above inputs and gradient",
        "rounds": rounds,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="where to write the results")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--quick", action="store_true", help="small shapes, two rounds; runs on a CPU")
    parser.add_argument(
        "--variants", action="store_true", help="ways to compute CuSeT's objective instead of the peers"
    )
    parser.add_argument("--zero-shares", action="store_true", help="with and without the tokens of weight 0 instead")
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cpu" and not args.quick:
        parser.error("no CUDA device: only --quick runs on a CPU")
    if args.variants or args.zero_shares:
        rounds = 2 if args.quick else args.rounds
        results = record(device, rounds) | (variants if args.variants else zero_shares)(device, rounds, args.quick)
        if args.json:
            args.json.parent.mkdir(parents=True, exist_ok=True)
            args.json.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
        return

    lengths, vocabularies, hidden_size, rounds = LENGTHS, VOCABULARIES, HIDDEN_SIZE, args.rounds
    if args.quick:
        lengths, vocabularies, hidden_size, rounds = (128,), (512, 1500), 64, 2
    cases, started = [], time.time()
    report = record(device, rounds) | {"cases": cases}
    for vocab_size in vocabularies:
        for length in lengths:
            x = Inputs(length, vocab_size, hidden_size, device)
            with torch.no_grad():
                terms = fused_objective(x.hidden, x.weight, x.labels, x.cuda_mask, x.sample_ids, ObjectiveSettings())[
                    1
                ]
            case = {"length": length, "vocab_size": vocab_size, "hidden_size": hidden_size}
            case |= {"confident_share": round((terms.confidence > 0.1).float().mean().item(), 3)}
            case["methods"] = measure(x, METHODS, rounds, device)
            cases.append(case)
            print(f"{length} x {vocab_size}: {time.time() - started:.0f} s so far", flush=True)
            if args.json:  # after each case: a later one may be cut off
                args.json.parent.mkdir(parents=True, exist_ok=True)
                args.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
            del x, terms
            if device == "cuda":
                torch.cuda.empty_cache()
    print(table(cases))


if __name__ == "__main__":
    main()
