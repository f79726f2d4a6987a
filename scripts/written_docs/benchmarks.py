"""The tables of docs/benchmarks.md whose records a script of scripts/ measures anew; the others stand in the page as they are."""

from typing import Any

from . import ROOT, between, filled, record, source, table


STEP_RUNS = {  # title -> name in the records
    "`stage: sft`": "sft",
    "`stage: sft`, Liger": "sft + liger",
    "`stage: cuset`, logits (`cuset_fused: off`)": "cuset unfused",
    "`stage: cuset`": "cuset",
    "`stage: cuset`, Liger": "cuset + liger",
    "`cuset_objective: eaft`": "stage: cuset eaft",
    "`cuset_objective: asft`": "stage: cuset asft",
}
METHODS = {"lora": "LoRA, bf16", "qlora": "QLoRA, 4-bit", "full": "full"}
SETS = {
    "cudabench": "CUDABench",
    "without_restated": "CUDABench, without operations that training ones restated",
    "develop": "development",
    "mini": "cuset-mini 2, in our own words",
}


def page() -> str:
    return filled("benchmarks.md", step=step(), memory=memory(), head=head(), judge=judge(), data=data())


def step() -> str:
    """Seconds a step and peak memory of every run: now, of an earlier version, and of that with long rows."""
    runs = "sft cuset 'cuset + liger' 'sft + liger' 'sft + liger' 'cuset + liger' cuset sft"
    commands = {"": f"--runs {runs}", "objectives_": "--runs all", "32k_": "--cutoff-len 32768"}
    names = {
        f"step_7b_{name}h200.json": f"python scripts/bench_step.py {options}" for name, options in commands.items()
    }
    records = [record(name)["results"] for name in names]
    rows = []
    for title, run in STEP_RUNS.items():
        measured = [results.get(run) for results in records]
        cells = [(f"{one['seconds_per_step']:.3f}", f"{one['peak_gib']:.2f}") if one else ("", "") for one in measured]
        rows.append([title, *(cell for pair in cells for cell in pair)])
    header = [
        "run",
        "4096 tokens: s a step",
        "peak GiB",
        "earlier: s a step",
        "peak GiB",
        "32768 tokens: s a step",
        "peak GiB",
    ]
    return table(header, rows) + "\n\n" + "\n".join(source(name, command) for name, command in names.items())


def memory() -> str:
    rows = record("memory_h200.json")
    cells = [
        [one["model"].upper(), METHODS[one["method"]], str(one["cutoff_len"]), f"{one['peak_gib']:.1f}", f"{one['reserved_gib']:.1f}"]
        for one in sorted(rows, key=lambda one: (float(one["model"][:-1]), one["method"], one["cutoff_len"]))
    ]  # fmt: skip
    command = f"- `benchmarks/memory_h200.json`, {rows[0]['date']}, {rows[0]['gpu']}: `python scripts/bench_memory.py`"
    return table(["model", "tuning", "tokens", "peak GiB", "reserved GiB"], cells) + "\n\n" + command


def head() -> str:
    (path,) = (ROOT / "benchmarks").glob("head_h*.json")
    versions = [f"{name} {of}" for name, of in record(path.name)["versions"].items() if of != "absent"]
    measured = source(path.name, "python scripts/bench_head.py") + f", with {', '.join(versions)}"
    return "\n\n".join([head_table(path.name, "frozen"), head_table(path.name, "trained"), measured])


def head_table(name: str, kind: str) -> str:
    cases = [case for case in record(name)["cases"] if case["head"] == kind]
    rows = []
    for method in cases[0]["methods"]:
        results = [case["methods"].get(method, {}) for case in cases]
        if any("ms" in result for result in results):
            cells = [
                f"{r['ms']:.2f} ({r['ms_min']:.2f} to {r['ms_max']:.2f}) / {r['extra_gib']:.2f}" if "ms" in r else "-"
                for r in results
            ]
            error = max(results[0].get("error", {}).values(), default=None)
            loss = results[0].get("loss") or ""
            rows.append([method, "" if loss == "another" else loss, *cells, "" if error is None else f"{error:.1e}"])
    shapes = [f"{case['hidden_size']} x {case['vocab_size']}" for case in cases]
    return table([f"{kind} head", "loss", *shapes, "error"], rows)


def judge() -> str:
    host, user, device = (record(f"{name}.json")["attacks"] for name in ("attacks", "attacks_user", "attacks_h100"))
    speed = record("judge_h200.json")
    single, cold, warm = (speed[run] for run in ("single", "cold", "warm"))
    many = f"`per_gpu={speed['per_gpu']}`"

    def contained(attacks: list[dict[str, Any]]) -> str:
        return f"{sum(one['contained'] for one in attacks)} contained"

    rows = [
        [f"{len(host)} attacks by programs and sources on the host, the judge as root", contained(host)],
        [f"{len(user)} attacks by programs and sources, of an ordinary user", contained(user)],
        [f"{len(device)} attacks on the device, each followed by a right program", contained(device)],
        [
            f"judge's own time for a sample of five cases, one program at a time ({speed['samples']} samples)",
            f"{single['own_ms']['median']:.0f} ms (median)",
        ],
        [
            f"the same with {speed['per_gpu']} programs at a time ({many})",
            f"{cold['own_ms']['median']:.0f} ms, compiled before {warm['own_ms']['median']:.0f} ms (median)",
        ],
        [
            f"samples a second with {speed['cpus']} cores",
            f"{single['samples_per_s']:.1f}; {many} {cold['samples_per_s']:.1f}, "
            f"compiled before {warm['samples_per_s']:.1f}",
        ],
        [
            "the same, relative to one after another on empty caches",
            f"{speed['speedup_single']:.1f} x; {many} {speed['speedup_cold']:.1f} x, "
            f"compiled before {speed['speedup_warm']:.1f} x",
        ],
    ]
    options = f"--samples {speed['samples']} --alone {speed['alone']['samples']} --per-gpu {speed['per_gpu']}"
    command = f"python scripts/bench_judge.py data/kernels {options} --output outputs/judge.json"
    return table(["what", "measured"], rows) + "\n\n" + source("judge_h200.json", command)


def percent(share: dict[str, float]) -> str:
    return between(share["percent"], share["low"], share["high"])


def data() -> str:
    [untrained] = [row for row in record("prompts_h100.json")["rows"] if "edition" not in row["prompts"]]
    rows = [["as it is", "", "", "CUDABench", percent(untrained["compiled"]), percent(untrained["passed"])]]
    for one in record("data_rounds.json")["rounds"]:
        for key, name in SETS.items():
            if key in one:
                label = f"round {one['round']}" if one["round"] else "as it is"
                trained = [label, one["trained"] if one["round"] else "", str(len(one[key]["seeds"])), name]
                rows.append([*trained, percent(one[key]["compiled"]), percent(one[key]["function"])])
    return table(["round", "trained on", "seeds", "tasks", "compile", "right"], rows)
