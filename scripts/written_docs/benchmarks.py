"""docs/benchmarks.md, from the records in benchmarks/."""

import json
from statistics import mean, median, stdev
from typing import Any

from . import NOTE, ROOT, record, source, table


STEP_RUNS = {  # title -> name in the records
    "`stage: sft`": "sft",
    "`stage: sft`, Liger": "sft + liger",
    "`use_dft_loss`": "dft",
    "`use_eaft_loss`": "eaft",
    "`stage: cuset`, logits (`cuset_fused: off`)": "cuset unfused",
    "`stage: cuset`": "cuset",
    "`stage: cuset`, Liger": "cuset + liger",
    "`cuset_objective: eaft`": "stage: cuset eaft",
    "`cuset_objective: eaft`, Liger": "eaft fused + liger",
    "`cuset_objective: asft`": "stage: cuset asft",
    "`cuset_objective: asft`, Liger": "asft fused + liger",
}
MUTATIONS = {
    "bound_off_by_one": "bound off by one",
    "drop_syncthreads": "dropped barrier",
    "wrong_index": "wrong index",
    "wrong_launch_size": "wrong launch size",
    "swapped_dims": "swapped dimensions",
    "wrong_operator": "wrong operator",
    "drop_boundary_check": "dropped boundary check",
    "wrong_initial_value": "wrong initial value",
    "dropped_memcpy_or_memset": "dropped copy",
    "wrong_memcpy_size_or_direction": "wrong copy",
    "all": "all",
}
PAIR_KINDS = {
    kind: MUTATIONS[kind] for kind in ("bound_off_by_one", "drop_syncthreads", "wrong_index", "swapped_dims")
}
METHODS = {"lora": "LoRA, bf16", "qlora": "QLoRA, 4-bit", "full": "full"}
OUTCOMES = {
    "wrong outputs": ("mismatch", "missing_output"),
    "error or timeout": ("runtime_error", "timeout"),
    "sanitizer alone": ("sanitizer",),
    "adverse form alone": ("adverse",),
    "equivalent or same code": ("equivalent", "same code"),
    "wrong, passes all three": ("survived",),
}


def page() -> str:
    sections = (
        training_step,
        padding,
        rules,
        memory,
        head_and_loss,
        fused_against_logits,
        on_a_cpu,
        answers,
        prompts,
        judge,
    )
    parts = [section() for section in (*sections, pairs, data_rounds, bundled_data)]
    return "\n".join(["# Benchmarks\n", NOTE.format("the records in `benchmarks/`"), *parts])


def training_step() -> str:
    both = record("step_7b_h200.json")["results"]
    more = [record(f"step_7b_{name}_h200.json")["results"] for name in ("objectives", "32k")]
    ranks = record("step_7b_zero2_h200x2.json")["results"]
    small = record("fits_18gib_h200.json")["results"]
    fits = {name: "runs out of memory" if "error" in small[name] else "trains" for name in ("sft", "cuset")}
    return f"""## A training step

Qwen2.5-7B's shape with random weights, LoRA r 8 on all linear layers, bf16, gradient checkpointing, one row of packed tokens. Each
row is a run of LLaMA-Factory.

{table(["run, 4096 tokens", "s a step", "peak GiB"], step_rows(both))}

Each time is the median of two processes, run in both orders. With other objectives, and at 32768 tokens, one process each, measured
with an earlier version:

{table(["run", "4096 tokens: s a step", "peak GiB", "32768 tokens: s a step", "peak GiB"], step_rows(*more))}

With DeepSpeed ZeRO-2 on two H200s: {ranks["sft"]["seconds_per_step"]:.3f} s and {ranks["sft"]["peak_gib"]:.2f} GiB for `stage: sft`,
{ranks["cuset"]["seconds_per_step"]:.3f} s and {ranks["cuset"]["peak_gib"]:.2f} GiB for `stage: cuset`. With GPU memory capped at 18 GiB, `stage: sft`
{fits["sft"]} at 4096 tokens and `stage: cuset` {fits["cuset"]}.

- {source("step_7b_h200.json", "python scripts/bench_step.py --runs sft cuset 'cuset + liger' 'sft + liger' 'sft + liger' 'cuset + liger' cuset sft")}
- {source("step_7b_objectives_h200.json", "python scripts/bench_step.py --runs all")}
- {source("step_7b_32k_h200.json", "python scripts/bench_step.py --cutoff-len 32768")}
- {source("step_7b_zero2_h200x2.json", "python scripts/bench_step.py --ranks 2")}
- {source("fits_18gib_h200.json", "python scripts/bench_step.py --memory-gib 18")}
"""


def step_rows(*records: dict[str, Any]) -> list[list[str]]:
    """A row for each run of the first record: seconds a step and peak memory in every record."""
    rows = []
    for title, run in STEP_RUNS.items():
        if run in records[0]:
            rows.append([title])
            for one in (results.get(run) for results in records):
                rows[-1] += [f"{one['seconds_per_step']:.3f}", f"{one['peak_gib']:.2f}"] if one else ["-", "-"]
    return rows


def padding() -> str:
    measured = record("train_1.5b.json")
    padded, laid, halved = measured["padded"], measured["padding_free"], measured["halved"]
    share = ", ".join(f"{name} {value} %" for name, value in padded["gpu_share_of_time"].items())
    rows = [
        [f"{run['run']}, on an H100", f"{run['tokens_s']:,}", f"{run['peak_gib']} GiB"] for run in padded["runs"]
    ] + [
        [f"{laid['batch']}, padding-free, on an H200, seed {run['seed']}", f"{run['tokens_s']:,}", ""]
        for run in laid["runs"]
    ]
    rows += [
        [f"{halved['batch']}, padding-free, on an H200, {run['run']}", f"{run['tokens_s']:,}", ""]
        for run in halved["runs"]
    ]
    return f"""## Training 1.5B

Qwen2.5-Coder-1.5B's shape on {measured["rows"]}. Padded, the GPU's time went to: {share}. So rows are laid end to end, attention needs no
mask, and LoRA's inputs are not copied to float32.

{table(["batch", "tokens a second", "peak"], rows)}

The cards differ, so this is no ratio. With 8 x 1: {laid["note"]}. With 4 x 2: {halved["note"]}; two such trainings on one GPU had
{sum(run["tokens_s"] for run in halved["two_on_one_gpu"]):,} tokens a second together.

- `benchmarks/train_1.5b.json`, {measured["date"]}, by hand from the runs' logs; in turns with `stage: sft`: `python scripts/bench_chain.py`
"""


def rules() -> str:
    saved = record("rules_7b_h200.json")
    results = record("convergence_rules_h200.json")["results"]
    trained = {precision: pair for precision, pairs in results.items() for pair in pairs.values()}
    rows = []
    for name, one in saved["results"].items():
        shown = f"`{name}`" if name in ("cuset", "eaft") else name
        rows.append([shown, f"{one['seconds_per_step']:.3f}", f"{one['relative_to_cuset']:.3f}"])
    return f"""## What a rule costs

The same step, objectives in turns within one run, the median of {saved["steps_of_each"]} steps of each; steps of one objective differ by a
percent or two. "cuset before" is the release in which objectives were no rules.

{table(["objective", "s a step", "relative to `cuset`"], rows)}

Focal loss as [a user writes it](objectives.md), trained for {trained["fp32"]["steps"]} steps from logits and with the fused head: the losses
differ at most by {trained["fp32"]["difference"]:.1e} in float32 and {trained["bf16"]["difference"]:.1e} in bfloat16, relative, at any step.

- {source("rules_7b_h200.json", "scripts/bench_rules.py --before FOLDER")} of commit 4d30e6b2
- {source("convergence_rules_h200.json", "scripts/bench_convergence.py --steps 60 --base-steps 60 --objectives scripts/bench_rules.py:focal")} of commit 4d30e6b2
"""


def memory() -> str:
    rows = record("memory_h200.json")
    cells = [
        [one["model"].upper(), METHODS[one["method"]], str(one["cutoff_len"]), f"{one['peak_gib']:.1f}", f"{one['reserved_gib']:.1f}"]
        for one in sorted(rows, key=lambda one: (float(one["model"][:-1]), one["method"], one["cutoff_len"]))
    ]  # fmt: skip
    return f"""## Memory

Training with `stage: cuset` on one GPU, random weights of the shapes of Qwen2.5 (1.5B, 7B, 32B) and Qwen3 (14B), batch 1, gradient
checkpointing, rows packed to the full length. "Peak" is what tensors took at most, "reserved" what PyTorch held; the CUDA context comes
on top, about 0.5 GiB.

{table(["model", "tuning", "tokens", "peak GiB", "reserved GiB"], cells)}

- `benchmarks/memory_h200.json`, {rows[0]["date"]}, {rows[0]["gpu"]}: `python scripts/bench_memory.py`
"""


def head_and_loss() -> str:
    (path,) = (ROOT / "benchmarks").glob("head_h*.json")
    return f"""## The output layer and the loss alone

4096 supervised tokens in bf16, at the shapes of Qwen2.5 7B and 1.5B: forward, and backward to the hidden states and, with a trained head,
to its weight. Each cell: milliseconds (their extremes over the rounds) / GiB beyond inputs and gradients. The error is the largest relative
one of the loss and of the gradients' norms at 7B, against float64 logits of the same inputs.

{head_table(path.name, "frozen")}

{head_table(path.name, "trained")}

The products are the matrix products alone: hidden states by weight, gradient of the logits by weight, gradient of the logits by hidden
states (three), and the logits again (four). A frozen head needs two. A trained one needs three, and four under CuSeT unless the logits are
kept, because other tokens of a sample decide what a token weighs.

A loss per token without logits is not ours alone: on TRL's, Liger's and Apple's heads CuSeT is fifteen lines of PyTorch, measured here.
They compute the logits once more for the gradient, also where the head is frozen; with a trained head, where ours has to as well, Liger's
and TRL's are faster. QuACK gives sums and means, so plain cross-entropy alone: compare it with `ours, sft`. It is level with ours where the
head is frozen, and faster with a trained one.

- {source(path.name, "python scripts/bench_head.py")}, with {", ".join(f"{name} {of}" for name, of in record(path.name)["versions"].items() if of != "absent")}
"""


def head_table(name: str, head: str) -> str:
    cases = [case for case in record(name)["cases"] if case["head"] == head]
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
    return table([f"{head} head", "loss", *shapes, "error"], rows)


def fused_against_logits() -> str:
    results = record("convergence_h200.json")["results"]

    def largest(precision: str) -> float:
        return max(
            abs(fused - logits) / logits
            for pair in results[precision].values()
            for fused, logits in zip(pair["fused"]["loss"], pair["logits"]["loss"], strict=True)
        )

    return f"""## The fused head trains the same

Trained for 200 steps from logits and with the fused head, the losses of the six objectives differ at most by {largest("fp32"):.1e} in
float32 and {largest("bf16"):.1e} in bfloat16, relative, at any step (`benchmarks/convergence_h200.png` has the curves).

- {source("convergence_h200.json", "scripts/bench_convergence.py --json OUT.json --plot OUT.png")} of commit 4d30e6b2
"""


def on_a_cpu() -> str:
    preparing, starting, labels = record("preprocessing.json")["results"], record("startup.json"), record("label.json")
    spans, triton = record("spans.json"), record("spans_languages.json")["languages"]["triton"]
    kinds, found = spans["all"], [triton["all"][kind] for kind in ("kernel_body", "launch_config")]
    rows = [
        ["preprocessing, relative to SFT's on the same rows", f"{preparing['plain']['ratio']:.2f} x, packed {preparing['packing']['ratio']:.2f} x"],
        [f"`cuset label` on {labels['rows']:,} rows of 4 kB", f"{labels['seconds']:.0f} s"],
        ["start-up of a Python that never imports LLaMA-Factory", f"+{starting['wall_clock']['difference_within_a_pair']['median_ms']:.2f} ms (median)"],
        [
            f"spans against clang's syntax tree: {spans['files']} files of {len(spans['repositories'])} repositories, "
            f"{kinds['kernel_body']['spans']} kernel bodies, {kinds['launch_config']['spans']} launch configurations",
            f"character precision {min(kind['precision'] for kind in kinds.values()):.3f}, recall {min(kind['recall'] for kind in kinds.values()):.3f}",
        ],
        [
            f"spans of Triton against Python's own parser: {triton['all']['files']} files of {len(triton['repositories'])} repositories, "
            f"{found[0]['spans']} kernel bodies, {found[1]['spans']} launches",
            f"character precision {min(kind['precision'] for kind in found):.3f}, recall {min(kind['recall'] for kind in found):.3f}",
        ],
        ["`find_spans` on 4 kB of code", f"{spans['speed']['ms_per_4kB']:.2f} ms"],
    ]  # fmt: skip
    return f"""## Labels and preprocessing

{table(["what", "measured"], rows)}

- {source("preprocessing.json", "python scripts/bench_preprocessing.py")}
- {source("label.json", "python scripts/bench_label.py")}
- {source("startup.json", "scripts/bench_startup.py --pairs 200")} of commit 4d30e6b2
- {source("spans.json", "scripts/measure_spans.py CHECKOUT...")} of commit 4d30e6b2
- {source("spans_languages.json", "measure_languages.py FOLDER")} of commit e32c2edc
"""


def answers() -> str:
    saved = record("generate_h200.json")
    rows = []
    for case in saved["cases"]:
        tokens = f"{case['max_tokens']}"
        if case["workload"] != "equal":
            tokens = f"{case['after']['tokens'] / case['samples']:.0f} on average, {tokens} at most"
        longer = f"{case['long']['tokens_per_s']:,} ({case['long_tokens']})" if case["long_tokens"] else ""
        rows.append([
            f"{case['parameters'] / 1e6:,.0f} M", str(case["batch"]), tokens, f"{case['before']['tokens_per_s']:,}",
            f"{case['after']['tokens_per_s']:,}", f"{case['faster']:.1f} x", longer,
        ])  # fmt: skip
    header = [
        "parameters",
        "`batch_size`",
        "tokens an answer",
        "batches of `generate`",
        "continuous batching",
        "faster",
    ]
    return f"""## Answers

`cuset generate` with a local model: tokens a second of whole runs, from prompts to texts, with temperature 0.8 and top_p 0.95, in bf16. The
models have Qwen2's shape and random weights. Continuous batching captures its CUDA graphs in each run, which weighs less in a longer one. It
writes 64 samples at a time, whatever more `batch_size` says: so their bits do not change. Batches of `generate` wait for Python at
every step, so their times depend on the processor; models that continuous batching does not take still go through them.

{table([*header, "the same with longer answers (tokens)"], rows)}

- {source("generate_h200.json", "scripts/bench_generate.py of commit 3edd1f46")}
"""


def judge() -> str:
    host, user, device = (record(f"{name}.json")["attacks"] for name in ("attacks", "attacks_user", "attacks_h200"))
    names = ("judge_references", "judge", "mutants", "judge_cudabench", "judge_cudabench_500")
    references, speed, mutants, bench, whole = (record(f"{name}_h200.json") for name in names)
    own = {run: speed[run]["own_ms"]["median"] for run in ("single", "alone", "cold", "warm")}
    reference_ms = 1e3 * median(task["overhead_s"] for task in references["tasks"].values())
    flags = [flag for task in references["tasks"].values() for flag in task["flags"]]
    rows = [
        [f"{len(host)} attacks by programs and sources on the host, the judge as root", f"{sum(one['contained'] for one in host)} contained"],
        [f"{len(user)} attacks by programs and sources, of an ordinary user", f"{sum(one['contained'] for one in user)} contained"],
        [f"{len(device)} attacks on the device, each followed by a right program", f"{sum(one['contained'] for one in device)} contained"],
        [f"the {references['total']} bundled programs as answers", f"{references['passed']} pass, {len(flags)} without a speed-up, {sum(flag.startswith('no_gpu_work') for flag in flags)} of them as `no_gpu_work`"],
        [f"judge's own time for a sample of five cases, one program at a time ({speed['samples']} samples)", f"{own['single']:.0f} ms (median)"],
        [f"the same with {speed['per_gpu']} programs at a time (`per_gpu={speed['per_gpu']}`)", f"{own['cold']:.0f} ms, compiled before {own['warm']:.0f} ms (median)"],
        [f"the same for the bundled programs, {references['runs'][0]['per_gpu']} at a time", f"{reference_ms:.0f} ms (median)"],
        [f"samples a second with {speed['cpus']} cores", f"{speed['single']['samples_per_s']:.1f}; `per_gpu={speed['per_gpu']}` {speed['cold']['samples_per_s']:.1f}, compiled before {speed['warm']['samples_per_s']:.1f}"],
        ["the same, relative to one after another on empty caches", f"{speed['speedup_single']:.1f} x; `per_gpu={speed['per_gpu']}` {speed['speedup_cold']:.1f} x, compiled before {speed['speedup_warm']:.1f} x"],
    ]  # fmt: skip
    counts = [
        [title, str(sum(mutants["operators"][key].values()))]
        + [str(sum(mutants["operators"][key].get(name, 0) for name in names)) for names in OUTCOMES.values()]
        for key, title in MUTATIONS.items()
    ]
    passed = sum(row["verdict"] == "passed" for row in mutants["mutants"])
    said = ", ".join(f"{count} {verdict}" for verdict, count in whole["verdicts"].items())
    small = whole["small_disk"]
    thorough = [row["thorough"] for row in mutants["mutants"] if "thorough" in row]
    return f"""## The judge

{table(["what", "measured"], rows)}

- {source("attacks.json", "python scripts/attack_table.py --json outputs/attacks.json --no-gpu")}
- {source("attacks_user.json", "python scripts/attack_table.py --json outputs/attacks.json --no-gpu")}
- {source("attacks_h200.json", "python scripts/attack_table.py --json outputs/attacks.json")}
- {source("judge_h200.json", f"python scripts/bench_judge.py data/kernels --samples {speed['samples']} --alone {speed['alone']['samples']} --per-gpu {speed['per_gpu']} --output outputs/judge.json")}
- `benchmarks/judge_references_h200.json`:
  `python scripts/judge_references.py data/kernels --check outputs/references.jsonl --json outputs/references.json`

{bench["programs"]} of CUDABench's first 100 references (all but row {" and ".join(bench["skipped"])}, whose gen.py alone takes a minute) took {bench["ours_s"]:.0f} s with
empty caches on one H200 and {bench["cores"]} cores, with `per_gpu={bench["per_gpu"]}`. A harness like CUDABench's own took
{bench["harness_s"]:.0f} s for them, {bench["ratio"]:.1f} times as long, as the sum of its rows, of which {bench["harness_slices"]} ran beside each other and so in each other's way.
{bench["verdicts_differ"]} verdicts differ. The judge's own time for a row was {bench["overhead_ms"]:.0f} ms (median). Compiling takes
the most: nvcc needed {bench["seconds_of"]["compile_s"] / bench["programs"]:.1f} s for a program, with as many at a time as there are cores.

- {source("judge_cudabench_h200.json", "scripts/bench_cudabench.py CUDABench-Set.jsonl --rows 100 --skip 4 --slices 8 --options per_gpu=16")} of commit 4d30e6b2

{whole["programs"]} of its references took {whole["ours_s"]:.0f} s with empty caches on a disk of {whole["disk_gb"]:.0f} GB: {said}. The harness judged
{whole["harness_programs"]} of them, and {whole["verdicts_differ"]} verdicts differ. On a disk of 20 GB, {small["programs"]} of them were judged in {small["ours_s"]:.0f} s, when
the run was stopped; {small["verdicts_differ"]} verdicts differ.

- {source("judge_cudabench_500_h200.json", "scripts/bench_cudabench.py CUDABench-Set.jsonl --rows 500 --side ours --options per_gpu=16, and --side harness --slices 16")} of commit 4d30e6b2

### Mutants of the bundled programs

{table(["mutation", "judged", *OUTCOMES], counts)}

`cuset evaluate` says `passed` for {passed} of the {len(mutants["mutants"])}. Those under "sanitizer alone" fail under compute-sanitizer; those under "adverse
form alone" fail when what CUDA leaves undefined is made to come out badly: shared memory full of garbage, half of the warps late after every
barrier, garbage from inactive lanes. `cuset evaluate thorough=true` tries both: of the {len(thorough)} wrong ones that
pass otherwise, {len(thorough) - thorough.count("passed")} fail. `benchmarks/mutants_equivalent.json` says why a mutant is equivalent to its program.

- {source("mutants_h200.json", "scripts/mutation_table.py --json outputs/mutants.json --per-task 6 --per-gpu 5")} of commit 4d30e6b2
"""


def pairs() -> str:
    asked, large = record("pairs_demo.json"), record("pairs_7b_h200.json")
    others = record("pairs_untrained.json")["models"].values()
    untrained = [100 * one["accuracy"]["from_change"]["value"] for one in others]
    models = asked["models"].values()

    def cells(group: str, key: str) -> list[str]:
        found = [model[group][key] for model in models]
        return [f"{100 * one['value']:.1f} ({100 * one['low']:.1f} to {100 * one['high']:.1f})" for one in found]

    counts = next(iter(models))["lengths"]["pairs"]
    rows = [
        ["right program preferred", *cells("accuracy", "from_change")],
        ["by the mean over tokens", *cells("accuracy", "per_token")],
        *([name, *cells("kinds", kind)] for kind, name in PAIR_KINDS.items()),
        [f"wrong program longer ({counts['wrong_longer']} pairs)", *cells("lengths", "wrong_longer")],
        [f"of the same length ({counts['same_length']})", *cells("lengths", "same_length")],
        [f"wrong program shorter ({counts['wrong_shorter']})", *cells("lengths", "wrong_shorter")],
        ["what always taking the shorter gives", *cells("lengths", "prefer_shorter")],
        ["of two right programs, the task's own", *cells("floor", "from_change")],
    ]
    (test,) = asked["comparisons"]
    return f"""## Right programs against wrong ones

{asked["pairs"]["count"]} verified pairs of {asked["pairs"]["tasks"]} held-out tasks, and the demo model of 1.5 million parameters, before and after its
training on the bundled programs (`bash scripts/demo.sh`). Percent, with intervals over tasks:

{table(["", *asked["models"]], rows)}

The two differ by {100 * test["difference"]["value"]:.1f} points ({100 * test["difference"]["low"]:.1f} to {100 * test["difference"]["high"]:.1f}; p = {test["p_value"]:.2g}).

With other random weights, {len(untrained)} untrained models of its shape prefer the right program in {mean(untrained):.1f} % of the pairs on
average, from {min(untrained):.1f} to {max(untrained):.1f} (standard deviation {stdev(untrained):.1f}, more than the intervals over tasks
allow for): a few tokens that are exchanged in many tasks decide together ([Pairs](pairs.md#what-is-measured)).

A model of {large["parameters"] / 1e9:.1f} billion parameters (random weights, bfloat16) takes {large["seconds"]:.0f} s for {large["pairs"]} pairs, which are {large["responses"]} responses with
{large["tokens"] / 1e6:.2f} million tokens, and {large["peak_gib"]:.1f} GiB at the peak, of which the weights are {large["weights_gib"]:.1f}.

- {source("pairs_demo.json", "cuset pairs models=outputs/demo/tiny,outputs/demo/model device=cpu output=outputs/pairs.json")}
- {source("pairs_untrained.json", "python scripts/make_tiny_model.py seed1 --hidden-size 128 --layers 4 --seed 1; ...; cuset pairs models=seed1,...,seed6 device=cpu")}
- {source("pairs_7b_h200.json", "python scripts/bench_pairs.py")}
"""


def prompts() -> str:
    of = record("prompts_h100.json")

    rows = [
        [
            row["prompts"] if "edition" in row["prompts"] else "CUDABench's own",
            percent(row["compiled"]),
            percent(row["passed"]),
            f"{row['tokens']:.0f}",
        ]
        for row in of["rows"]
    ]
    return f"""## Prompts

{of["model"].split(",")[0]} as it is, on CUDABench's Level 1: one answer to each of {of["rows"][0]["answers"]} tasks at temperature
{of["rows"][0]["generation"]["temperature"]}, percent with the interval over {of["rows"][0]["operations"]} operations. Weights: {of["model"].split(", ", 1)[1]}. Numbers compare with published ones
under CUDABench's own prompts alone (`prompts=`, [Evaluate](evaluate.md)).

{table(["prompts", "compile", "pass", "tokens"], rows)}

- {source("prompts_h100.json", "python scripts/bench_prompts.py")}
"""


def percent(share: dict[str, float]) -> str:
    return f"{share['percent']:.1f} ({share['low']:.1f} to {share['high']:.1f})"


NAMES_OF_SETS = {
    "cudabench": "CUDABench",
    "without_restated": "CUDABench, without operations that training ones restated",
    "develop": "development",
    "mini": "cuset-mini 2, in our own words",
}


def data_rounds() -> str:
    [untrained] = [row for row in record("prompts_h100.json")["rows"] if "edition" not in row["prompts"]]
    rows = [["as it is", "", "", "CUDABench", percent(untrained["compiled"]), percent(untrained["passed"])]]
    for one in record("data_rounds.json")["rounds"]:
        for key, name in NAMES_OF_SETS.items():
            if key in one:
                label = f"round {one['round']}" if one["round"] else "as it is"
                trained = [label, one["trained"] if one["round"] else "", str(len(one[key]["seeds"])), name]
                rows.append([*trained, percent(one[key]["compiled"]), percent(one[key]["function"])])
    return f"""## What the bundled data do to a real model

Qwen2.5-Coder-1.5B-Instruct after SFT on `cuset_kernels` as it was in each round, asked in CUDABench's own words: percent with the interval
over operations. Development are 100 operations of our own, most of them less common than CUDABench's 99. Failed answers are read there;
CUDABench's are counted only. What was read and changed in each round stands in the record.

{table(["round", "trained on", "seeds", "tasks", "compile", "right"], rows)}

- `benchmarks/data_rounds.json`, from the verdicts in `benchmarks/data_rounds.jsonl`: `python scripts/data_rounds.py`
- `benchmarks/operations.jsonl`: programs of `data/operations` that passed, by hash, with the sizes: `python scripts/operations.py --gpu`
"""


def bundled_data() -> str:
    saved = record("bundled_kernels_h200.json")
    audits = [json.loads(line) for line in (ROOT / "benchmarks" / "audit_kernels.jsonl").read_text().splitlines()]
    flagged = sum(any(one["severity"] == "error" for one in audit.get("findings", ())) for audit in audits)
    return f"""## The harder tasks

{saved["passed"]} of {saved["total"]} programs pass their {saved["cases"]} cases, each run twice. Tasks whose check lets zeros, constants, noise or copies of
inputs pass: {flagged}.

- {source("bundled_kernels_h200.json", "python scripts/verify_data.py")}
- `benchmarks/audit_kernels.jsonl`: `cuset audit-tasks data/kernels output=outputs/audit.jsonl`
"""
