"""The study of docs/study.md on a CPU, once as it is, and once killed with SIGKILL when half of its jobs are done and started again.

    python scripts/bench_study.py [--output benchmarks/study_cpu.json]

Recorded are seconds, and jobs that were done before the kill, run again although they were done, and done in the end. Needs nvcc.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path


ROOT = Path(__file__).resolve().parents[1]
STUDY = ROOT / "yaml_configs" / "studies" / "cpu.yaml"


def prepare(work: Path) -> Path:
    """The tiny model and the study's file in a folder; returns the file."""
    model, file = work / "model", work / "study.yaml"
    sizes = ("--hidden-size", "64", "--layers", "2")
    subprocess.run([sys.executable, "scripts/make_tiny_model.py", str(model), *sizes], cwd=ROOT, check=True)
    file.write_text(STUDY.read_text(encoding="utf-8").replace("outputs/study-cpu-model", str(model)))
    return file


def command(file: Path, output: Path) -> list[str]:
    return [sys.executable, "-m", "cuset_stage.cli", "study", "run", str(file), f"output={output}"]


def start(file: Path, output: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command(file, output), cwd=ROOT, start_new_session=True)


def done(output: Path) -> dict[str, int]:
    """When each job's record was written, in nanoseconds."""
    records = (output / "done").glob("**/*.json")
    return {path.relative_to(output).as_posix(): path.stat().st_mtime_ns for path in records}


def run(file: Path, output: Path) -> float:
    """Seconds that the study takes to its end."""
    begin = time.monotonic()
    if start(file, output).wait():
        raise SystemExit(f"{output}: the study failed")
    return round(time.monotonic() - begin, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--output", type=Path, default=ROOT / "benchmarks" / "study_cpu.json")
    output = parser.parse_args().output
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        file = prepare(work)
        whole = run(file, work / "whole")
        jobs = len(done(work / "whole"))
        begin, killed = time.monotonic(), start(file, work / "killed")
        while len(done(work / "killed")) < jobs / 2:
            if killed.poll() is not None:
                raise SystemExit(f"{work}: the study ended before it was killed")
            time.sleep(0.05)
        os.killpg(killed.pid, signal.SIGKILL)
        killed.wait()
        before, until = done(work / "killed"), round(time.monotonic() - begin, 1)
        rest = run(file, work / "killed")
        after = done(work / "killed")
        rows = [len((work / name / "results.jsonl").read_text().splitlines()) for name in ("whole", "killed")]
    record = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "cores": len(os.sched_getaffinity(0)),
        "jobs": jobs,
        "seconds": whole,
        "killed": {
            "after_s": until,
            "jobs_done": len(before),
            "of_these_run_again": sum(after[name] != when for name, when in before.items()),
            "rest_s": rest,
            "jobs_done_in_the_end": len(after),
        },
        "rows_of_results": {"whole": rows[0], "killed": rows[1]},
    }
    output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(record, indent=1))


if __name__ == "__main__":
    main()
