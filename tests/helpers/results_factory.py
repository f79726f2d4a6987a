"""Made-up results files in the form in which `cuset evaluate` writes them.

The caller chooses the verdict of each sample.
"""

import base64
import re
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from task_factory import write_lines


GENERATION = {"model": "Qwen2.5-Coder-7B-Instruct", "temperature": 0.2, "top_p": 0.95, "max_tokens": 4096, "seed": 0}


def header(method: str, **changes: Any) -> dict[str, Any]:
    """Return the first line of a results file of this method, with these keys changed."""
    record = {"type": "run", "format": 1, "run": f"{method}-answers", "method": method, "cuset_stage": "0.1.0"}
    record |= {"created": "2026-01-02T03:04:05+00:00", "python": "3.12.3", "generation": GENERATION, "findings": {}}
    record["tasks"] = {"path": "bench.jsonl", "format": "cuset", "sha256": "ab" * 32, "level": None, "split": None}
    record["answers"] = {"path": "", "sha256": "cd" * 32, "count": 0}
    record["gpus"] = [{"name": "NVIDIA H100", "driver": "580.1", "compute_capability": "9.0"}]
    record |= {"toolkit": "13.0.88", "arch": "sm_90", "flags": ["-O3", "-std=c++17"], "compile_only": False}
    record |= {"isolation": "bubblewrap", "limits": {"wall_s": 60.0}}
    return {**record, **changes}


def sample(task: str, number: int, verdict: str, **changes: Any) -> dict[str, Any]:
    """Return the line of one sample with this verdict and values that fit it, with these keys changed."""
    compiled = verdict not in ("no_code", "compile_error", "compile_timeout", "infra_error")
    passed, kernel = verdict == "passed", "__global__ void k(float* x) { x[0] = 1.0f; }\n"
    record = {"type": "sample", "task": task, "name": f"kernel {task}", "family": "reduction", "sample": number}
    record |= {"level": 1, "code_sha256": f"{abs(hash((task, number))):064x}"[:64], "same_as_sample": None, "key": ""}
    record |= {"verdict": verdict, "compiled": compiled, "passed": passed, "cases": [], "flags": []}
    record |= {"message": "" if passed else f"{verdict} of {task}", "case": None if passed else "default"}
    record |= {"compile_s": 1.25, "compile_cached": False, "run_s": 0.5, "compare_s": 0.1, "overhead_s": 0.02}
    record |= {"speedup": None, "reference_s": None, "kernel_s": None}
    record |= {"tokens": 700, "prompt_tokens": 400, "finish_reason": "stop"}
    record["code"] = None if verdict == "no_code" else f"// {task} {number} {verdict}\n{kernel}"
    return {**record, **changes}


def loud(collection: Any) -> str:
    """Return the texts of the loud notes of a report's collection, a line each."""
    return "\n".join(note.text for note in collection.notes if note.loud)


def blocks(page: str) -> list[list[str]]:
    """Return what the samples of each task open to on a report's page, in the order of the tasks."""
    packed = re.findall(r'id="block-\d+">([^<]+)<', page)
    return [zlib.decompress(base64.b64decode(block)).decode().split("<hr>")[:-1] for block in packed]


def write_results(
    path: Path,
    method: str,
    verdicts: dict[str, list[str | None]],
    *,
    change: Callable[[dict[str, Any]], dict[str, Any]] = lambda record: record,
    **changes: Any,
) -> Path:
    """Write a results file with the verdicts of each task's samples, and return its path.

    None leaves out the line of that sample. `change` edits the line of a sample, `changes` are keys of the header.
    """
    lines = [
        change(sample(task, number, verdict))
        for task, ends in verdicts.items()
        for number, verdict in enumerate(ends)
        if verdict is not None
    ]
    head = header(method, **changes)
    levels = Counter(str(line["level"]) for line in lines if isinstance(line["level"], int))
    head["tasks"] = {"ids": list(verdicts), **head["tasks"]}
    head["tasks"]["count"] = len(head["tasks"]["ids"])
    head["answers"] = {"levels": levels, **head["answers"], "count": head["answers"]["count"] or len(lines)}
    path.parent.mkdir(parents=True, exist_ok=True)
    return write_lines(path, head, *lines)
