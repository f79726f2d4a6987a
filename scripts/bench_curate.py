"""What `cuset curate` does with a source, stage by stage: rows, seconds, memory. Stages may run on different machines.

    python scripts/bench_curate.py WORK --source kernels=data/kernels --json OUT.json         # everything, where the GPU is
    python scripts/bench_curate.py WORK --source tree=/data/tree --stages import,adapt         # here
    python scripts/bench_curate.py WORK --stages prove  --json OUT.json                       # there, in a copy of WORK
    python scripts/bench_curate.py WORK --stages select,export --json OUT.json                 # here again
    python scripts/bench_curate.py WORK --rows 100000 --stages import,split,deduplicate --json OUT.json   # how it scales

Every stage runs in a separate process, as from the command line. Its memory is that of the process with all it starts
(compilers, oracles, programs), what they share counted once, read every 200 ms; `own_mib` is the largest the stage's own
process had. WORK keeps what was measured in bench.json, so that a later call adds to it; --json writes that record with the
machine and the funnel.

--rows makes a source of that many rows from the kernels of data/kernels: every name that a kernel chose is another one in each row, and two
rows of three get statements of their own, from one to forty, so that they are no copies. The rest are renamed copies.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import os
import platform
import random
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import psutil


ROOT = Path(__file__).resolve().parents[1]
STAGES = ("import", "split", "deduplicate", "write", "adapt", "answer", "prove", "select", "export")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path, help="the folder of the curation")
    parser.add_argument("--source", action="append", default=[], help="name=path, for import; may be repeated")
    parser.add_argument("--rows", type=int, help="make a source of so many rows")
    parser.add_argument("--stages", default=",".join(STAGES), help="comma-separated, in order")
    parser.add_argument("--revision", help="commit or version of the source")
    parser.add_argument("--licence", help="what applies where a source states none")
    parser.add_argument("--prove", default="", help='settings of `cuset curate prove`, as in --prove="workers=8"')
    parser.add_argument("--select", default="", help="settings of `cuset curate select`")
    parser.add_argument("--export", default="", help="settings of `cuset curate export`")
    parser.add_argument("--cache", type=Path, help="folder for prepared cases and compiled programs")
    parser.add_argument("--json", type=Path, dest="target")
    args = parser.parse_args()
    stages = [stage.strip() for stage in args.stages.split(",") if stage.strip()]
    if unknown := set(stages) - set(STAGES):
        parser.error(f"--stages {sorted(unknown)[0]}: there are {', '.join(STAGES)}")
    args.work.mkdir(parents=True, exist_ok=True)
    if args.rows and "import" in stages:
        args.source.append(f"synthetic={synthetic(args.work / 'synthetic.jsonl', args.rows)}")
    if "import" in stages and not args.source:
        parser.error("--source is missing: name=path of what is to be imported")
    record = Record(args.work / "bench.json")
    status = 0
    for stage, command in ((each, command) for each in stages for command in commands(each, args)):
        if status := record.run(stage, command):
            break  # what was done is kept; the same call resumes
    if args.target is None:  # either hashes every row of the stages
        subprocess.run(curate("funnel", args.work), env=environment(), check=False)
    else:
        shown = subprocess.run(
            curate("funnel", args.work, "format=json"), env=environment(), capture_output=True, text=True, check=True
        )
        args.target.parent.mkdir(parents=True, exist_ok=True)
        args.target.write_text(
            json.dumps(
                {"sources": sources(args.work), "funnel": json.loads(shown.stdout), "runs": record.runs}, indent=2
            )
            + "\n",
            encoding="utf-8",
        )
    return status


def synthetic(path: Path, count: int) -> Path:
    """A JSON-lines file of rows with code and licence."""
    sys.path.insert(0, str(ROOT / "src"))
    from cuset_stage.cuda_source import Source, chosen_names, excerpts, tokens

    programs = (file.read_text(encoding="utf-8") for file in sorted((ROOT / "data" / "kernels").glob("*/kernel.cu")))
    kernels = []
    for program in programs:
        for kernel, text in excerpts(Source(program)):
            words, shown = tokens(text), list(text)
            for word, own in zip(words, chosen_names(words), strict=True):
                if own:
                    shown[word.start + len(word.text) - 1] += "\0"  # where the row's number goes
            shown = "".join(shown)
            kernels.append((shown, shown.index("{", shown.index(f" {kernel.name}\0(")) + 1))
    chunks = [range(start, min(start + 1000, count)) for start in range(0, count, 1000)]
    with path.open("w", encoding="utf-8") as stream, multiprocessing.Pool() as pool:
        stream.writelines(pool.imap(partial(rows, kernels), chunks))
    return path


def rows(kernels: list[tuple[str, int]], numbers: range) -> str:
    """The lines of some rows. kernels: their texts, and where their bodies begin."""
    chance, lines = random.Random(numbers.start), []
    for number in numbers:
        text, body = chance.choice(kernels)
        if number % 3:
            text = f"{text[:body]}\n{statements(chance)}{text[body:]}"
        lines.append(json.dumps({"code": text.replace("\0", f"_{number}"), "licence": "MIT"}) + "\n")
    return "".join(lines)


def statements(chance: random.Random) -> str:
    functions = ("sqrtf", "expf", "logf", "sinf", "fabsf", "rsqrtf", "tanhf", "floorf")

    def expression(depth: int) -> str:
        if depth == 0:
            return chance.choice(("threadIdx.x", "blockIdx.x", "a", "1.5f"))
        kind = chance.randrange(3)
        if kind == 0:
            return f"{chance.choice(functions)}({expression(depth - 1)})"
        return f"({expression(depth - 1)} {chance.choice('+-*/')} {expression(chance.randrange(depth))})"

    return "".join(f"    float a{i} = {expression(chance.randint(2, 5))};\n" for i in range(chance.randint(1, 40)))


def sources(work: Path) -> dict[str, dict[str, Any]]:
    """Name -> what was imported under it."""
    found = {}
    for file in sorted((work / "import").glob("*/settings.json")):
        settings = json.loads(file.read_text(encoding="utf-8"))
        found[file.parent.name] = {key: settings[key] for key in ("format", "revision", "licence", "preset")}
    return found


def curate(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "cuset_stage.cli", "curate", *map(str, arguments)]


def environment() -> dict[str, str]:
    paths = [str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def commands(stage: str, args: argparse.Namespace) -> list[list[str]]:
    """What is run for a stage: for import a command a source."""
    cache = [f"cache={args.cache}"] if args.cache else []
    if stage == "import":
        stated = [f"{key}={value}" for key, value in (("revision", args.revision), ("licence", args.licence)) if value]
        parts = [source.partition("=") for source in args.source]
        return [curate("import", args.work, path or name, f"name={name}", *stated) for name, _, path in parts]
    more = {"prove": [*cache, *args.prove.split()], "select": args.select.split(), "export": args.export.split()}
    return [curate(stage, args.work, *more.get(stage, []))]


class Record:
    """What was measured so far, in a file of the curation's folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.runs: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []

    def run(self, stage: str, command: list[str]) -> int:
        """Run a stage's command and keep its figures; its exit status."""
        print(f"$ cuset curate {' '.join(command[4:])}", flush=True)
        begun = time.perf_counter()
        process = subprocess.Popen(command, env=environment())
        signal.signal(signal.SIGTERM, lambda *_: process.terminate())  # a stage out of time is measured as well
        whole, own = watch(process)
        self.runs.append(
            {
                "stage": stage,
                "status": process.returncode,
                "seconds": round(time.perf_counter() - begun, 2),
                "peak_mib": round(whole / 2**20, 1),
                "own_mib": round(own / 2**20, 1),
                "started": datetime.now(UTC).isoformat(timespec="seconds"),
                "machine": {"cpus": len(os.sched_getaffinity(0)), "python": platform.python_version(), "gpus": gpus()},
            }
        )
        self.path.write_text(json.dumps(self.runs, indent=2) + "\n", encoding="utf-8")
        print(f"  {self.runs[-1]['seconds']} s, {self.runs[-1]['peak_mib']} MiB with all it starts", flush=True)
        return process.returncode


def watch(process: subprocess.Popen[bytes]) -> tuple[int, int]:
    """The most resident bytes of a process with all its descendants, and of itself, until it ends."""
    whole = own = 0
    root = psutil.Process(process.pid)
    while process.poll() is None:
        try:
            mine, children = resident(root)
            own, whole = max(own, mine), max(whole, mine + children)
            time.sleep(0.2)
        except KeyboardInterrupt:  # the stage has it as well, and ends in order
            process.wait()
    return whole, own


def resident(root: psutil.Process) -> tuple[int, int]:
    """Resident bytes of a process, and of all its descendants together, each page divided by the processes that share it."""
    try:
        mine = root.memory_info().rss
        below = root.children(recursive=True)
    except psutil.Error:
        return 0, 0
    total = 0
    for child in below:
        with contextlib.suppress(psutil.Error):
            total += child.memory_full_info().pss
    return mine, total


def gpus() -> list[str]:
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        done = subprocess.run(query, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return []
    return done.stdout.strip().splitlines()


if __name__ == "__main__":
    sys.exit(main())
