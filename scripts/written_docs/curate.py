"""What is found of copies, what becomes of public data sets, and how the stages scale, in docs/curate.md."""

from collections import Counter

from . import ROOT, between_marks, record, table


def page() -> str:
    """docs/curate.md with what is found of copies, what becomes of public data sets, and how the stages scale."""
    return between_marks("curate.md", f"{copies()}\n\n## Public data\n\n{formats()}\n\n## Scale\n\n{scale()}")


def copies() -> str:
    saved = record("copies.json")
    keys, trees = ("changed", "found", "found_with_prompt"), saved["trees"].values()
    rows = [(name, *(str(each[key]) for key in keys)) for name, each in saved["changes"].items()]
    header = [
        "the copy's change",
        "kernels it changes",
        f"found, of {saved['kernels']}",
        "found, with the task's prompt",
    ]
    return (
        f"{table(header, rows)}\n\nNot found without a prompt: {', '.join(saved['changes']['all of these']['missed'])}. Taken for a copy without being one: "
        f"{len(saved['common']['dropped'])} of {saved['common']['kernels']} kernels of every course in other forms, "
        f"{sum(len(tree['dropped']) for tree in trees)} of {sum(tree['kernels'] for tree in trees):,} kernels of {', '.join(saved['trees'])}. "
        f"`benchmarks/copies.json`, {saved['date'][:10]}: `scripts/measure_copies.py CUDABench-Set.jsonl --trees ...` of commit 4d30e6b2"
    )


def formats() -> str:
    """Kept by each stage, and what was left out for what; the last columns are of the rows that `split` left."""
    saved, stages = record("curate_formats.json"), ("import", "split", "deduplicate", "adapt", "answer")
    rows, alone = [], []
    for name, each in saved["sources"].items():
        steps = {step["stage"]: step for step in each["funnel"]}
        left = sum((Counter(step["reasons"]) for step in each["funnel"]), Counter())
        left = Counter({**left, "wait for a GPU": steps["prove"]["unsettled"] if "prove" in steps else 0})
        why = [f"{reason} {count:,}" for reason, count in left.most_common() if count]
        held = [f"{benchmark} {count:,}" for benchmark, count in each["contaminated"].items() if count]
        kept = (f"{steps[stage]['kept']:,}" if stage in steps else "" for stage in stages)
        seconds = sum(step["seconds"] for step in each["funnel"])
        link = f"[{name}](https://github.com/{each['repository']})"
        rows.append(
            (link, each["format"], f"{each['rows']:,}", *kept, ", ".join(why), ", ".join(held), f"{seconds:.0f} s")
        )
        if "alone" in each:
            alone.append(f"{each['alone']['compiled']} of {each['alone']['kernels']} of {name}")
    header = ["source", "format", "rows", *(f"`{stage}`" for stage in stages), "left out", "in a benchmark", "time"]
    answered = {name: each["answers"] for name, each in saved["sources"].items() if each.get("answers", {}).get("all")}
    answers = ", ".join(f"{each['with_kernel']} of {each['all']} of {name}" for name, each in answered.items())
    return (
        "What `cuset curate run` keeps of data sets as GitHub has them, on a machine without a GPU and without a model: `write` asks nobody, "
        "so kernels end at `adapt` as `no_task`, and tasks without an answer at `answer`. `in a benchmark` is what `against=` finds in "
        f"KernelBench and CUDABench of the rows that `split` left.\n\n{table(header, rows)}\n\nKernels that compile with what `split` left "
        f"them, of a sample: {', '.join(alone)}. CUDA-L1's and the AI CUDA Engineer's modules are KernelBench's; those that were not found "
        f"are tasks that KernelBench has changed since. Answers with a kernel: {answers}; the others "
        f"call torch alone, and `prove` drops them on a GPU. `benchmarks/curate_formats.json`, {saved['date'][:10]}, "
        f"{saved['machine']['cpus']} cores: `scripts/curate_formats.py CLONES WORK --json OUT.json --alone 60` of commit 4d30e6b2"
    )


def scale() -> str:
    """Seconds of each stage's command, of one that was resumed all of them together, and in proportion those of ten million rows."""
    stages = ("import", "split", "deduplicate")
    names = [path.name for path in ROOT.glob("benchmarks/curate_*[0-9][km]_h200.json")]
    counted = sorted((next(step["read"] for step in record(name)["funnel"]), name) for name in names)
    rows, own = [], {}
    for count, name in counted:
        runs = [run for run in record(name)["runs"] if run["stage"] in stages]
        seconds = {stage: sum(run["seconds"] for run in runs if run["stage"] == stage) for stage in stages}
        own[count], peak = (max(run[key] for run in runs) for key in ("own_mib", "peak_mib"))
        memory = (f"{mib:,.0f} MiB" for mib in (own[count], peak))
        rows.append((f"{count:,}", *(f"{seconds[stage]:,.0f} s" for stage in stages), *memory))
    (few, _), (many, _) = counted[-2:]
    factor = 10_000_000 / count
    hours = [f"{each * factor / 3600:.1f} h" for each in seconds.values()]
    rows.append((f"10,000,000, as {factor:,.0f} x {count:,}", *hours, "", ""))
    header = ["rows", *(f"`{stage}`" for stage in stages), "memory of the writing process", "with its workers"]
    return (
        "`import` and `split` work on every core; `deduplicate` holds a few numbers a row and keeps its "
        f"MinHashes on the disk. Those numbers were {(own[many] - own[few]) * 1024 / (many - few):.1f} KiB a row.\n\n"
        f"{table(header, rows)}\n\n{runs[0]['machine']['cpus']} cores; ten million rows would take "
        f"{sum(seconds.values()) * factor / 3600:.1f} hours. `benchmarks/{name}`: `scripts/bench_curate.py WORK --rows {count} "
        "--stages import,split,deduplicate` of commit 4d30e6b2"
    )
