"""Measure the paper's recipe on 1, 2, 4 and 8 GPUs: speed, start and memory under `stage: sft` and `stage: cuset`.

    python scripts/bench_scaling.py --json benchmarks/scaling_h200.json --real WEIGHTS    # as far as there are GPUs
    python scripts/bench_scaling.py --ranks 1 --shapes tiny --kinds packed --json /tmp/scaling.json    # on a CPU

Settings are those of yaml_configs/cuset_qwen7b.yaml, including DeepSpeed ZeRO-2 even on one GPU. Each GPU gets one row
per step: a row of the bundled data as it is, or rows packed to 4096 tokens. Models have random weights and a shape of
make_tiny_model.py, or are WEIGHTS, a Hugging Face folder. The two stages take turns.

In the JSON, tokens are non-padding tokens after the first ten steps, `start_s` is the time until these ten steps are
done, `spread` is the fastest run's rate over the slowest's, and `losses` are those of the first steps. `compared` has
the rate of cuset over that of sft (`ratio`), and each stage's rate on N GPUs over N times its rate on one
(`efficiency_...`). `same_step` has the losses of WEIGHTS under `stage: cuset` when each step has the same eight rows,
distributed over GPUs and gradient accumulation. `profiles`, on several GPUs, say for five steps how many seconds each
GPU's kernels took (`compute_s`), and those that communicate or wait for another GPU (`nccl_s`). Rows are written as soon as their last run has ended, and a file that
has rows already is continued.
"""

import argparse
import json
import statistics
from pathlib import Path
from types import SimpleNamespace

import torch
from bench_chain import ratio
from bench_step import measure
from make_tiny_model import make_shape


STAGES = ("cuset", "sft")
KEYS = {"logging_steps": 1, "include_num_input_tokens_seen": "non_padding", "average_tokens_across_devices": True}
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
    keys |= {**KEYS, **(ZERO_2 if torch.cuda.is_available() else {}), "stage": stage, "packing": packed}
    result = measure(SimpleNamespace(**options), keys)
    if "error" in result:
        raise SystemExit(f"{model}, {stage} on {ranks} GPUs: {result['error']}")
    return result


def row_of(runs: list[dict], **about) -> dict:
    """Return the JSON's row for the runs of one configuration, with `about` as its first keys."""
    rates = [round(result["tokens"] / result["seconds"], 1) for result in runs]
    row = {**about, "tokens_s": statistics.median(rates), "each": rates}
    row |= {
        "spread": round(max(rates) / min(rates), 4),
        "start_s": round(statistics.median(result["start_s"] for result in runs), 2),
    }
    row |= {"peak_gib": max((result["peak_gib"] for result in runs if "peak_gib" in result), default=None)}
    return row | {"losses": runs[0]["losses"]}


def compare(rows: list[dict]) -> list[dict]:
    """Compare the stages on each model, kind of rows and number of GPUs.

    Returns:
        For each of these cuset's tokens per second over sft's, with the 95 % interval of the turns' ratios, and for
        each stage its tokens per second over `ranks` times those on one GPU, if one GPU was measured.
    """
    row_by_key = {(row["model"], row["packed"], row["ranks"], row["stage"]): row for row in rows}
    compared = []
    for model, packed, ranks in dict.fromkeys(key[:3] for key in row_by_key):
        comparison = ratio(*(row_by_key[model, packed, ranks, stage]["each"] for stage in STAGES))
        for stage in STAGES:
            if one_gpu := row_by_key.get((model, packed, 1, stage)):
                tokens_s = row_by_key[model, packed, ranks, stage]["tokens_s"]
                comparison[f"efficiency_{stage}"] = round(tokens_s / ranks / one_gpu["tokens_s"], 4)
        compared.append({"model": model, "packed": packed, "ranks": ranks, **comparison})
    return compared


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--real", type=Path, help="a model folder with pretrained weights")
    parser.add_argument("--shapes", nargs="*", default=["7b"], help="of make_tiny_model.py, with random weights")
    parser.add_argument("--ranks", nargs="*", type=int, help="default: 1, 2, 4, 8, as far as there are GPUs")
    parser.add_argument("--kinds", nargs="*", choices=["packed", "rows"], default=["packed", "rows"])
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--models", type=Path, default="/tmp/bench_scaling", help="where random weights are kept")
    options = parser.parse_args()
    gpus = torch.cuda.device_count()
    models = {shape: (options.models / shape, shape) for shape in options.shapes}
    for path, shape in models.values():
        make_shape(path, shape)
    if options.real:
        models[options.real.resolve().name] = (options.real.resolve(), "1.5b" if gpus else "tiny")
    record = json.loads(options.json.read_text()) if options.json.exists() else {"card": None, "rows": []}
    record["card"] = torch.cuda.get_device_name() if gpus else "CPU"
    for ranks in options.ranks or [count for count in (8, 4, 2, 1) if count <= gpus]:
        for name, (path, shape) in models.items():
            for kind in options.kinds:
                about = {"model": name, "packed": kind == "packed", "ranks": ranks}
                if any(about.items() <= row.items() for row in record["rows"]):
                    continue
                runs = {stage: [] for stage in STAGES}
                for turn in range(options.turns):
                    for stage in STAGES[:: 1 if turn % 2 == 0 else -1]:
                        runs[stage].append(run(path, shape, ranks, kind == "packed", stage, options.steps))
                record["rows"] += [row_of(stage_runs, stage=stage, **about) for stage, stage_runs in runs.items()]
                record["compared"] = compare(record["rows"])
                options.json.write_text(json.dumps(record, indent=1) + "\n")
                print(json.dumps(record["rows"][-2:]), flush=True)
                for stage in STAGES if ranks > 1 else ():
                    profile = run(path, shape, ranks, kind == "packed", stage, 5, profile=True)
                    profile = {"stage": stage, **about, "seconds": profile["seconds"], "gpus": profile["profile"]}
                    record.setdefault("profiles", []).append(profile)
                    options.json.write_text(json.dumps(record, indent=1) + "\n")
        if options.real and str(ranks) not in record.setdefault("same_step", {}):
            path, shape = models[options.real.resolve().name]
            same_step = run(path, shape, ranks, False, "cuset", 1, gradient_accumulation_steps=8 // ranks)
            record["same_step"][str(ranks)] = same_step["losses"]
            options.json.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
