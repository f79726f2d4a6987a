"""What the start-up hook costs a Python process that never touches LLaMA-Factory.

    python scripts/bench_startup.py [--pairs 100] [--output benchmarks/startup.json]

Two fresh virtual environments, cuset-stage's wheel (without its dependencies) in one of them; `python -c pass` in each
in turn, the order within a pair alternating. Wall-clock time is taken by the parent, and processor time as well,
because a busy machine lengthens the first but not the second. POSIX only. Needs `pip install -e '.[dev]'`.
"""

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path


ROOT = Path(__file__).resolve().parents[1]


def make_environment(folder: Path) -> Path:
    venv.create(folder, with_pip=False, symlinks=os.name != "nt")
    return next(folder.glob("[bS]*/python*"))


def install(python: Path, work: Path) -> str:
    """Build the wheel as pip would and install it; returns the wheel's version."""
    source = work / "source"  # a copy: a build in the checkout would leave build/ and an egg-info there
    shutil.copytree(ROOT / "src", source / "src")
    for path in filter(Path.is_file, ROOT.iterdir()):
        shutil.copy(path, source)
    quiet = ["--quiet", "--disable-pip-version-check", "--no-deps"]
    pip = [sys.executable, "-m", "pip"]
    subprocess.run([*pip, "wheel", *quiet, "--no-build-isolation", "-w", str(work), str(source)], check=True)
    wheel = next(work.glob("cuset_stage-*.whl"))
    subprocess.run([*pip, "--python", str(python), "install", *quiet, "--no-index", str(wheel)], check=True)
    return wheel.name.split("-")[1]


def milliseconds(python: Path) -> tuple[float, float]:
    """Wall clock and processor time (user + system) of one start."""
    started = time.perf_counter()
    process = os.posix_spawn(python, [str(python), "-c", "pass"], os.environ)
    _, status, used = os.wait4(process, 0)
    wall = time.perf_counter() - started
    if status != 0:
        raise RuntimeError(f"{python} -c pass: wait status {status}")
    return wall * 1e3, (used.ru_utime + used.ru_stime) * 1e3


def summary(values: list[float]) -> dict[str, float]:
    return {
        "median_ms": round(statistics.median(values), 3),
        "p90_ms": round(statistics.quantiles(values, n=10)[-1], 3),
    }


def compare(pairs: list[tuple[float, float]]) -> dict[str, dict[str, float]]:
    return {
        "without": summary([without for without, _ in pairs]),
        "with": summary([with_hook for _, with_hook in pairs]),
        "difference_within_a_pair": summary([with_hook - without for without, with_hook in pairs]),
    }


def machine() -> dict[str, str | int]:
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.partition(":")[2].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        cpu = names[0] if names else cpu
    return {"cpu": cpu, "cores": os.cpu_count() or 0, "system": platform.system(), "machine": platform.machine()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--output", type=Path, default=ROOT / "benchmarks" / "startup.json")
    arguments = parser.parse_args()
    if arguments.pairs < 10:
        parser.error(f"--pairs {arguments.pairs}: at least 10, or a p90 means nothing")

    with tempfile.TemporaryDirectory() as work:
        without, with_hook = (make_environment(Path(work, name)) for name in ("without", "with"))
        version = install(with_hook, Path(work))
        for python in (without, with_hook) * 5:  # writes the .pyc files, warms the page cache
            milliseconds(python)
        wall, processor = [], []
        load = os.getloadavg()[0]
        for number in range(arguments.pairs):
            order = (without, with_hook) if number % 2 == 0 else (with_hook, without)
            times = {python: milliseconds(python) for python in order}
            wall.append((times[without][0], times[with_hook][0]))
            processor.append((times[without][1], times[with_hook][1]))

    result = {
        "what": "`python -c pass` in environments without and with cuset-stage",
        "command": f"python scripts/bench_startup.py --pairs {arguments.pairs}",
        "date": datetime.now(UTC).date().isoformat(),
        "versions": {
            "python": platform.python_version(),
            "cuset-stage": version,
            "setuptools": metadata.version("setuptools"),
        },
        "machine": machine(),
        "pairs": arguments.pairs,
        "load_average": round(load, 2),
        "wall_clock": compare(wall),
        "processor_time": compare(processor),
    }
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
