"""A task set's own right programs as answers: a judge that is right passes all of them, each time.

    python scripts/judge_references.py data/kernels --output answers.jsonl
    cuset evaluate answers.jsonl --tasks data/kernels --output first.jsonl
    cuset evaluate answers.jsonl --tasks data/kernels --output second.jsonl
    python scripts/judge_references.py data/kernels --check first.jsonl second.jsonl

`--check` ends with 1 and names the samples when one is missing, did not pass, or was judged differently in two files.
CUDABench's programs are its bench.cu.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from cuset_stage.evaluation.answers import Answer, append_answer
from cuset_stage.evaluation.jsonl import Appender
from cuset_stage.evaluation.results import read_results
from cuset_stage.evaluation.tasks import ProgramTask, load_tasks


def write_answers(tasks: list[ProgramTask], output: Path, samples: int) -> int:
    """One answer with the task's program for each task and sample; the number of lines."""
    output.unlink(missing_ok=True)
    with Appender(output) as appender:
        for task in tasks:
            for sample in range(samples):
                append_answer(appender, Answer(task.id, sample, task.solution, code=task.solution, model="reference"))
    return len(tasks) * samples


def differences(tasks: list[ProgramTask], paths: list[Path]) -> list[str]:
    """What is wrong with results of the references, a sentence a sample."""
    found = []
    verdicts: dict[tuple[str, int], dict[Path, str]] = {}
    for path in paths:
        for sample in read_results(path).samples:
            verdicts.setdefault((sample["task"], sample["sample"]), {})[path] = sample["verdict"]
            if sample["verdict"] != "passed":
                found.append(
                    f"{path}: {sample['task']} sample {sample['sample']}: {sample['verdict']}: {sample['message']}"
                )
    for task in tasks:
        if (task.id, 0) not in verdicts:
            found.append(f"{task.id}: not judged")
    for (task_id, sample), by_path in verdicts.items():
        if len(by_path) < len(paths) or len(set(by_path.values())) > 1:
            found.append(f"{task_id} sample {sample}: {', '.join(f'{p}: {by_path.get(p)}' for p in paths)}")
    return found


def summary(paths: list[Path]) -> dict[str, Any]:
    """What ran where, and for each task its verdicts in the order of the files, with the seconds of the first run."""
    runs = [read_results(path) for path in paths]
    kept = ("created", "cuset_stage", "gpus", "toolkit", "arch", "flags", "isolation", "limits", "per_gpu")
    tasks: dict[str, Any] = {}
    for results in runs:
        for sample in results.samples:
            row = tasks.setdefault(
                sample["task"],
                {
                    "verdicts": [],
                    "cases": len(sample["cases"]),
                    "run_s": sample["run_s"],
                    "overhead_s": sample["overhead_s"],
                },
            )
            row["verdicts"].append(sample["verdict"])
    passed = sum(set(row["verdicts"]) == {"passed"} for row in tasks.values())
    return {
        "runs": [{key: r.run[key] for key in kept} for r in runs],
        "passed": passed,
        "total": len(tasks),
        "tasks": tasks,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", type=Path)
    parser.add_argument("--output", type=Path, help="the answers file to write")
    parser.add_argument("--samples", type=int, default=1, help="answers to each task, all the same")
    parser.add_argument("--split")
    parser.add_argument("--check", type=Path, nargs="+", metavar="RESULTS", help="results files to look at")
    parser.add_argument("--json", type=Path, help="with --check: write the verdicts here")
    options = parser.parse_args()
    if not options.output and not options.check:
        parser.error("give --output, to write answers, or --check, to look at results")
    tasks = [task for task in load_tasks(options.tasks, split=options.split) if isinstance(task, ProgramTask)]
    with_solution = [task for task in tasks if task.solution]
    if not with_solution:
        parser.error(f"{options.tasks}: no task of this set comes with a program")
    if options.output:
        print(f"{options.output}: {write_answers(with_solution, options.output, options.samples)} answers")
    if options.check:
        found = differences(with_solution, options.check)
        if options.json:
            options.json.write_text(json.dumps(summary(options.check), indent=1) + "\n", encoding="utf-8")
        print("\n".join(found) or f"all {len(with_solution)} references passed in {len(options.check)} runs")
        return 1 if found else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
