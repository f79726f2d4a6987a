#!/usr/bin/env python3
"""Train a small model with each objective twice, from logits and with the fused head, and compare the trajectories.

    python scripts/bench_convergence.py --json benchmarks/convergence_h200.json --plot benchmarks/convergence_h200.png
    python scripts/bench_convergence.py --steps 5 --precisions fp32 --objectives cuset sft          # smoke run, also on a CPU

A model made on the spot learns the bundled programs by plain SFT for a while (--base-steps), so that it has confident tokens; then
each run is full fine-tuning (the head is trained as well) from there, through LLaMA-Factory's run_exp, with the loss and the gradient norm logged at every step. The two runs of a pair share seed, data order and learning rate. A
trajectory's difference is the largest |fused - logits| / |logits| of the loss over all steps. The exit code is 1 when a pair
differs by more than 1e-4 in float32 or 1e-2 in bfloat16. A token whose confidence is a threshold's to the last bit may fall on
either side of it: in a batch of N tokens that moves cuset's loss by -ln(tau) / N, so batches hold 32 rows.
"""

import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path


ROOT = Path(__file__).parent.parent
OBJECTIVES = ("cuset", "sft", "dft", "eaft", "asft", "profit")
TOLERANCE = {"fp32": 1e-4, "bf16": 1e-2}
KINDS = {"logits": "off", "fused": "on"}  # what cuset_fused says


def recipe(
    model: Path, objective: str, precision: str, fused: str, steps: int, output: Path, learning_rate: float = 1.0e-4
) -> dict:
    return {
        "model_name_or_path": str(model),
        "stage": "cuset",
        "cuset_objective": objective,
        "cuset_fused": fused,
        "do_train": True,
        "finetuning_type": "full",
        "dataset_dir": str(ROOT / "data"),
        "dataset": "cuset_kernels",
        "template": "qwen",
        "cutoff_len": 2048,
        "output_dir": str(output),
        "logging_steps": 1,
        "save_strategy": "no",
        "report_to": "none",
        "per_device_train_batch_size": 8,
        "gradient_accumulation_steps": 4,
        "learning_rate": learning_rate,
        "max_steps": steps,
        "warmup_steps": 20,
        "lr_scheduler_type": "cosine",
        "bf16": precision == "bf16",
        "infer_dtype": "float32",
        "disable_gradient_checkpointing": True,
        "seed": 42,
    }


def child(file: Path) -> None:
    """Run the recipes of a file, one after the other, in this process."""
    import torch
    from llamafactory.train.tuner import run_exp

    jobs = json.loads(file.read_text(encoding="utf-8"))
    for job in jobs:
        if not torch.cuda.is_available():
            job["use_cpu"] = True
        run_exp(job)


def trajectory(output: Path) -> dict[str, list[float]]:
    log = json.loads((output / "trainer_state.json").read_text(encoding="utf-8"))["log_history"]
    rows = [row for row in log if "loss" in row]
    return {key: [row[key] for row in rows] for key in ("loss", "grad_norm", "cuset/nll")}


def run_all(jobs: list[dict], file: Path) -> None:
    """Train recipes, one after the other, in a process of its own."""
    file.write_text(json.dumps(jobs), encoding="utf-8")
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
        "HF_DATASETS_CACHE": str(file.with_suffix(".cache")),
    }
    done = subprocess.run(
        [sys.executable, __file__, "--child", str(file)], capture_output=True, text=True, env=environment, cwd=ROOT
    )
    if done.returncode:
        raise SystemExit(f"{file.stem}: exit {done.returncode}\n{done.stdout[-1500:]}\n{done.stderr[-3000:]}")


def run_pair(model: Path, folder: Path, objective: str, precision: str, steps: int) -> dict:
    """Both runs of an objective in one process, and how far they part."""
    name = f"{objective.rpartition(':')[2]}_{precision}"
    outputs = {kind: folder / f"{name}_{kind}" for kind in KINDS}
    jobs = [recipe(model, objective, precision, KINDS[kind], steps, output) for kind, output in outputs.items()]
    run_all(jobs, folder / f"{name}.json")
    runs = {kind: trajectory(output) for kind, output in outputs.items()}
    pairs = list(zip(runs["fused"]["loss"], runs["logits"]["loss"], strict=True))
    return {
        "steps": len(pairs),
        "loss_first": pairs[0][1],
        "loss_last": pairs[-1][1],
        "difference": max(abs(a - b) / abs(b) for a, b in pairs),
        "tolerance": TOLERANCE[precision],
        **runs,
    }


def plot(results: dict, path: Path) -> None:
    """A panel an objective: cross-entropy over steps, the run from logits as a wide line, the fused one on top of it."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    objectives = list(next(iter(results.values())))
    figure, axes = plt.subplots(len(results), len(objectives), figsize=(3.1 * len(objectives), 2.7 * len(results)))
    for line, (precision, pairs) in enumerate(results.items()):
        for column, (objective, pair) in enumerate(pairs.items()):
            axis = axes[line][column] if len(results) > 1 else axes[column]
            axis.plot(pair["logits"]["loss"], color="#e69f00", linewidth=4, alpha=0.6, label="from logits")
            axis.plot(pair["fused"]["loss"], color="#0b4f8a", linewidth=1, label="fused head")
            axis.set_title(f"{objective}, {precision}: {pair['difference']:.0e}", fontsize=9)
            axis.tick_params(labelsize=7)
            axis.spines[["top", "right"]].set_visible(False)
            if line == len(results) - 1:
                axis.set_xlabel("step", fontsize=8)
            if column == 0:
                axis.set_ylabel("loss", fontsize=8)
                axis.legend(fontsize=7, frameon=False)
    figure.suptitle(
        "Training loss of both implementations, and the largest relative difference over all steps", fontsize=10
    )
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--objectives", nargs="+", default=list(OBJECTIVES), help="rules of one's own, too")
    parser.add_argument("--precisions", nargs="+", default=list(TOLERANCE), choices=TOLERANCE)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--base-steps", type=int, default=150)
    parser.add_argument("--jobs", type=int, default=1, help="pairs trained at the same time")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        child(args.child)
        return 0

    import torch
    from make_tiny_model import make_model

    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else None
    results: dict[str, dict] = {}
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(args.jobs) as pool:
        folder = Path(temporary)
        make_model(folder / "untrained", ROOT / "data", hidden_size=128, layers=4)
        base = recipe(folder / "untrained", "sft", "fp32", "off", args.base_steps, folder / "model", 1.0e-3)
        run_all([base], folder / "base.json")
        jobs = {
            (precision, objective): pool.submit(run_pair, folder / "model", folder, objective, precision, args.steps)
            for precision in args.precisions
            for objective in args.objectives
        }
        print("| objective | precision | first loss | last loss | largest difference |\n|---|---|---|---|---|")
        for (precision, objective), job in jobs.items():
            pair = results.setdefault(precision, {})[objective] = job.result()
            print(
                f"| {objective} | {precision} | {pair['loss_first']:.4f} | {pair['loss_last']:.4f} | {pair['difference']:.1e} |",
                flush=True,
            )
    if args.json:
        record = {
            "date": datetime.date.today().isoformat(),
            "gpu": gpu,
            "versions": {name: version(name) for name in ("torch", "transformers", "llamafactory")},
            "what": "training loss at every step, relative difference of the fused run from the one on logits",
            "results": results,
        }
        args.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    if args.plot:
        plot(results, args.plot)
    apart = [p for pairs in results.values() for p in pairs.values() if p["difference"] > p["tolerance"]]
    return 1 if apart else 0


if __name__ == "__main__":
    sys.exit(main())
