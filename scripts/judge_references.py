"""Write a task set's own programs as an answers file. A correct judge passes all of them.

    python scripts/judge_references.py data/kernels --output answers.jsonl
    cuset evaluate answers.jsonl tasks=data/kernels output=results.jsonl

The programs of CUDABench are its bench.cu, those of ComputeEval its baseline_solution, and those of robust-kbench the
forward.cu and backward.cu that some of its tasks have.
"""

import argparse
from pathlib import Path

from cuset_stage.jsonl import Appender
from cuset_stage.tasks import load_tasks
from cuset_stage.tasks.answers_file import Answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", type=Path)
    parser.add_argument("--output", type=Path, required=True, help="the answers file to write")
    parser.add_argument("--samples", type=int, default=1, help="answers to each task, all the same")
    options = parser.parse_args()
    tasks = [task for task in load_tasks(options.tasks) if task.solution]
    if not tasks:
        parser.error(f"{options.tasks}: no task of this set comes with a solution")
    options.output.unlink(missing_ok=True)
    with Appender(options.output) as appender:
        for task in tasks:
            for sample in range(options.samples):
                answer = Answer(task.id, sample, task.solution, code=task.solution, model="reference")
                appender.append(answer.to_record())
    print(f"{options.output}: {len(tasks) * options.samples} answers")


if __name__ == "__main__":
    main()
