#!/usr/bin/env python3
"""Runs every attack of tests/sandbox against the sandbox and writes what came of it.

    python scripts/attack_table.py --json benchmarks/attacks.json          # both isolations, and the GPU when there is one
    python scripts/attack_table.py --only fork_bomb --isolation processes

Needs nvcc. The attacks are programs in tests/sandbox/attacks.cu and gpu_attacks.cu; attacks.json and gpu_attacks.json say what
each does and which verdicts are right. An attack is contained when its verdict is one of them in time, and afterwards no process
and no file of it is left, every original (binary, inputs, reference) has its old content, the reference has not come out, no
connection arrived and nothing was written elsewhere. Bubblewrap contains all of them. Without it some need what not every
machine has, any one of `contained_by`: own_user (the judge is root and gives each run a user id of its own), landlock (a kernel
with Landlock).
"""

from __future__ import annotations

import argparse
import ctypes
import datetime
import hashlib
import json
import os
import platform
import secrets
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import psutil

from cuset_stage.sandbox import (
    COMPILE_LIMITS,
    Compiled,
    Compiler,
    Gpu,
    Isolation,
    Limits,
    SandboxError,
    find_toolkit,
    lease_gpu,
    list_gpus,
    remove_tree,
    resolve_isolation,
    run_program,
)
from cuset_stage.sandbox.isolation import bubblewrap_here


ATTACKS = Path(__file__).resolve().parent.parent / "tests" / "sandbox"
SLACK_S = 5.0
OUTPUT, SIZE = "data/out.bin", 32
TOKEN = "CUSET_TEST_TOKEN"


@dataclass(frozen=True)
class Attack:
    """One row of the table. source: what to compile, for attacks on the compiler. program: the name in attacks.cu."""

    name: str
    group: str
    what: str
    verdicts: tuple[str, ...]
    limits: dict[str, Any] = field(default_factory=dict)
    contained_by: tuple[str, ...] = ()
    source: str | None = None
    program: str | None = None
    after: str | None = None

    @property
    def on_gpu(self) -> bool:
        return self.group == "device"


@dataclass(frozen=True)
class Outcome:
    """What came of one attack. problems: everything that was not as it should be; empty when it was contained."""

    name: str
    group: str
    what: str
    isolation: str
    verdict: str
    seconds: float
    contained: bool
    problems: tuple[str, ...]
    message: str


def load_attacks(file: str = "attacks.json") -> list[Attack]:
    rows = json.loads((ATTACKS / file).read_text(encoding="utf-8"))
    return [
        Attack(**{**row, "verdicts": tuple(row["verdicts"]), "contained_by": tuple(row.get("contained_by", ()))})
        for row in rows
    ]


def landlock_version() -> int:
    """The kernel's Landlock interface; 0 without."""
    return max(0, ctypes.CDLL(None).syscall(444, None, ctypes.c_size_t(0), ctypes.c_uint(1)))


def protections(isolation: Isolation) -> set[str]:
    """What stands around a program on this machine, beside limits, a reaper and a seccomp filter."""
    if isolation is Isolation.BUBBLEWRAP:
        how = bubblewrap_here()
        return {"bubblewrap"} | ({"own_user"} if how is not None and how.own_user else set())
    version = landlock_version()
    return ({"own_user"} if os.geteuid() == 0 else set()) | ({"landlock"} if version >= 2 else set())


def is_contained_here(attack: Attack, isolation: Isolation) -> bool:
    """Whether this machine with this isolation promises to contain the attack."""
    if isolation is Isolation.BUBBLEWRAP or not attack.contained_by:
        return True
    return bool(protections(isolation) & set(attack.contained_by))


def is_safe_here(attack: Attack, isolation: Isolation) -> bool:
    """Whether the attack may be tried: a fork bomb only where the kernel itself counts, not just our watcher."""
    how = bubblewrap_here() if isolation is Isolation.BUBBLEWRAP else None
    return not attack.name.startswith("fork_bomb") or os.geteuid() != 0 or how is None or how.own_user


def cpu_seconds() -> float:
    """Of this process and all that it has waited for."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def shared_segments() -> set[str]:
    """Ids of System V shared memory with the attack's key."""
    listing = Path("/proc/sysvipc/shm")
    rows = [line.split() for line in listing.read_text().splitlines()[1:]] if listing.exists() else []
    return {row[1] for row in rows if row[0] == str(0x43555345)}


class Range:
    """The place where attacks are run: secrets to steal, a listener to reach, a folder open to everybody."""

    def __init__(self, folder: Path, arch: str = "sm_90") -> None:
        self.scratch = folder / "scratch"
        self.cases = folder / "cases"
        self.victim = Path(tempfile.mkdtemp(prefix="open-to-everybody-"))
        self.victim.chmod(0o777)
        self.scratch.mkdir()
        self.scratch.chmod(0o711)
        folder.chmod(0o711)
        self.cases.mkdir(mode=0o700)
        self.secret = secrets.token_hex(SIZE // 2)
        self.reference = self.cases / "reference.bin"
        self.reference.write_text(self.secret)
        self.input = self.cases / "input.bin"
        # eight float32 values: 1 to 8
        self.input.write_bytes(bytes.fromhex("0000803f0000004000004040000080400000a0400000c0400000e04000000041"))
        self.arch = arch
        self.cache = folder / "cache"
        self.tcp = socket.create_server(("127.0.0.1", 0))
        self.port = self.tcp.getsockname()[1]
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", self.port))
        for listener in (self.tcp, self.udp):
            listener.setblocking(False)
        self._saved = {name: os.environ.get(name) for name in ("CUSET_SCRATCH", "CUSET_CACHE", TOKEN)}
        os.environ.update({"CUSET_SCRATCH": str(self.scratch), "CUSET_CACHE": str(self.cache), TOKEN: self.secret})
        self._programs: dict[str, Compiled] = {}

    def close(self) -> None:
        self.tcp.close()
        self.udp.close()
        remove_tree(self.victim)
        for name, value in self._saved.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

    def program(self, file: str) -> Path:
        """The binary of all attacks, compiled once; the judged programs share it."""
        if file not in self._programs:
            compiler = Compiler(arch=self.arch, flags=("-O1", "-std=c++17"))
            self._programs[file] = compiler.compile((ATTACKS / file).read_text(encoding="utf-8"))
        compiled = self._programs[file]
        if compiled.binary is None:
            raise SandboxError(f"{file} does not compile: {compiled.message}")
        return compiled.binary

    def arrivals(self) -> int:
        """Connections and datagrams that came in since the last call."""
        count = 0
        for listener in (self.tcp, self.udp):
            while True:
                try:
                    if listener is self.tcp:
                        listener.accept()[0].close()
                    else:
                        listener.recv(64)
                    count += 1
                except BlockingIOError:
                    break
        return count

    def processes(self) -> list[str]:
        """Processes that run in the scratch folder, come from it, or were started with it in their environment."""
        found = []
        for process in psutil.process_iter():
            try:
                traces = [process.exe(), process.cwd(), *process.environ().values(), *process.cmdline()]
            except psutil.Error:
                continue
            if process.pid != os.getpid() and any(str(self.scratch) in trace for trace in traces):
                if str(self.scratch) == process.environ().get("CUSET_SCRATCH"):
                    continue  # a helper of the judge's own
                found.append(f"{process.pid} {process.name()}")
        return found

    def escaped(self) -> list[str]:
        places = [self.victim, Path("/tmp"), Path("/var/tmp"), Path("/dev/shm"), self.scratch]
        found = [str(path) for place in places if (path := place / "cuset-escaped").exists()]
        for path in found:
            Path(path).unlink()
        return found

    def hashes(self, binary: Path | None) -> dict[str, str]:
        files = [self.reference, self.input, *([binary] if binary else [])]
        return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}

    def run(self, attack: Attack, isolation: Isolation, gpu: Gpu | None = None) -> Outcome:
        """Run one attack and look at everything it could have done."""
        before = (
            None if attack.source is not None else self.program("gpu_attacks.cu" if attack.on_gpu else "attacks.cu")
        )
        originals, segments = self.hashes(before), shared_segments()
        begin = time.perf_counter()
        if attack.source is not None:
            verdict, message, stolen = self._compile(attack, isolation)
        else:
            if attack.after:
                self._execute(before, attack.after, isolation, gpu, Limits(**attack.limits))
            name = attack.program or attack.name
            verdict, message, stolen = self._execute(before, name, isolation, gpu, Limits(**attack.limits))
        seconds = time.perf_counter() - begin
        problems = []
        if verdict not in attack.verdicts:
            problems.append(f"verdict {verdict}, expected {' or '.join(attack.verdicts)}: {message[:200]}")
        limits = {**(asdict(COMPILE_LIMITS) if attack.source is not None else asdict(Limits())), **attack.limits}
        if seconds > limits["wall_s"] + SLACK_S:
            problems.append(f"took {seconds:.1f} s with a limit of {limits['wall_s']:g} s")
        if stolen:
            problems.append("the reference came out")
        if left := self.processes():
            problems.append(f"processes left: {', '.join(left)}")
        if files := [str(path) for path in self.scratch.iterdir()]:
            problems.append(f"files left: {', '.join(files)}")
        if escaped := self.escaped():
            problems.append(f"written outside: {', '.join(escaped)}")
        if new := shared_segments() - segments:
            problems.append(f"System V shared memory left: {', '.join(new)}")
        if arrived := self.arrivals():
            problems.append(f"{arrived} messages arrived over the network")
        if self.hashes(before) != originals:
            problems.append("an original was changed")
        return Outcome(
            attack.name,
            attack.group,
            attack.what,
            str(isolation),
            verdict,
            round(seconds, 3),
            not problems,
            tuple(problems),
            message[:300],
        )

    def _compile(self, attack: Attack, isolation: Isolation) -> tuple[str, str, bool]:
        limits = Limits(**{**asdict(COMPILE_LIMITS), **attack.limits})
        compiler = Compiler(arch=self.arch, isolation=isolation, limits=limits)
        source = attack.source.replace("@REFERENCE@", str(self.reference))
        compiled = compiler.compile(source)
        stolen = self.secret in compiled.message
        if compiled.binary is not None:
            stolen = stolen or self.secret.encode() in compiled.binary.read_bytes()
        return str(compiled.verdict or "ok"), compiled.message, stolen

    def _execute(
        self, binary: Path, name: str, isolation: Isolation, gpu: Gpu | None, limits: Limits
    ) -> tuple[str, str, bool]:
        request = self.cases / "attack.txt"
        request.write_text(f"{name}\n{self.reference}\n{self.port}\n{self.victim}\n")
        inputs = {"data/attack.txt": request, "data/input.bin": self.input}
        with run_program(
            binary, inputs=inputs, outputs={OUTPUT: SIZE}, limits=limits, isolation=isolation, gpu=gpu
        ) as ran:
            stolen = any(self.secret.encode() in path.read_bytes() for path in ran.outputs.values())
            stolen = stolen or self.secret in ran.finished.stdout + ran.finished.stderr
            return str(ran.verdict or "ok"), ran.message, stolen

    def overhead(self, isolation: Isolation, repeats: int = 30) -> dict[str, float]:
        """Milliseconds of one run_program of a program that writes 32 bytes, beside the bare program."""
        binary = self.program("attacks.cu")
        whole, bare = [], []
        begin_cpu = cpu_seconds()
        for _ in range(repeats):
            begin = time.perf_counter()
            self._execute(binary, "good", isolation, None, Limits())
            whole.append(1000 * (time.perf_counter() - begin))
        cpu = 1000 * (cpu_seconds() - begin_cpu) / repeats
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "data").mkdir()
            Path(folder, "data", "attack.txt").write_text("good\n\n0\n\n")
            for _ in range(repeats):
                begin = time.perf_counter()
                subprocess.run([binary], cwd=folder, check=True)
                bare.append(1000 * (time.perf_counter() - begin))
        own = sorted(value - statistics.median(bare) for value in whole)
        return {
            "runs": repeats,
            "bare_program_ms": round(statistics.median(bare), 2),
            "cpu_mean_ms": round(cpu, 2),
            "overhead_best_ms": round(own[0], 2),
            "overhead_median_ms": round(statistics.median(own), 2),
            "overhead_p95_ms": round(own[int(0.95 * len(own))], 2),
        }


def print_table(outcomes: list[Outcome]) -> None:
    by_attack: dict[str, dict[str, Outcome]] = {}
    for outcome in outcomes:
        by_attack.setdefault(outcome.name, {})[outcome.isolation] = outcome
    isolations = list(dict.fromkeys(outcome.isolation for outcome in outcomes))
    print("| attack | what it does | " + " | ".join(isolations) + " |")
    print("|---|---|" + "---|" * len(isolations))
    for name, cells in by_attack.items():
        what = next(iter(cells.values())).what.replace("|", "\\|")
        parts = []
        for isolation in isolations:
            cell = cells.get(isolation)
            if cell is None:
                parts.append("")
            else:
                parts.append(f"{cell.verdict}, {cell.seconds:.1f} s" + ("" if cell.contained else ": NOT CONTAINED"))
        print(f"| {name} | {what} | " + " | ".join(parts) + " |")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", default=[], help="names of attacks")
    parser.add_argument("--isolation", choices=["bubblewrap", "processes"], action="append", help="default: both")
    parser.add_argument("--json", type=Path, help="where to write the outcomes")
    parser.add_argument("--no-gpu", action="store_true", help="leave the device attacks out")
    options = parser.parse_args()
    isolations = []
    for name in options.isolation or ["bubblewrap", "processes"]:
        try:
            isolations.append(resolve_isolation(name))
        except SandboxError as error:
            print(f"left out: {error}", file=sys.stderr)
    gpus = [] if options.no_gpu else list_gpus()
    outcomes, overhead, failed = [], {}, 0
    folder = Path(tempfile.mkdtemp(prefix="attack-range-"))
    place = Range(folder, gpus[0].arch if gpus else "sm_90")
    try:
        attacks = load_attacks() + (load_attacks("gpu_attacks.json") if gpus else [])
        if unknown := set(options.only) - {attack.name for attack in attacks}:
            parser.error(f"no such attack: {', '.join(sorted(unknown))}")
        for isolation in isolations:
            for attack in attacks:
                if options.only and attack.name not in options.only:
                    continue
                if not is_safe_here(attack, isolation):
                    print(f"{attack.name} ({isolation}): left out, nothing but our watcher would hold it here")
                    continue
                if attack.on_gpu:
                    with lease_gpu(gpus) as gpu:
                        outcome = place.run(attack, isolation, gpu)
                        good = Attack("good", "device", "a right program afterwards", ("ok",))
                        afterwards = place.run(good, isolation, gpu)
                    if not afterwards.contained:
                        outcome = Outcome(
                            **{
                                **asdict(outcome),
                                "contained": False,
                                "problems": (*outcome.problems, f"the next program failed: {afterwards.problems}"),
                            }
                        )
                else:
                    outcome = place.run(attack, isolation)
                outcomes.append(outcome)
                broken = not outcome.contained and is_contained_here(attack, isolation)
                failed += broken
                for problem in outcome.problems:
                    print(f"{attack.name} ({isolation}): {problem}" + ("  <- a promise broken" if broken else ""))
            overhead[str(isolation)] = place.overhead(isolation)
    finally:
        place.close()
        remove_tree(folder)
    print_table(outcomes)
    for name, numbers in overhead.items():
        print(
            f"{name}: run_program adds {numbers['overhead_median_ms']} ms (median), {numbers['overhead_p95_ms']} ms (p95)"
        )
    if options.json:
        record = {
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
            "kernel": platform.release().split("-")[0],
            "landlock_version": landlock_version(),
            "protections": {str(isolation): sorted(protections(isolation)) for isolation in isolations},
            "toolkit": find_toolkit().version,
            "gpu": gpus[0].name if gpus else None,
            "overhead": overhead,
            "attacks": [asdict(outcome) for outcome in outcomes],
        }
        options.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(f"{len(outcomes)} attacks, {sum(o.contained for o in outcomes)} contained, {failed} promises broken")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
