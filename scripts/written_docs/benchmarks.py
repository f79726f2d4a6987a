"""The tables of docs/benchmarks.md that scripts can measure again. The other tables are part of the page."""

from . import ROOT, between, filled, record, source, table


STEP_RUNS = ("sft", "sft + liger", "cuset", "cuset + liger")
METHODS = {"lora": "LoRA, bf16", "qlora": "QLoRA, 4-bit", "full": "full"}


def page() -> str:
    return filled("benchmarks.md", step=step(), memory=memory(), head=head(), judge=judge(), data=data())


def step() -> str:
    """Return seconds per step and peak memory at two lengths, and the cost of other objectives relative to CuSeT.

    The costs relative to CuSeT are all from one record.
    """
    runs = "sft cuset 'cuset + liger' 'sft + liger' 'sft + liger' 'cuset + liger' cuset sft"
    commands = {"": f"--runs {runs}", "32k_": "--cutoff-len 32768", "objectives_": "--runs all"}
    names = {f"step_7b_{name}h200.json": f"python scripts/bench_step.py {how}" for name, how in commands.items()}
    now, long, others = (record(name)["results"] for name in names)
    rows = []
    for run in STEP_RUNS:
        title = f"`stage: {run.partition(' ')[0]}`" + (", Liger" if run.endswith("liger") else "")
        cells = [title]
        for result in (now[run], long[run]):
            cells += [f"{result['seconds_per_step']:.3f}", f"{result['peak_gib']:.2f}"]
        rows.append(cells)
    header = ["run", "4096 tokens: s a step", "peak GiB", "32768 tokens: s a step", "peak GiB"]
    unfused, eaft, asft = (
        f"{run['seconds_per_step'] / others['cuset']['seconds_per_step']:.2f} x the time and {run['peak_gib']:.2f} GiB"
        for run in (others["cuset unfused"], others["stage: cuset eaft"], others["stage: cuset asft"])
    )
    text = (
        f"Beside `stage: cuset` at 4096 tokens, in one earlier run: from logits (`cuset_fused: off`) {unfused},\n"
        f"`cuset_objective: eaft` {eaft}, `asft`, with its further forward pass, {asft}."
    )
    sources = "\n".join(source(name, command) for name, command in names.items())
    return "\n\n".join([table(header, rows), text, sources])


def memory() -> str:
    """Return the table of peak memory by model, tuning method and length."""
    rows = record("memory_h200.json")
    cells = [
        [one["model"].upper(), METHODS[one["method"]], str(one["cutoff_len"]), f"{one['peak_gib']:.1f}", f"{one['reserved_gib']:.1f}"]
        for one in sorted(rows, key=lambda one: (float(one["model"][:-1]), one["method"], one["cutoff_len"]))
    ]  # fmt: skip
    command = "python scripts/bench_memory.py --json outputs/memory.json"
    measured = f"- `benchmarks/memory_h200.json`, {rows[0]['date']}, {rows[0]['gpu']}: `{command}`"
    return table(["model", "tuning", "tokens", "peak GiB", "reserved GiB"], cells) + "\n\n" + measured


def head() -> str:
    """Return the table of heads: milliseconds and extra GiB per case, and the largest error at Qwen2.5-7B's shape."""
    (path,) = (ROOT / "benchmarks").glob("head_h*.json")
    saved = record(path.name)
    versions = ", ".join(f"{name} {version}" for name, version in saved["versions"].items() if version != "absent")
    cases = saved["cases"]
    methods = list(dict.fromkeys(method for case in cases for method in case["methods"]))
    methods.sort(key=lambda method: not method.endswith("products"))
    rows, spread = [], 0.0
    for method in methods:
        results = [case["methods"].get(method, {}) for case in cases]
        timed = [result for result in results if "ms" in result]
        if timed:
            spread = max([spread, *(max(r["ms_max"] / r["ms"], r["ms"] / r["ms_min"]) - 1 for r in timed)])
            cells = [f"{r['ms']:.2f} / {r['extra_gib']:.2f}" if "ms" in r else "" for r in results]
            shape_7b = [r for case, r in zip(cases, results, strict=True) if case["hidden_size"] == 3584]
            errors = [error for r in shape_7b for error in r.get("error", {}).values()]
            loss = timed[0].get("loss") or ""
            rows.append([method, "" if loss == "another" else loss, *cells, f"{max(errors):.1e}" if errors else ""])
    shapes = [f"{case['head']}, {case['hidden_size']} x {case['vocab_size']}" for case in cases]
    measured = source(path.name, "python scripts/bench_head.py") + f", with {versions}"
    text = f"Over the rounds no time is further than {100 * spread:.0f} % from its median."
    return "\n\n".join([table(["head", "loss", *shapes, "error"], rows), text, measured])


def judge() -> str:
    """Return the table of the judge's speed."""
    speed = record("judge_h200.json")
    runs, many = ("single", "cold", "warm"), f"`per_gpu={speed['per_gpu']}`"
    own = [f"{speed[run]['own_ms']['median']:.0f} ms" for run in runs]
    per_second = [f"{speed[run]['samples_per_s']:.1f}" for run in runs]
    relative = [f"{speed[f'speedup_{run}']:.1f} x" for run in runs]
    title = f"judge's own time for a sample of five cases, one program at a time ({speed['samples']} samples)"
    together = f"the same with {speed['per_gpu']} programs at a time ({many})"

    def compared(single: str, cold: str, warm: str) -> str:
        return f"{single}; {many} {cold}, compiled before {warm}"

    rows = [
        [title, f"{own[0]} (median)"],
        [together, f"{own[1]}, compiled before {own[2]} (median)"],
        [f"samples a second with {speed['cpus']} cores", compared(*per_second)],
        ["the same, relative to one after another on empty caches", compared(*relative)],
    ]
    options = f"--samples {speed['samples']} --alone {speed['alone']['samples']} --per-gpu {speed['per_gpu']}"
    command = f"python scripts/bench_judge.py data/kernels {options} --output outputs/judge.json"
    return table(["what", "measured"], rows) + "\n\n" + source("judge_h200.json", command)


def percent(share: dict[str, float]) -> str:
    return between(share["percent"], share["low"], share["high"])


def data() -> str:
    """Return the scores on CUDABench without training and after the last round of the bundled data."""
    [untrained] = [row for row in record("prompts_h100.json")["rows"] if "edition" not in row["prompts"]]
    last = record("data_rounds.json")["rounds"][-1]
    trained = last["cudabench"]
    rows = [
        ["not trained", percent(untrained["compiled"]), percent(untrained["passed"])],
        [last["trained"], percent(trained["compiled"]), percent(trained["function"])],
    ]
    return table(["trained on", "compile", "right"], rows)
