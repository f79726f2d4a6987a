"""transformers' continuous batching beside ours: tokens a second of whole runs, loading included, in turns on one GPU.

    python scripts/bench_sampling.py MODEL [MODEL ...] --tasks CUDABench/Datasets/CUDABench-Set.jsonl --prompts CUDABench --json OUT.json
    python scripts/bench_sampling.py outputs/tiny --tasks data/cuset_mini_2.jsonl --limit 4 --max-tokens 8 --batches 2 --rounds 1

Each measurement is a process that loads the model, answers every task once (T 0.2, top-p 0.95) and ends; seconds are those of the process.
Ours is tried at each of --batches, theirs at each of --tokens (most tokens of a forward pass; 0: what it finds for itself); then the best
of both take turns. Samples differ between the two, as theirs draws one stream of random numbers for all, so tokens are counted in each.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

import torch

from cuset_stage.generate import RecordedSettings
from cuset_stage.generate.hf import HFBackend
from cuset_stage.generate.plan import make_plan
from cuset_stage.tasks import load_tasks
from cuset_stage.tasks.prompt_file import read_prompts


class Library(HFBackend):
    """The same model, prompts and end tokens, written by transformers' `generate_batch`."""

    def write(self, requests: list, most_tokens: int) -> list[int]:
        """Tokens of each answer."""
        from transformers import ContinuousBatchingConfig, GenerationConfig

        sampling = {"temperature": self._settings.temperature, "top_p": self._settings.top_p, "top_k": 0}
        generation = GenerationConfig(
            do_sample=True,
            **sampling,
            max_new_tokens=self._settings.max_tokens,
            eos_token_id=sorted(self._stop_ids),
            pad_token_id=self._pad_id,
        )
        answers = self.model.generate_batch(
            [self._prompter.encode(request.messages).ids for request in requests],
            generation_config=generation,
            continuous_batching_config=ContinuousBatchingConfig(max_batch_tokens=most_tokens or None),
            progress_bar=False,
        )
        return [len(answer.generated_tokens) for answer in answers.values()]


def write(options: argparse.Namespace) -> list[int]:
    """What one process does."""
    tasks = list(load_tasks(options.tasks))[: options.limit or None]
    settings = RecordedSettings(
        model=str(options.models[0]), backend="hf", temperature=0.2, top_p=0.95, max_tokens=options.max_tokens, seed=0
    )
    requests = make_plan(
        tasks, settings, samples=1, prompts=read_prompts(options.prompts) if options.prompts else None
    )
    kind = HFBackend if options.one == "ours" else Library
    backend = kind(settings, batch_size=options.size or 1, device="cuda:0" if torch.cuda.is_available() else "cpu")
    if options.one == "ours":
        return [answer.tokens for answer in backend.replies(requests)]
    return backend.write(requests, options.size)


def measure(options: argparse.Namespace, model: Path, name: str, size: int) -> dict:
    command = [sys.executable, __file__, str(model), "--one", name, "--size", str(size), "--tasks", str(options.tasks)]
    command += ["--max-tokens", str(options.max_tokens), "--limit", str(options.limit)]
    command += ["--prompts", str(options.prompts)] if options.prompts else []
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    if done.returncode:
        return {"size": size, "error": done.stderr.strip().splitlines()[-1]}
    tokens = json.loads(done.stdout.splitlines()[-1])
    measured = {"size": size, "answers": len(tokens), "tokens": sum(tokens), "seconds": round(seconds, 1)}
    print(model.name, name, measured, flush=True)
    return {**measured, "tokens_s": round(sum(tokens) / seconds, 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", type=Path, nargs="+")
    parser.add_argument("--tasks", type=Path, required=True)
    parser.add_argument("--prompts", type=Path, help="a clone of CUDABench, for its own prompts")
    parser.add_argument("--batches", type=lambda text: [int(part) for part in text.split(",")], default=[96, 192])
    parser.add_argument("--tokens", type=lambda text: [int(part) for part in text.split(",")], default=[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--max-tokens", type=int, default=2048)
    parser.add_argument("--limit", type=int, default=0, help="only so many tasks")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--one", choices=("ours", "library"), help=argparse.SUPPRESS)
    parser.add_argument("--size", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(write(options)))
        return
    card = torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU"
    result = {"card": card, "torch": torch.__version__, "tasks": options.tasks.name, "models": {}}
    for model in options.models:
        tried = {
            name: [measure(options, model, name, size) for size in sizes]
            for name, sizes in (("ours", options.batches), ("library", options.tokens))
        }
        best = {name: max(runs, key=lambda run: run.get("tokens_s", 0))["size"] for name, runs in tried.items()}
        turns = [
            {name: measure(options, model, name, best[name]) for name in ("ours", "library")}
            for _ in range(options.rounds)
        ]
        ratios = [turn["library"].get("tokens_s", 0) / turn["ours"]["tokens_s"] for turn in turns]
        result["models"][model.name] = {"tried": tried, "turns": turns, "ratio": round(statistics.median(ratios), 3)}
        print(model.name, "library over ours:", [round(ratio, 3) for ratio in ratios], flush=True)
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
