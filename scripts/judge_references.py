"""Judge a task set's own solutions as answers: a correct judge passes all of them, every time.

    python scripts/judge_references.py data/kernels --twice outputs/references --options="per_gpu=5" --json record.json
    cuset report outputs/references/first.jsonl output=outputs/references/report

`--twice` writes the answers into a new folder, runs `cuset evaluate` on them twice, and checks the verdicts. Each run judges
everything; the second one finds compiled programs and prepared inputs in the cache. The same in steps:

    python scripts/judge_references.py data/kernels --output answers.jsonl
    cuset evaluate answers.jsonl tasks=data/kernels output=first.jsonl
    cuset evaluate answers.jsonl tasks=data/kernels output=second.jsonl
    python scripts/judge_references.py data/kernels --check first.jsonl second.jsonl --json record.json

The check ends with 1 and names the samples when one is missing, did not pass, or was judged differently in two files.
CUDABench's programs are its bench.cu, ComputeEval's its baseline_solution, robust-kbench's the forward.cu and backward.cu of some tasks.
"""

import argparse
import json
import shlex
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from cuset_stage.jsonl import Appender
from cuset_stage.judge.results import read_results
from cuset_stage.tasks import Task, load_tasks
from cuset_stage.tasks.answers_file import Answer


def write_answers(tasks: list[Task], output: Path, samples: int) -> int:
    """One answer with the task's program for each task and sample; the number of lines."""
    output.unlink(missing_ok=True)
    with Appender(output) as appender:
        for task in tasks:
            for sample in range(samples):
                answer = Answer(task.id, sample, task.solution, code=task.solution, model="reference")
                appender.append(answer.to_record())
    return len(tasks) * samples


def judge_twice(tasks: Path, answers: Path, options: list[str]) -> list[Path]:
    """The results files of two runs of `cuset evaluate`, beside the answers. CalledProcessError when one of them failed."""
    outputs = [answers.with_name(f"{name}.jsonl") for name in ("first", "second")]
    for output in outputs:
        command = ["evaluate", str(answers), f"tasks={tasks}", f"output={output}", "method=references"]
        done = subprocess.run([sys.executable, "-m", "cuset_stage.cli", *command, *options])
        if done.returncode != 3:  # infra errors: `differences` names them
            done.check_returncode()
    return outputs


def differences(tasks: list[Task], paths: list[Path]) -> list[str]:
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
    """What ran where, and for each task its verdicts in the order of the files, with the seconds and flags of the first run.

    own_ms is the judge's own time a sample (`Judgement.overhead_s`), over the samples of a run; it depends on per_gpu, the
    programs that ran at a time.
    """
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
                    "kernel_s": sample["kernel_s"],
                    "flags": sample["flags"],
                },
            )
            row["verdicts"].append(sample["verdict"])
    passed = sum(set(row["verdicts"]) == {"passed"} for row in tasks.values())
    return {
        "runs": [{**{key: r.run[key] for key in kept}, "own_ms": own_ms(r.samples)} for r in runs],
        "passed": passed,
        "total": len(tasks),
        "tasks": tasks,
    }


def own_ms(samples: list[dict[str, Any]]) -> dict[str, float]:
    """Median and largest of the judge's own time a sample, in milliseconds."""
    found = [1e3 * sample["overhead_s"] for sample in samples]
    return {"median": round(statistics.median(found), 1), "max": round(max(found), 1)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", type=Path)
    parser.add_argument("--output", type=Path, help="the answers file to write")
    parser.add_argument("--samples", type=int, default=1, help="answers to each task, all the same")
    parser.add_argument("--split")
    parser.add_argument("--check", type=Path, nargs="+", metavar="RESULTS", help="results files to look at")
    parser.add_argument("--twice", type=Path, metavar="FOLDER", help="judge everything two times and check it")
    parser.add_argument(
        "--options", default="", help='with --twice: further settings of `cuset evaluate`, "per_gpu=5"'
    )
    parser.add_argument("--json", type=Path, help="with --check or --twice: write the verdicts here")
    options = parser.parse_args()
    if not (options.output or options.check or options.twice):
        parser.error("give --output, to write answers, --check, to look at results, or --twice, to judge them")
    if options.twice and (options.check or options.output):
        parser.error("--twice writes and checks files of its own: omit --output and --check")
    if options.twice and options.twice.exists():
        parser.error(f"--twice {options.twice}: already exists; name a new folder, so that everything is judged again")
    with_solution = [task for task in load_tasks(options.tasks, split=options.split) if task.solution]
    if not with_solution:
        parser.error(f"{options.tasks}: no task of this set comes with a solution")
    answers = options.twice / "answers.jsonl" if options.twice else options.output
    if answers:
        print(f"{answers}: {write_answers(with_solution, answers, options.samples)} answers", flush=True)
    try:
        twice = judge_twice(options.tasks, answers, shlex.split(options.options)) if options.twice else None
    except subprocess.CalledProcessError as error:
        return error.returncode
    if results := twice or options.check:
        found = differences(with_solution, results)
        if options.json:
            options.json.parent.mkdir(parents=True, exist_ok=True)
            options.json.write_text(json.dumps(summary(results), indent=1) + "\n", encoding="utf-8")
        print("\n".join(found) or f"all {len(with_solution)} references passed in {len(results)} runs")
        return 1 if found else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
