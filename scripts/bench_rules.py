"""Measure what a rule costs: training steps of one model in one process, the objectives in turns, so that drift affects all alike.

    python scripts/bench_rules.py --json benchmarks/rules_7b_h200.json
    python scripts/bench_rules.py --json outputs/rules.json --before FOLDER

The model and the settings are those of bench_step.py. A step is timed from its beginning to its end, with the GPU waited for; the
objective changes with each step, in an order that goes back and forth. --before: a folder with the `objective` package of an earlier
version, whose cuset takes turns with this one's.
"""

import argparse
import contextlib
import datetime
import importlib
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import bench_step
import torch
from transformers import TrainerCallback

from cuset_stage.objective import ObjectiveSettings
from cuset_stage.stage import head, trainer


RULES = {
    "cuset": "cuset",
    "focal": f"{__file__}:focal",
    "entropy over the vocabulary": f"{__file__}:entropy",
    "rank and margin": f"{__file__}:rank",
    "eaft": "eaft",
}


def focal(tokens):
    return (1 - tokens.confidence) ** 2


def entropy(tokens):
    return tokens.entropy


def rank(tokens):
    return (tokens.rank < 5) * torch.sigmoid(-tokens.margin)


class Turns(TrainerCallback):
    """Gives each step its objective and notes the time it took."""

    def __init__(self, names: list[str], before: Any, warm_up: int) -> None:
        order = [*names, *reversed(names)]
        self.turn = lambda step: order[step % len(order)]
        self.warm_up = warm_up * len(names)
        self.seconds: dict[str, list[float]] = {name: [] for name in names}
        self.settings = {name: ObjectiveSettings(objective=rule) for name, rule in RULES.items()}
        self.before, self.trainer = before, None
        self.fused, head.fused_objective = head.fused_objective, self.objective
        made, turns = trainer.CusetTrainer.__init__, self

        def make(self, *args, **kwargs):
            made(self, *args, **kwargs)
            turns.trainer = self

        trainer.CusetTrainer.__init__ = make

    def objective(self, *tensors, settings, **batch):
        """What the fused head calls: this version's `fused_objective` or, in its turn, the earlier one's."""
        if self.name != "cuset before":
            return self.fused(*tensors, settings=settings, **batch)
        given = {name: value for name, value in batch.items() if value is not None}
        given |= {name: batch.get(name) for name in ("bias", "reference")}
        loss, terms = self.before.fused_objective(*tensors, settings=self.before.ObjectiveSettings(), **given)
        terms.given_weight = None
        return loss, terms

    def on_step_begin(self, args, state, control, **kwargs):
        self.name = self.turn(state.global_step)
        settings = self.settings[self.name.removesuffix(" before")]
        self.trainer.objective = self.trainer._fused_head.settings = settings
        self.start = self.now()

    def on_step_end(self, args, state, control, **kwargs):
        took = self.now() - self.start
        if state.global_step > self.warm_up:
            self.seconds[self.name].append(took)

    def now(self) -> float:
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        return time.perf_counter()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=Path(tempfile.gettempdir()) / "bench_step_model")
    parser.add_argument("--shape", choices=bench_step.SHAPES, default="7b")
    parser.add_argument("--cutoff-len", type=int, default=4096)
    parser.add_argument("--steps", type=int, default=16, help="steps of each objective that count")
    parser.add_argument("--warm-up", type=int, default=2, help="steps of each before them")
    parser.add_argument("--before", type=Path)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()

    from llamafactory.train.tuner import run_exp

    bench_step.make_model(args.model, args.shape)
    before, names = None, list(RULES)
    if args.before:
        sys.path.insert(0, str(args.before))
        before, names = importlib.import_module("objective"), ["cuset before", *names]
    turns = Turns(names, before, args.warm_up)
    count, args.steps = args.steps, args.steps * len(names)
    args.warm_up *= len(names)
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(sys.stderr):
        run_exp(bench_step.recipe(args, {"stage": "cuset"}, Path(folder)), callbacks=[turns])

    ordinary = statistics.median(turns.seconds["cuset"])
    has_gpu = torch.cuda.is_available()
    results = {
        name: {
            "seconds_per_step": statistics.median(seconds),
            "relative_to_cuset": statistics.median(seconds) / ordinary,
            "each": [round(one, 5) for one in seconds],
        }
        for name, seconds in turns.seconds.items()
    }
    record = {
        "date": datetime.date.today().isoformat(),
        "gpu": torch.cuda.get_device_name() if has_gpu else None,
        "versions": {"torch": torch.__version__},
        "shape": args.shape,
        "cutoff_len": args.cutoff_len,
        "steps_of_each": count,
        "results": results,
    }
    for name, result in results.items():
        print(f"{name:30} {result['seconds_per_step']:.4f} s, {result['relative_to_cuset']:.4f} of cuset")
    if args.json:
        args.json.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
