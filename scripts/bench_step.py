"""Measure whole training steps through LLaMA-Factory: seconds per step and peak memory, methods side by side.

    python scripts/bench_step.py --json benchmarks/step_7b_h200.json --runs sft cuset
    python scripts/bench_step.py --json benchmarks/fits_18gib_h200.json --runs sft cuset --memory-gib 18
    python scripts/bench_step.py --json benchmarks/step_7b_zero2_h200x2.json --runs sft cuset --ranks 2

The model has Qwen2.5-7B's shape (or --shape) and random weights. It is made once and kept in --model. Settings are
those of yaml_configs/cuset_qwen7b.yaml, on rows packed to --cutoff-len tokens. Its DeepSpeed ZeRO-2 is used with several
--ranks only.

Each run is a process that calls LLaMA-Factory's run_exp with an additional callback. The callback waits for the GPU
and takes the time at the start and end of each step. The first steps are not counted. Processes differ by a percent or
two. So a run may be named several times, and the median of its times counts. Name runs to be compared in both orders
(sft cuset cuset sft), so that drift affects both equally.

Two of these may share their GPUs if BENCH_STEP_LOCK names a file for both: one trains while the other's process starts.
"""

import argparse
import datetime
import fcntl
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

import yaml
from make_tiny_model import SHAPES, make_shape

from cuset_stage import attention


ROOT = Path(__file__).parent.parent
SFT, CUSET, LIGER = {"stage": "sft"}, {"stage": "cuset"}, {"enable_liger_kernel": True}
RUNS = {
    "sft": SFT,
    "sft + liger": SFT | LIGER,
    "dft": SFT | {"use_dft_loss": True},
    "eaft": SFT | {"use_eaft_loss": True},
    "cuset unfused": CUSET | {"cuset_fused": "off"},
    **{f"stage: cuset {name}": CUSET | {"cuset_objective": name} for name in ("sft", "dft", "eaft", "asft", "profit")},
    "cuset": CUSET,
    "cuset + liger": CUSET | LIGER,
    "eaft fused + liger": CUSET | LIGER | {"cuset_objective": "eaft"},
    "asft fused + liger": CUSET | LIGER | {"cuset_objective": "asft"},
}


def recipe(args: argparse.Namespace, keys: dict, folder: Path) -> dict:
    """Return the recipe of a run: the paper's settings, changed for a short run, with `keys` on top."""
    settings = yaml.safe_load((ROOT / "yaml_configs" / "cuset_qwen7b.yaml").read_text(encoding="utf-8"))
    for key in ["eval_dataset", "eval_strategy", "per_device_eval_batch_size", "num_train_epochs", "stage"]:
        settings.pop(key)
    if args.ranks == 1:
        settings.pop("deepspeed")
    if keys["stage"] != "cuset":
        settings = {key: value for key, value in settings.items() if not key.startswith("cuset_")}
    settings |= {
        "model_name_or_path": str(args.model),
        "dataset_dir": str(ROOT / "data"),
        "max_samples": 2000,  # no run sees more rows
        "cutoff_len": args.cutoff_len,
        "packing": True,
        "output_dir": str(folder / "out"),
        "max_steps": args.warm_up + args.steps,
        "save_strategy": "no",
        "logging_steps": args.warm_up + args.steps,
        "plot_loss": False,
        "preprocessing_num_workers": 4,
        "dataloader_num_workers": 0,
    }
    if args.shape == "tiny":
        settings |= {"use_cpu": True, "bf16": False, "max_samples": 200}
    return settings | keys


def child(file: Path, memory_gib: float, warm_up: int, profile: bool, output: Path) -> None:
    """Train in this process and write times, memory and losses as JSON. With several ranks, rank 0 writes.

    Args:
        file: the recipe as JSON.
        memory_gib: cap of the process's GPU memory. 0 means no cap.
        warm_up: number of first steps that are not counted.
        profile: whether each rank also writes profile_RANK.json beside `output`: the seconds of its kernels in the
            counted steps (`compute_s`), and of those that communicate, waiting included (`nccl_s`).
        output: the file to write.
    """
    import torch
    from llamafactory.train.tuner import run_exp
    from transformers import TrainerCallback

    has_gpu = torch.cuda.is_available()
    if memory_gib:
        total = torch.cuda.get_device_properties(0).total_memory / 2**30
        torch.cuda.set_per_process_memory_fraction(memory_gib / total)

    activity = torch.profiler.ProfilerActivity.CUDA if has_gpu else torch.profiler.ProfilerActivity.CPU
    profiler = torch.profiler.profile(activities=[activity]) if profile else None

    class Timer(TrainerCallback):
        seconds: list[float] = []  # noqa: RUF012 - one run per process
        ends: list[tuple[float, float]] = []  # noqa: RUF012 - for each step its end and the input tokens until then

        def now(self) -> float:
            if has_gpu:
                torch.cuda.synchronize()
            return time.perf_counter()

        def on_step_begin(self, args, state, control, **kwargs):
            if state.global_step == warm_up and has_gpu:
                torch.cuda.reset_peak_memory_stats()
            if profiler and state.global_step == warm_up:
                profiler.start()
            self.start = self.now()

        def on_step_end(self, args, state, control, **kwargs):
            self.seconds.append(self.now() - self.start)
            self.ends.append((self.start + self.seconds[-1], state.num_input_tokens_seen))
            if profiler and state.global_step == state.max_steps:
                profiler.stop()

    rank = os.environ.get("RANK", "0")
    if (lock := os.environ.get("BENCH_STEP_LOCK")) and rank == "0":  # the other ranks wait for this one
        fcntl.flock(os.open(lock, os.O_CREAT | os.O_WRONLY), fcntl.LOCK_EX)  # until the process ends
    timer, began = Timer(), time.perf_counter()
    run_exp(json.loads(file.read_text()), callbacks=[timer])
    counted = timer.seconds[warm_up:]
    result = {"seconds_per_step": statistics.median(counted), "slowest": max(counted), "fastest": min(counted)}
    if has_gpu:
        result["peak_gib"] = torch.cuda.max_memory_allocated() / 2**30
        result["reserved_gib"] = torch.cuda.max_memory_reserved() / 2**30
    if profiler:
        seconds = {"compute_s": 0.0, "nccl_s": 0.0}
        for event in profiler.events():
            if event.device_type == torch.autograd.DeviceType.CUDA and not event.is_user_annotation:
                seconds["nccl_s" if "nccl" in event.name else "compute_s"] += event.time_range.elapsed_us() / 1e6
        output.with_name(f"profile_{rank}.json").write_text(json.dumps(seconds))
    if rank != "0":
        return
    log = Path(json.loads(file.read_text())["output_dir"]) / "trainer_state.json"
    losses = [entry["loss"] for entry in json.loads(log.read_text())["log_history"] if "loss" in entry]
    (warm, before), (end, after) = timer.ends[warm_up - 1], timer.ends[-1]
    result |= {"loss": losses[0], "losses": losses[:10], "start_s": warm - began}
    result |= {"seconds": end - warm, "tokens": after - before}
    ends = [end for end, _ in timer.ends[warm_up - 1 :]]
    result["step_s"] = [round(end - before, 4) for before, end in itertools.pairwise(ends)]
    output.write_text(json.dumps(result))


def measure(args: argparse.Namespace, keys: dict) -> dict:
    """Run one training in a process of its own.

    Args:
        args: model, shape, cutoff_len, ranks, steps, warm_up, memory_gib and profile, as on the command line.
        keys: the run's keys of the recipe, `stage` among them.

    Returns:
        What `child` has written, each rank's profile under "profile", or a dict with "error", the last line of the
        process's output that names an error.
    """
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "recipe.json").write_text(json.dumps(recipe(args, keys, folder)))
        launcher = [sys.executable]
        if args.ranks > 1 or keys.get("deepspeed"):  # LLaMA-Factory's DeepSpeed needs torchrun, even on one GPU
            launcher += ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", str(args.ranks)]
        command = [*launcher, __file__, "--child", str(folder), "--memory-gib", str(args.memory_gib)]
        command += ["--warm-up", str(args.warm_up), *(["--profile"] if args.profile else [])]
        cache = Path(tempfile.gettempdir()) / "bench_step_cache"  # so that rows are tokenised once for all runs
        environment = {**os.environ, "HF_DATASETS_CACHE": str(cache), "HF_HUB_OFFLINE": "1"}
        environment |= attention.OFF_IN_SFT  # `stage: cuset` turns cuDNN attention off on GPUs where it is faulty
        process = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT)
        if process.returncode == 0:
            profiles = [json.loads(file.read_text()) for file in sorted(folder.glob("profile_*.json"))]
            return json.loads((folder / "result.json").read_text()) | ({"profile": profiles} if profiles else {})
        lines = [line for line in process.stderr.splitlines() if "Error" in line] or process.stderr.splitlines()[-1:]
        return {"error": lines[-1][:300] if lines else f"exit {process.returncode}"}


def combine(before: dict, result: dict) -> dict:
    """Combine the results of a run that is named several times: the median of its times and the extremes of the rest.

    A result with an error stays, whichever of the two it is.
    """
    if "error" in before or "error" in result:
        return before if "error" in before else result
    times = [*before.get("each", [before["seconds_per_step"]]), result["seconds_per_step"]]
    extremes = {"fastest": min, "slowest": max, "peak_gib": max, "reserved_gib": max}
    combined = {name: choose(before[name], result[name]) for name, choose in extremes.items() if name in result}
    return {"seconds_per_step": statistics.median(times), **combined, "loss": result["loss"], "each": times}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", nargs="+", default=["sft", "cuset"], choices=[*RUNS, "all"])
    parser.add_argument("--model", type=Path, default=Path(tempfile.gettempdir()) / "bench_step_model")
    parser.add_argument("--shape", choices=SHAPES, default="7b")
    parser.add_argument("--cutoff-len", type=int, default=4096)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--warm-up", type=int, default=3)
    parser.add_argument("--ranks", type=int, default=1, help="GPUs; more than one: DeepSpeed ZeRO-2")
    parser.add_argument("--memory-gib", type=float, default=0, help="cap the process's GPU memory; 0: no cap")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--profile", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        child(args.child / "recipe.json", args.memory_gib, args.warm_up, args.profile, args.child / "result.json")
        return

    import torch

    make_shape(args.model, args.shape)
    has_gpu = torch.cuda.is_available()
    record = {
        "date": datetime.date.today().isoformat(),
        "gpu": torch.cuda.get_device_name() if has_gpu else None,
        "versions": {name: version(name) for name in ("torch", "transformers", "llamafactory", "peft")},
        "shape": args.shape,
        "cutoff_len": args.cutoff_len,
        "steps": args.steps,
        "ranks": args.ranks,
        "memory_cap_gib": args.memory_gib or None,
        "results": {},
    }
    print("| run | s a step | peak GiB | reserved GiB | loss |\n|---|---|---|---|---|")
    results = record["results"]
    for name in RUNS if "all" in args.runs else args.runs:
        result = measure(args, RUNS[name])
        results[name] = combine(results[name], result) if name in results else result
        if "error" in result:
            print(f"| {name} | {result['error']} | | | |", flush=True)
            continue
        peak, reserved = result.get("peak_gib", float("nan")), result.get("reserved_gib", float("nan"))
        cells = [f"{result['seconds_per_step']:.3f}", f"{peak:.2f}", f"{reserved:.2f}", f"{result['loss']:.4f}"]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
        if args.json:  # after each run, because a later one may be cut off
            args.json.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
