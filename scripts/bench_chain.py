"""Measure the chain from recipe to verdicts on one GPU, with `stage: sft` beside ours.

    python scripts/bench_chain.py MODEL CUDABENCH    # writes benchmarks/chain_CARD.json; 20 minutes on an H100
    python scripts/bench_chain.py MODEL CUDABENCH --parts train --keys '{"enable_liger_kernel": false}'
    python scripts/bench_chain.py outputs/tiny CUDABENCH --smoke --out /tmp    # smoke run on a CPU

The chain is training, sampling, judging and loading. MODEL is a Hugging Face folder, CUDABENCH a clone of the
benchmark.

Training is LoRA on `cuset_kernels` with the keys in KEYS, which are the same in both stages. The two stages take
turns, one run per turn. Training speed is non-padding input tokens per second of wall time between the first and the
last log entry (one entry every ten steps). A separate run counts the tokens first, because counting makes each step
wait for the GPU. "Not slower" means that the lower end of the ratio's 95 % interval (Student's t on the logarithms of
the turns' ratios) is at least 0.97.

Sampling speed is the answers' tokens over the command's time, loading included. `load_s` is the time of the same
command for one token. Judging begins with an empty cache. Its rows, with the times of each sample, stay in
outputs/chain_results.jsonl. `total_s` is the time for three epochs of 5,000 rows of 1,000 tokens, sampling 500
answers, judging them, and loading twice.
"""

import argparse
import datetime
import json
import math
import os
import re
import statistics
import subprocess
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import yaml
from scipy import stats

from cuset_stage import attention


ROOT = Path(__file__).parent.parent
KEYS = {
    "dataset": "cuset_kernels",
    "eval_dataset": None,
    "eval_strategy": "no",
    "deepspeed": None,
    "cutoff_len": 2048,
    "per_device_train_batch_size": 8,
    "gradient_accumulation_steps": 1,
    "enable_liger_kernel": True,
    "disable_gradient_checkpointing": True,
    "max_steps": 60,
    "logging_steps": 10,
    "save_strategy": "no",
    "plot_loss": False,
    "overwrite_output_dir": True,
}
WORK_TOKENS, ANSWERS = 3 * 5000 * 1000, 500


def train(stage: str, options: argparse.Namespace, folder: Path, **keys: Any) -> list[tuple[float, str]]:
    """Train under a stage and return the log's entries with a loss, as (seconds since the start, line).

    Args:
        stage: "cuset" or "sft".
        options: the script's options.
        folder: where the recipe and the output go.
        **keys: further keys of the recipe.

    Raises:
        SystemExit: the run failed or logged fewer than two entries. The message is the end of its output.
    """
    recipe = yaml.safe_load((ROOT / "yaml_configs" / "baselines" / "sft_qwen7b.yaml").read_text())
    recipe = {key: value for key, value in recipe.items() if not key.startswith("cuset_")}
    recipe |= KEYS | {"stage": stage, "model_name_or_path": str(options.model)}
    recipe |= {"dataset_dir": str(ROOT / "data"), "output_dir": str(folder / stage)}
    recipe |= json.loads(options.keys) | keys
    if options.smoke:
        recipe |= {"use_cpu": True, "bf16": False, "enable_liger_kernel": False, "logging_steps": 1}
        recipe |= {"max_samples": 40, "preprocessing_num_workers": 1}
    file = folder / f"{stage}.yaml"
    file.write_text(yaml.safe_dump(recipe))
    environment = {**os.environ, **(attention.OFF_IN_SFT if stage == "sft" else {})}
    began, entries, output = time.monotonic(), [], []
    command, pipes = ["llamafactory-cli", "train", str(file)], {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command, **pipes, text=True, env=environment) as process:
        for line in process.stdout:
            output.append(line)
            if "{'loss': " in line:
                entries.append((time.monotonic() - began, line))
    if process.returncode or len(entries) < 2:
        raise SystemExit("".join(output[-30:]))
    return entries


def answers(options: argparse.Namespace, folder: Path) -> dict[str, float]:
    """Return the seconds of loading, sampling and judging, and the number and rate of sampled tokens."""
    seconds, file = {}, folder / "answers.jsonl"
    results = ROOT / "outputs" / "chain_results.jsonl"
    results.unlink(missing_ok=True)
    tasks = f"tasks={options.cudabench / 'Datasets' / 'CUDABench-Set.jsonl'}"
    ask = ["generate", tasks, f"prompts={options.cudabench}", f"model={options.model}"]
    ask += ["temperature=0.2", "top_p=0.95"]
    ask += ["device=cpu"] if options.smoke else []
    many = ["batch_size=128", f"output={file}"]
    many += ["limit=2", "max_tokens=16"] if options.smoke else [f"limit={ANSWERS}", "max_tokens=2048"]
    judge = ["evaluate", str(file), tasks, "per_gpu=16", "record_gpu=false"]
    judge += [f"output={results}", *(["compile_only=true"] if options.smoke else [])]
    load = [*ask, "limit=1", "max_tokens=1", f"output={folder / 'one.jsonl'}"]
    environment = {**os.environ, "CUSET_CACHE": str(folder / "cache")}
    for name, words in (("load_s", load), ("sample_s", [*ask, *many]), ("judge_s", judge)):
        began = time.monotonic()
        subprocess.run(["cuset", *words], check=True, env=environment)
        seconds[name] = time.monotonic() - began
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    tokens = sum(row["tokens"] for row in rows if "answer" in row)
    return {**seconds, "sample_tokens": tokens, "sample_tokens_s": tokens / seconds["sample_s"]}


def ratio(ours: list[float], theirs: list[float]) -> dict[str, float]:
    """Return ours over theirs as `ratio`, `low` and `high`.

    This is the geometric mean of the turns' ratios with its 95 % interval. With a single turn the ends of the interval
    are NaN.
    """
    logs = [math.log(one / other) for one, other in zip(ours, theirs, strict=True)]
    interval = stats.ttest_1samp(logs, 0).confidence_interval()
    log_ends = {"ratio": statistics.mean(logs), "low": interval.low, "high": interval.high}
    return {name: round(math.exp(value), 4) for name, value in log_ends.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("cudabench", type=Path)
    parser.add_argument("--parts", default="train,answers")
    parser.add_argument("--rounds", type=int, default=5, help="turns of training")
    parser.add_argument("--keys", default="{}", help="further keys of both recipes, as JSON")
    parser.add_argument("--smoke", action="store_true", help="a few steps and answers on a CPU")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks")
    options = parser.parse_args()
    import torch

    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() and not options.smoke else "CPU"
    card = next((name for name in ("h100", "h200") if name.upper() in gpu), "cpu")
    output = options.out / f"chain_{card}.json"
    record = json.loads(output.read_text()) if output.is_file() else {}
    versions = {name: version(name) for name in ("torch", "transformers", "llamafactory", "peft")}
    record |= {"date": datetime.date.today().isoformat(), "card": card, "gpu": gpu, "model": options.model.name}
    record |= {"cores": len(os.sched_getaffinity(0)), "versions": versions}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if "train" in options.parts:
            runs: dict[str, list[dict[str, float]]] = {"cuset": [], "sft": []}
            counting = train("cuset", options, folder, include_num_input_tokens_seen="non_padding")
            counts = [float(re.search(r"'num_input_tokens_seen': '?([\d.e+]+)", line)[1]) for _, line in counting]
            for turn in range(options.rounds):
                for stage in ("cuset", "sft") if turn % 2 == 0 else ("sft", "cuset"):
                    times = [seconds for seconds, _ in train(stage, options, folder)]
                    speed = (counts[-1] - counts[0]) / (times[-1] - times[0])
                    runs[stage].append({"tokens_s": speed, "until_first_entry_s": times[0]})
                    print(stage, runs[stage][-1], flush=True)
            for key, stage in (("ours", "cuset"), ("sft", "sft")):
                series = {name: [run[name] for run in runs[stage]] for name in runs[stage][0]}
                medians = {f"train_{name}": statistics.median(values) for name, values in series.items()}
                record.setdefault(key, {}).update(medians, train_runs=series["tokens_s"])
            record["keys"] = KEYS | json.loads(options.keys)
            record["training"] = ratio(record["ours"]["train_runs"], record["sft"]["train_runs"])
        if "answers" in options.parts:
            measured = answers(options, folder)
            for key in ("ours", "sft"):  # LLaMA-Factory has nothing for these parts, so both chains use ours
                record.setdefault(key, {}).update(measured)
    for chain in (record["ours"], record["sft"]):
        if {"train_tokens_s", "judge_s"} <= chain.keys():
            sampled = chain["sample_s"] - chain["load_s"]
            chain["total_s"] = WORK_TOKENS / chain["train_tokens_s"] + sampled + chain["judge_s"] + 2 * chain["load_s"]
    output.write_text(json.dumps(record, indent=1) + "\n")
    print(json.dumps({key: record[key] for key in ("ours", "sft", "training") if key in record}, indent=1))


if __name__ == "__main__":
    main()
