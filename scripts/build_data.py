#!/usr/bin/env python3
"""Builds the bundled training set and the cuset-mini benchmark from data/kernels/.

    python scripts/build_data.py                        write the built files of data/ and counts and table in data/README.md
    python scripts/build_data.py --check                write nothing; exit 1 when a built file is out of date
    python scripts/build_data.py --check --references   also run every NumPy reference on all of its cases

`--only TASK ...` checks these folders alone and ignores the built files. scripts/data_tasks.py reads a folder,
scripts/data_references.py runs a reference; scripts/verify_data.py runs the programs on a GPU.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import zlib
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from data_references import check_case, load_reference
from data_tasks import DATA_DIR, FAMILIES, PROGRAMS, SPLITS, BundledTask, load_tasks

from cuset_stage.tasks.base import TaskError


TRAINING_FILES = {"train": "cuset_kernels.json", "eval": "cuset_kernels_eval.json"}
TASK_FILES = {"train": "cuset_train_tasks.jsonl", "eval": "cuset_mini.jsonl"}
TABLE_MARKS = ("<!-- table: written by scripts/build_data.py -->", "<!-- end of table -->")


def answers(task: BundledTask) -> dict[str, str]:
    """Wording -> the program that answers it. A detailed wording asks for kernel.cu's way; where there is a second program, it answers
    the bare wording of every other task and the plain one of the rest, so that the length of a question says nothing of its answer.
    """
    fast, *simple = task.programs
    other = ("bare", "prompt")[_mixed(task.name) % 2]
    return {wording: simple[0] if simple and wording == other else fast for wording in task.wordings}


def _mixed(text: str) -> int:
    """A number that is the same every time: for an order, or a choice, without a pattern."""
    return zlib.crc32(text.encode())


def training_rows(tasks: list[BundledTask]) -> dict[str, list[dict[str, str]]]:
    """The rows by split: a row a wording for training, a row a task held out. Mixed, so that `max_samples` takes some of each family.

    LLaMA-Factory reads the alpaca columns and ignores name, family and wording.
    """
    rows: dict[str, list[dict[str, str]]] = {split: [] for split in SPLITS}
    for task in tasks:
        for wording, program in answers(task).items() if task.split == "train" else [("prompt", PROGRAMS[0])]:
            rows[task.split].append(
                {
                    "instruction": task.wordings[wording],
                    "input": "",
                    "output": task.response(program),
                    "name": task.name,
                    "family": task.family,
                    "wording": wording,
                }
            )
    return {
        split: sorted(found, key=lambda row: _mixed(row["name"] + row["wording"])) for split, found in rows.items()
    }


def task_row(task: BundledTask) -> dict[str, Any]:
    """The line of a benchmark: `cuset` reads such files as task sets."""
    return {
        "id": task.name,
        "family": task.family,
        "split": task.split,
        **task.wordings,
        "system": None,
        **{key: task.meta[key] for key in ("sizes", "inputs", "outputs", "cases")},
        "reference": task.program.oracle.source,
        "solution": task.program.solution,
        "alternative": task.program.alternative,
        "idioms": list(task.program.idioms),
        "licence": "Apache-2.0",
        "source": f"data/kernels/{task.name}",
    }


def counts_and_table(tasks: list[BundledTask]) -> str:
    totals = [sum(task.split == split for task in tasks) for split in SPLITS]
    rows = {split: len(found) for split, found in training_rows(tasks).items()}
    lines = [
        f"{len(tasks)} tasks in {len({task.family for task in tasks})} families: {totals[0]} for training, {rows['train']} rows, and "
        f"{totals[1]} held out. {sum(len(task.programs) > 1 for task in tasks)} of them have two programs.",
        "",
        "| family | train | eval | tasks |",
        "|---|---:|---:|---|",
    ]
    for family in FAMILIES:
        members = [task for task in tasks if task.family == family]
        if not members:
            continue
        counts = [sum(task.split == split for task in members) for split in SPLITS]
        cells = ", ".join(f"[{task.name}](kernels/{task.name}) ({', '.join(task.program.idioms)})" for task in members)
        lines.append(f"| {family} | {counts[0]} | {counts[1]} | {cells} |")
    lines.append(f"| total | {totals[0]} | {totals[1]} | |")
    return "\n".join(lines)


def build(tasks: list[BundledTask], data_dir: Path = DATA_DIR) -> dict[Path, str]:
    """The text of every built file, by path."""
    built = {}
    for split, rows in training_rows(tasks).items():
        members = [task for task in tasks if task.split == split]
        built[data_dir / TRAINING_FILES[split]] = json.dumps(rows, indent=2, ensure_ascii=False) + "\n"
        lines = [json.dumps(task_row(task), ensure_ascii=False) + "\n" for task in members]
        built[data_dir / TASK_FILES[split]] = "".join(lines)
    readme = data_dir / "README.md"
    text = readme.read_text(encoding="utf-8") if readme.is_file() else ""
    begin, end = TABLE_MARKS
    if text.count(begin) != 1 or text.count(end) != 1:
        raise TaskError(f"{readme}: expected the lines {begin!r} and {end!r} once each")
    head, rest = text.split(begin)
    built[readme] = f"{head}{begin}\n{counts_and_table(tasks)}\n{end}{rest.split(end)[1]}"
    return built


def write_built(tasks: list[BundledTask], check: bool, data_dir: Path = DATA_DIR) -> int:
    """Write what is out of date, or with `check` only name it and return 1."""
    stale = [
        (path, text)
        for path, text in build(tasks, data_dir).items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]
    for path, text in stale:
        if not check:
            path.write_text(text, encoding="utf-8")
        print(f"{'out of date' if check else 'written'}: data/{path.name}")
    if check and stale:
        print("run: python scripts/build_data.py", file=sys.stderr)
        return 1
    print(f"{len(tasks)} tasks, {'up to date' if not stale else f'{len(stale)} files written'}")
    return 0


def reference_seconds(task: BundledTask) -> dict[str, float]:
    """Run and check the reference of one task on all cases; CPU seconds by case."""
    reference = load_reference(task)
    seconds = {}
    for case in task.program.cases:
        begin = time.process_time()
        check_case(task, case, reference)
        seconds[case.name] = time.process_time() - begin
    return seconds


def check_references(tasks: list[BundledTask], jobs: int) -> int:
    """Print a line a task, and at the end the findings; returns how many tasks break the rules."""
    findings = []
    with ProcessPoolExecutor(min(jobs, len(tasks))) as pool:
        runs = [(task, pool.submit(reference_seconds, task)) for task in tasks]
        for task, run in runs:
            error = run.exception()
            if error is None:
                print(
                    f"{task.name:<32}" + "".join(f"  {name} {s:.2f} s" for name, s in run.result().items()), flush=True
                )
            else:
                findings.append(f"{task.name}: {type(error).__name__}: {error}")
                print(f"{task.name:<32}  FAILED", flush=True)
    for finding in findings:
        print(f"error: {finding}", file=sys.stderr)
    return len(findings)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a built file is out of date")
    parser.add_argument("--references", action="store_true", help="run the references of all cases on the CPU")
    parser.add_argument("--only", nargs="+", default=[], metavar="TASK", help="check these folders, build nothing")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes for --references")
    options = parser.parse_args(arguments)
    try:
        tasks = load_tasks(only=tuple(options.only))
        if options.references and check_references(tasks, options.jobs):
            return 1
        if options.only:
            print(f"{len(tasks)} tasks, well-formed")
            return 0
        return write_built(tasks, options.check)
    except TaskError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
