"""Hold the fused head's training trajectories against those from materialised logits: six objectives, 200 steps, the bundled kernels.

    python scripts/bench_convergence.py --precision fp32 --json benchmarks/convergence_fp32_h200.json --plot benchmarks/convergence_fp32.png
    python scripts/bench_convergence.py --precision bf16 --json benchmarks/convergence_bf16_h200.json --plot benchmarks/convergence_bf16.png

Each trajectory is a run of LLaMA-Factory with its own seed set to the same value, on a small model with a frozen head (LoRA), on the GPU
when there is one. Reported is the largest relative difference of the logged loss over all steps.
"""

import argparse
import datetime
import json
import os
import tempfile
from importlib.metadata import version
from pathlib import Path

from make_tiny_model import make_model


ROOT = Path(__file__).parent.parent
OBJECTIVES = ("cuset", "sft", "dft", "eaft", "asft", "profit")


def run(model: Path, folder: Path, objective: str, fused: str, args: argparse.Namespace, has_gpu: bool) -> list[float]:
    from llamafactory.train.tuner import run_exp

    output = folder / f"{objective}-{fused}"
    run_exp(
        {
            "model_name_or_path": str(model),
            "stage": "cuset",
            "cuset_objective": objective,
            "cuset_fused": fused,
            # Untrained, no token passes the defaults of 0.1; thresholds at 0 keep the comparison about the arithmetic.
            "cuset_tau": 0.0,
            **({"prob_threshold": "0.0"} if objective == "profit" else {}),
            "do_train": True,
            "finetuning_type": "lora",
            "lora_target": "all",
            "lora_rank": 16,
            "lora_dropout": 0.0,
            "dataset_dir": str(ROOT / "data"),
            "dataset": "cuset_kernels",
            "template": "qwen",
            "cutoff_len": 1024,
            "output_dir": str(output),
            "logging_steps": 1,
            "save_strategy": "no",
            "report_to": "none",
            "per_device_train_batch_size": 4,
            "learning_rate": 1.0e-2,
            "lr_scheduler_type": "cosine",
            "max_steps": args.steps,
            "seed": 0,
            "bf16": args.precision == "bf16",
            "use_cpu": not has_gpu,
        }
    )
    history = json.loads((output / "trainer_state.json").read_text())["log_history"]
    return [entry["loss"] for entry in history if "loss" in entry]


def plot(losses: dict[str, dict[str, list[float]]], path: Path, precision: str) -> None:
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 3, figsize=(12, 6), layout="constrained", sharex=True)
    for axis, (objective, runs) in zip(axes.flat, losses.items(), strict=False):
        axis.plot(runs["off"], label="from logits", color="#d95f02", linewidth=4, alpha=0.4)
        axis.plot(runs["on"], label="fused head", color="#1b6ca8", linewidth=1)
        axis.set_title(objective)
        axis.grid(alpha=0.3)
    axes[0, 0].legend()
    figure.supxlabel("step")
    figure.supylabel(f"loss ({precision})")
    figure.savefig(path, dpi=100)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--precision", choices=("fp32", "bf16"), default="fp32")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--objectives", nargs="+", choices=OBJECTIVES, default=list(OBJECTIVES))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--plot", type=Path)
    args = parser.parse_args()
    os.environ["HF_HUB_OFFLINE"] = "1"

    import torch

    has_gpu = torch.cuda.is_available()
    losses: dict[str, dict[str, list[float]]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        make_model(folder / "model", ROOT / "data", hidden_size=128, layers=4)
        for objective in args.objectives:
            losses[objective] = {
                fused: run(folder / "model", folder, objective, fused, args, has_gpu) for fused in ("on", "off")
            }
    results = {}
    for objective, runs in losses.items():
        pairs = list(zip(runs["on"], runs["off"], strict=True))
        results[objective] = {
            "largest_relative_difference": max(abs(a - b) / max(abs(b), 1e-6) for a, b in pairs),
            "first_loss": runs["off"][0],
            "last_loss": runs["off"][-1],
        }
    print("| objective | first loss | last loss | largest relative difference |\n|---|---|---|---|")
    for objective, row in results.items():
        print(
            f"| {objective} | {row['first_loss']:.4f} | {row['last_loss']:.4f} | {row['largest_relative_difference']:.1e} |"
        )
    if args.json:
        record = {
            "date": datetime.date.today().isoformat(),
            "gpu": torch.cuda.get_device_name() if has_gpu else None,
            "versions": {name: version(name) for name in ("torch", "transformers", "llamafactory")},
            "precision": args.precision,
            "steps": args.steps,
            "results": results,
        }
        args.json.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    if args.plot:
        plot(losses, args.plot, args.precision)


if __name__ == "__main__":
    main()
