"""Measure the paper's recipe on 1, 2, 4 and 8 GPUs: speed, start and memory under `stage: sft` and `stage: cuset`.

    python scripts/bench_scaling.py --json benchmarks/scaling_h200.json --real WEIGHTS    # as far as there are GPUs
    python scripts/bench_scaling.py --json /tmp/scaling.json --kinds packed --turns 1 --steps 2    # on a CPU, to try it

Settings are those of yaml_configs/cuset_qwen7b.yaml, including DeepSpeed ZeRO-2 even on one GPU. Each GPU gets one row
per step: a row of the bundled data as it is, or rows packed to 4096 tokens. Models have random weights and a shape of
make_tiny_model.py, or are WEIGHTS, a Hugging Face folder. The two stages take turns. A run is 10 + 20 steps, or 10 + 60
with rows as they are, which are shorter.

The JSON has `runs`, each written as soon as it has ended, and a file that has runs already is continued. `step_s` are
the seconds of each step after the first ten, `start_s` is the time until these ten steps are done. The rest is computed
from the runs. In `rows`, tokens are non-padding tokens after the first ten steps, numbers are medians over turns, and
`spread` is the fastest run's rate over the slowest's. `compared` has the rate of cuset over that of sft (`ratio`) with
its 95 % interval over turns. Both stages train on the same rows, so a turn's ratio is the median of its steps' ratios.
`overall` is the same over the turns of all combinations. `compared` also has each stage's rate on N GPUs over N times
its rate on one (`efficiency_...`). `missing` are the combinations without a run.

`same_step` has the losses of WEIGHTS under `stage: cuset` when each step has the same eight rows, distributed over GPUs
and gradient accumulation. `profiles`, on several GPUs, say for five steps how many seconds each GPU's kernels took
(`compute_s`), and those that communicate or wait for another GPU (`nccl_s`).
"""

import argparse
import itertools
import json
import statistics
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import torch
from bench_chain import ratio
from bench_step import measure
from make_tiny_model import make_shape


STAGES = ("cuset", "sft")
COUNTS = (1, 2, 4, 8)  # of GPUs
KEPT = ("tokens", "start_s", "peak_gib", "step_s")  # of what bench_step.measure returns
KEY = ["model", "packed", "ranks", "stage"]
KEYS = {"logging_steps": 10, "include_num_input_tokens_seen": "non_padding", "average_tokens_across_devices": True}
ZERO_2 = {"deepspeed": "yaml_configs/deepspeed/ds_z2_config.json"}


def run(
    model: Path, shape: str, ranks: int, packed: bool, stage: str, steps: int, profile: bool = False, **keys
) -> dict:
    """Train for 10 + `steps` steps and return what `bench_step.measure` returns.

    Args:
        model: the model's folder.
        shape: its shape in make_tiny_model.py. "tiny" trains on a CPU.
        ranks: the number of GPUs.
        packed: whether rows are packed to 4096 tokens.
        stage: "cuset" or "sft".
        steps: the number of steps after the first ten.
        profile: whether to take the times of kernels, too.
        **keys: further keys of the recipe.

    Raises:
        SystemExit: the training failed.
    """
    options = {"model": model, "shape": shape, "cutoff_len": 4096, "ranks": ranks, "steps": steps, "warm_up": 10}
    options |= {"memory_gib": 0, "profile": profile}
    keys = {**KEYS, **(ZERO_2 if torch.cuda.is_available() else {}), "stage": stage, "packing": packed, **keys}
    result = measure(SimpleNamespace(**options), keys)
    if "error" in result:
        raise SystemExit(f"{model}, {stage} on {ranks} GPUs: {result['error']}")
    return result


def over_turns(ratios: Sequence[float]) -> dict[str, float]:
    """Return the mean of the turns' ratios and its interval, as `bench_chain.ratio` does."""
    return ratio(list(ratios), [1.0] * len(ratios))


def summarize(runs: list[dict]) -> dict[str, list[dict]]:
    """Return `rows`, `compared`, `overall` and `missing` of the JSON, computed from its `runs`."""
    frame = pd.DataFrame(runs).reindex(columns=[*KEY, "turn", *KEPT])
    frame["rate"] = frame.tokens / frame.step_s.map(sum)
    grouped = frame.groupby(KEY, sort=False)
    rows = grouped.agg(
        turns=("turn", "size"),
        tokens_s=("rate", "median"),
        spread=("rate", lambda rates: rates.max() / rates.min()),
        start_s=("start_s", "median"),
        peak_gib=("peak_gib", "max"),
    ).round(4)
    steps = frame.pivot(index=[*KEY[:3], "turn"], columns="stage", values="step_s").reindex(columns=STAGES).dropna()
    medians = steps.apply(lambda turn: statistics.median(np.divide(turn.sft, turn.cuset)), axis=1)
    overall = [{"turns": len(medians), **over_turns(medians)}] if len(medians) else []
    compared = []
    for key, ratios in medians.groupby(KEY[:3], sort=False):
        comparison = {**dict(zip(KEY, key, strict=False)), **over_turns(ratios)}
        for stage in STAGES:
            if (one := (*key[:2], 1, stage)) in rows.index:
                comparison[f"efficiency_{stage}"] = rows.tokens_s[(*key, stage)] / key[2] / rows.tokens_s[one]
        compared.append(comparison)
    wanted = itertools.product(frame.model.unique(), (True, False), COUNTS, STAGES)
    missing = [dict(zip(KEY, key, strict=True)) for key in wanted if key not in rows.index]
    tables = {
        "rows": rows.reset_index(),
        "compared": pd.DataFrame(compared).round(4),
        "overall": pd.DataFrame(overall),
        "missing": pd.DataFrame(missing),
    }
    return {name: json.loads(table.to_json(orient="records")) for name, table in tables.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--real", type=Path, help="a model folder with pretrained weights")
    parser.add_argument(
        "--shapes", nargs="*", help="of make_tiny_model.py, random weights; default: 7b, on a CPU tiny"
    )
    parser.add_argument("--ranks", nargs="*", type=int, help="default: 1, 2, 4, 8, as far as there are GPUs")
    parser.add_argument("--kinds", nargs="*", choices=["packed", "rows"], default=["packed", "rows"])
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--models", type=Path, default="/tmp/bench_scaling", help="where random weights are kept")
    options = parser.parse_args()
    gpus = torch.cuda.device_count()
    shapes = (["7b"] if gpus else ["tiny"]) if options.shapes is None else options.shapes
    models = {shape: (options.models / shape, shape) for shape in shapes}
    for path, shape in models.values():
        make_shape(path, shape)
    if options.real:
        models[options.real.resolve().name] = (options.real.resolve(), "1.5b" if gpus else "tiny")
    record = {"card": torch.cuda.get_device_name() if gpus else "CPU", "runs": [], "profiles": [], "same_step": {}}
    if options.json.exists():
        earlier = json.loads(options.json.read_text())
        record |= {name: earlier[name] for name in ("runs", "profiles", "same_step")}

    def write() -> None:
        options.json.write_text(json.dumps(record | summarize(record["runs"]), indent=1) + "\n")

    counts = options.ranks or [count for count in reversed(COUNTS) if count <= max(gpus, 1)]
    combinations = list(itertools.product(counts, models, options.kinds))
    for ranks, name, kind in combinations:
        packed, steps = kind == "packed", options.steps * (1 if kind == "packed" else 3)
        for turn in range(options.turns):
            for stage in STAGES[:: 1 if turn % 2 == 0 else -1]:
                about = {**dict(zip(KEY, (name, packed, ranks, stage), strict=True)), "turn": turn}
                if not any(about.items() <= done.items() for done in record["runs"]):
                    result = run(*models[name], ranks, packed, stage, steps)
                    record["runs"].append(about | {name: result[name] for name in KEPT if name in result})
                    write()
                    print(about, round(result["tokens"] / result["seconds"], 1), "tokens a second", flush=True)
    for ranks in counts if options.real else ():
        if str(ranks) not in record["same_step"]:
            keys = {"gradient_accumulation_steps": 8 // ranks, "logging_steps": 1}
            result = run(*models[options.real.resolve().name], ranks, False, "cuset", 1, **keys)
            record["same_step"][str(ranks)] = result["losses"]
            write()
    for (ranks, name, kind), stage in itertools.product(combinations, STAGES):
        about = dict(zip(KEY, (name, kind == "packed", ranks, stage), strict=True))
        if ranks > 1 and not any(about.items() <= done.items() for done in record["profiles"]):
            result = run(*models[name], ranks, kind == "packed", stage, 5, profile=True)
            record["profiles"].append({**about, "seconds": result["seconds"], "gpus": result["profile"]})
            write()


if __name__ == "__main__":
    main()
