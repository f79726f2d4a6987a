#!/usr/bin/env python3
"""Run every attack of tests/sandbox against the sandbox and record the outcomes.

    python scripts/attack_table.py --json benchmarks/attacks.json    # both isolations, and the GPU if there is one
    python scripts/attack_table.py --only fork_bomb --isolation landlock
    python scripts/attack_table.py --cheats --json benchmarks/cheats.json    # cheats for the judge of modules

Needs nvcc. attacks.json and gpu_attacks.json describe each attack and list the verdicts that are right for it. An
attack is contained if its verdict is one of these and if, afterwards, none of its processes and files is left, every
original file has its old content, no secret has come out, no connection has arrived, and nothing has been written
elsewhere.

A cheat (tests/helpers/cheats.py) is an answer that tries to fool the judge of modules. It is contained if its verdict
is one that it may get and if it got no speed-up for work that is not faster. Cheats that need a GPU run only if there
is one, and those for the CPU only if there is none.
"""

from __future__ import annotations

import argparse
import datetime
import functools
import itertools
import json
import os
import platform
import secrets
import socket
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import psutil

from cuset_stage.files import file_sha256, write_atomically
from cuset_stage.judge.devices import GpuPool
from cuset_stage.judge.gpu_activity import Recorder, find_recorder
from cuset_stage.judge.modules import ModuleJudge
from cuset_stage.sandbox import (
    COMPILE_LIMITS,
    Compiler,
    Gpu,
    Isolation,
    Limits,
    SandboxError,
    find_toolkit,
    lease_gpu,
    list_gpus,
    memory_account,
    remove_tree,
    resolve_isolation,
    run_program,
)
from cuset_stage.sandbox.isolation import bubblewrap_here, special_files
from cuset_stage.tasks import ModuleTask


TESTS = Path(__file__).resolve().parent.parent / "tests"
ATTACKS = TESTS / "sandbox"
OUTPUT, SIZE = "data/out.bin", 32
TOKEN = "CUSET_TEST_TOKEN"
PATIENCE_S = 300.0  # wall time for runs without a limit of their own; long, because the machine may be busy
EIGHT_FLOATS = bytes.fromhex("0000803f0000004000004040000080400000a0400000c0400000e04000000041")  # 1 to 8


@dataclass(frozen=True)
class Attack:
    """An attack of attacks.json or gpu_attacks.json.

    Attributes:
        name: name of the attack.
        group: class of attacks that it belongs to. Attacks of the group "device" need a GPU.
        what: what the attack does, for the table.
        verdicts: the verdicts that are right for it.
        limits: fields of `Limits` that differ from the defaults.
        source: source to compile, for attacks on the compiler. @REFERENCE@ and @OPEN@ stand for two files with the
            secret. Other users cannot read the first and can read the second.
        program: name of the program in attacks.cu, if it is not the attack's name.
        after: name of a program that runs before this one.
        slow: whether the default run of the tests leaves it out.
    """

    name: str
    group: str
    what: str
    verdicts: Sequence[str]
    limits: dict[str, Any] = field(default_factory=dict)
    source: str | None = None
    program: str | None = None
    after: str | None = None
    slow: bool = False


@dataclass(frozen=True)
class Outcome:
    """The outcome of one attack.

    Attributes:
        name, group, what: as in the attack.
        isolation: the isolation that it ran under.
        verdict: the sandbox's or the judge's verdict.
        seconds: wall time.
        contained: whether there are no problems.
        problems: everything that was not as it should be, empty if the attack was contained.
        message: explanation of the verdict, cut to 300 characters.
        look_s: seconds of the watcher's slowest look at the program's memory and files.
    """

    name: str
    group: str
    what: str
    isolation: str
    verdict: str
    seconds: float
    contained: bool
    problems: tuple[str, ...]
    message: str
    look_s: float = 0.0


GOOD = Attack("good", "", "a right program", ("ok",))
GOOD_ON_GPU = replace(GOOD, group="device")


def load_attacks(file: str = "attacks.json") -> list[Attack]:
    return [Attack(**row) for row in json.loads((ATTACKS / file).read_text(encoding="utf-8"))]


def has_own_user(isolation: Isolation) -> bool:
    """Return whether a program gets a user id that nobody else has."""
    how = bubblewrap_here() if isolation is Isolation.BUBBLEWRAP else None
    return os.geteuid() == 0 and (how is None or how.own_user)


def is_safe_here(attack: Attack, isolation: Isolation) -> bool:
    """Return whether the attack may be tried.

    A fork bomb may run only where the kernel itself limits processes, and not just our watcher.
    """
    return not attack.name.startswith("fork_bomb") or os.geteuid() != 0 or has_own_user(isolation)


def system_v_objects() -> set[str]:
    """Return the System V objects that have the attack's key, such as "shm 3"."""
    objects = set()
    for listing in Path("/proc/sysvipc").glob("*"):
        rows = [line.split() for line in listing.read_text().splitlines()[1:]]
        objects |= {f"{listing.name} {row[1]}" for row in rows if row[0] == str(0x43555345)}
    return objects


class Range:
    """The place where attacks are run.

    It has secrets to steal, listeners to reach (TCP, UDP, Unix sockets and named pipes), and a folder that is open to
    everybody. The pipes and one socket are below /opt, if that is writable, because the sandbox's read-only mount of
    system folders does not close them.
    """

    def __init__(self, folder: Path, arch: str = "sm_90") -> None:
        self.arch = arch
        self.scratch, self.cases = folder / "scratch", folder / "cases"
        folder.chmod(0o711)
        self.scratch.mkdir()
        self.scratch.chmod(0o711)
        self.cases.mkdir(mode=0o700)
        self.victim = Path(tempfile.mkdtemp(prefix="open-to-everybody-"))
        self.victim.chmod(0o777)
        self.secret = "s" + secrets.token_hex(SIZE)[: SIZE - 1]
        self.reference, self.input = self.cases / "reference.bin", self.cases / "input.bin"
        self.opened = self.victim / "reference.bin"
        for file in (self.reference, self.opened):
            file.write_text(self.secret)
        self.opened.chmod(0o644)
        self.input.write_bytes(EIGHT_FLOATS)
        self.below_system = Path(tempfile.mkdtemp(dir="/opt" if os.access("/opt", os.W_OK) else self.victim))
        self.below_system.chmod(0o755)
        self.pipes = []
        for name in ("pipe", "full"):
            os.mkfifo(self.below_system / name)
            os.chmod(self.below_system / name, 0o666)
            self.pipes.append(os.open(self.below_system / name, os.O_RDWR | os.O_NONBLOCK))
        os.write(self.pipes[1], b"x")
        special_files.cache_clear()  # the sandbox has to find the pipes and sockets that were made here
        tcp = socket.create_server(("127.0.0.1", 0))
        self.port = tcp.getsockname()[1]
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp.bind(("127.0.0.1", self.port))
        self.listeners = [tcp, udp]
        names = [f"{place}/listener" for place in (self.victim, self.below_system)]
        for name in (*names, f"\0cuset-attack-{self.port}", f"{self.victim}/listener-datagrams"):
            datagrams = name.endswith("datagrams")
            listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM if datagrams else socket.SOCK_STREAM)
            listener.bind(name)
            if not name.startswith("\0"):
                os.chmod(name, 0o777)
            if not datagrams:
                listener.listen()
            self.listeners.append(listener)
        for listener in self.listeners:
            listener.setblocking(False)

    @functools.cache  # noqa: B019  one range a process
    def binary(self, file: str) -> Path:
        """Return the binary of all attacks in a file. It is compiled once."""
        limits = replace(COMPILE_LIMITS, wall_s=PATIENCE_S)
        source = (ATTACKS / file).read_text(encoding="utf-8")
        # Compiling for the host alone takes less than half the time.
        for_host = () if "__global__" in source else ("-x", "c++")
        compiler = Compiler(arch=self.arch, flags=("-O1", "-std=c++17", *for_host), limits=limits)
        compiled = compiler.compile(source)
        if compiled.binary is None:
            raise SandboxError(f"{file} does not compile: {compiled.message}")
        return compiled.binary

    def arrivals(self) -> int:
        """Return the number of connections, datagrams and bytes in the pipe that came in since the last call."""
        count = 0
        for listener in self.listeners:
            with suppress(BlockingIOError):
                while True:
                    listener.recv(64) if listener.type == socket.SOCK_DGRAM else listener.accept()[0].close()
                    count += 1
        with suppress(BlockingIOError):
            count += len(os.read(self.pipes[0], 64))
        return count

    def processes(self) -> list[str]:
        """Return the processes that an attack has left.

        They run in the scratch folder, come from it, or have it in their environment or arguments.
        """
        leftovers = []
        for process in psutil.process_iter():
            try:
                environment = process.environ()
                traces = [process.exe(), process.cwd(), *environment.values(), *process.cmdline()]
            except (psutil.Error, OSError):  # the process's folder may be too deep for a path
                continue
            # This script and the judge's helper processes are meant to be there.
            is_ours = process.pid == os.getpid() or environment.get("CUSET_SCRATCH") == str(self.scratch)
            if not is_ours and any(str(self.scratch) in trace for trace in traces):
                leftovers.append(f"{process.pid} {process.name()}")
        return leftovers

    def escaped(self) -> list[str]:
        """Return the files that an attack wrote outside of its sandbox, and remove them."""
        places = [self.victim, Path("/tmp"), Path("/var/tmp"), Path("/dev/shm"), self.scratch]
        paths = [path for place in places if (path := place / "cuset-escaped").exists()]
        for path in paths:
            path.unlink()
        return [str(path) for path in paths]

    def run(self, attack: Attack, isolation: Isolation, gpu: Gpu | None = None) -> Outcome:
        """Run one attack, then check everything that it could have done."""
        originals = [self.reference, self.opened, self.input]
        if attack.source is None:
            originals.append(self.binary("gpu_attacks.cu" if attack.group == "device" else "attacks.cu"))
        hashes, objects = list(map(file_sha256, originals)), system_v_objects()
        begin = time.perf_counter()
        if attack.source is not None:
            verdict, message, stolen, look_s = self._compile(attack, isolation)
        else:
            limits = Limits(**{"wall_s": PATIENCE_S, **attack.limits})
            for name in filter(None, (attack.after, attack.program or attack.name)):
                verdict, message, stolen, look_s = self._execute(originals[-1], name, isolation, gpu, limits)
        seconds = time.perf_counter() - begin
        wrong = f"verdict {verdict}, expected {' or '.join(attack.verdicts)}: {message[:200]}"
        arrived = self.arrivals()
        leftovers = {
            "processes left": self.processes(),
            "files left": [str(path) for path in self.scratch.iterdir()],
            "written outside": self.escaped(),
            "System V objects left": sorted(system_v_objects() - objects),
        }
        problems = [wrong] if verdict not in attack.verdicts else []
        problems += ["a secret came out"] if stolen else []
        problems += [f"{arrived} messages arrived at a listener"] if arrived else []
        problems += ["an original was changed"] if list(map(file_sha256, originals)) != hashes else []
        problems += [f"{what}: {', '.join(items)}" for what, items in leftovers.items() if items]
        row = (attack.name, attack.group, attack.what, str(isolation), verdict, round(seconds, 3), not problems)
        return Outcome(*row, tuple(problems), message[:300], round(look_s, 3))

    def _compile(self, attack: Attack, isolation: Isolation) -> tuple[str, str, bool, float]:
        """Compile an attack on the compiler and return what `_execute` returns, without a look at it."""
        limits = Limits(**{**asdict(COMPILE_LIMITS), "wall_s": PATIENCE_S, **attack.limits})
        source = attack.source.replace("@REFERENCE@", str(self.reference)).replace("@OPEN@", str(self.opened))
        compiled = Compiler(arch=self.arch, isolation=isolation, limits=limits).compile(source)
        built = compiled.binary.read_bytes() if compiled.binary is not None else b""
        stolen = self.secret in compiled.message or self.secret.encode() in built
        return str(compiled.verdict or "ok"), compiled.message, stolen, 0.0

    def _execute(
        self, binary: Path, name: str, isolation: Isolation, gpu: Gpu | None, limits: Limits
    ) -> tuple[str, str, bool, float]:
        """Run a program and return verdict, message, whether the secret came out, and the slowest look in seconds."""
        request = self.cases / "attack.txt"
        request.write_text(f"{name}\n{self.reference}\n{self.port}\n{self.victim}\n{self.below_system}\n")
        files = {"inputs": {"data/attack.txt": request, "data/input.bin": self.input}, "outputs": {OUTPUT: (SIZE,)}}
        with run_program(binary, **files, limits=limits, isolation=isolation, gpu=gpu) as ran:
            output_text = "".join(path.read_bytes().decode(errors="replace") for path in ran.outputs.values())
            stolen = self.secret in output_text + ran.finished.stdout + ran.finished.stderr
            return str(ran.verdict or "ok"), ran.message, stolen, ran.finished.look_s


@contextmanager
def attack_range(arch: str = "sm_90") -> Iterator[Range]:
    """Yield a `Range` in a folder that the users of programs can pass through. It is removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix="attack-range-"))
    place = Range(folder, arch)
    environment = {"CUSET_SCRATCH": str(place.scratch), "CUSET_CACHE": str(folder / "cache"), TOKEN: place.secret}
    try:
        with patch.dict(os.environ, environment):
            yield place
    finally:
        for listener in place.listeners:
            listener.close()
        for pipe in place.pipes:
            os.close(pipe)
        for tree in (place.below_system, place.victim, folder):
            remove_tree(tree)


def chosen(tried: list[Any], only: list[str]) -> list[Any]:
    """Return the attacks or cheats named in `only`, or all if it is empty.

    Raises:
        SystemExit: there is none of a name.
    """
    if unknown := set(only) - {one.name for one in tried}:
        raise SystemExit(f"no such attack here: {', '.join(sorted(unknown))}")
    return [one for one in tried if not only or one.name in only]


def try_attacks(gpus: list[Gpu], isolation: Isolation, only: list[str]) -> Iterator[Outcome]:
    """Yield the outcomes of all attacks, or of those in `only`.

    Attacks on the device run only if there is a GPU. After each, a right program runs on the same GPU. It must not
    suffer from the attack.
    """
    attacks = load_attacks() + (load_attacks("gpu_attacks.json") if gpus else [])
    with attack_range(gpus[0].arch if gpus else "sm_90") as place:
        for attack in chosen(attacks, only):
            if not is_safe_here(attack, isolation):
                print(f"{isolation}, {attack.name}: left out, nothing but our watcher would hold it here")
                continue
            if attack.group != "device":
                yield place.run(attack, isolation)
                continue
            with lease_gpu(gpus) as gpu:
                outcome = place.run(attack, isolation, gpu)
                if after := place.run(GOOD_ON_GPU, isolation, gpu).problems:
                    problems = (*outcome.problems, f"the next program failed: {after}")
                    outcome = replace(outcome, contained=False, problems=problems)
            yield outcome


def try_cheats(gpus: list[Gpu], isolation: Isolation, only: list[str]) -> Iterator[Outcome]:
    """Yield the outcomes of an honest answer and of all cheats, or of those named in `only`.

    With a GPU these are the cheats that need one, without a GPU those for the CPU. Cheats whose `gpu` is None run in
    both cases.
    """
    sys.path.insert(0, str(TESTS / "helpers"))
    import cheats

    options: dict[str, Any] = {"device": "cpu", "seeds": 3}
    if gpus:
        recorder = find_recorder()
        options = {"device": "cuda", "seeds": 2, "trials": 20, "budget_s": 3.0, "arch": gpus[0].arch}
        options |= {"gpus": GpuPool(gpus[:1]), "recorder": recorder if isinstance(recorder, Recorder) else None}
    limits = Limits(wall_s=60.0, processes=256)
    judge = ModuleJudge(seed=cheats.SEED, limits=limits, isolation=isolation, **options)
    honest = cheats.Cheat("honest", "", "does the work", cheats.RIGHT, gpu=bool(gpus))
    for cheat in chosen([cheat for cheat in (honest, *cheats.MODULES) if cheat.gpu in (None, bool(gpus))], only):
        reference, code = cheat.reference, cheat.code
        if gpus:
            reference, code = map(cheats.on_a_gpu, (reference, code))
        task = ModuleTask("cheated", "cheated", "level1", {1: ""}, None, reference, "cheats.py:1")
        begin = time.perf_counter()
        judged = judge.judge(task, code)
        problems = [] if judged.verdict in cheat.verdicts else [f"verdict {judged.verdict}: {judged.message[:200]}"]
        if judged.speedup and judged.speedup > cheats.PAID:
            problems.append(f"paid: a speed-up of {judged.speedup:.2f}")
        speedup = f"speed-up {judged.speedup:.2f}" if judged.speedup else ""
        remarks = "; ".join((*judged.flags, judged.message, speedup))
        row = (cheat.name, cheat.group, cheat.what, str(isolation), str(judged.verdict))
        yield Outcome(*row, round(time.perf_counter() - begin, 3), not problems, tuple(problems), remarks[:300])


def write_table(path: Path, outcomes: list[Outcome], isolations: list[Isolation], gpus: list[Gpu]) -> None:
    """Write the outcomes and the facts about the machine on which they depend as JSON."""
    record = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "kernel": platform.release().split("-")[0],
        "own_user": {str(isolation): has_own_user(isolation) for isolation in isolations},
        "memory_account": memory_account(),
        "toolkit": find_toolkit().version,
        "gpu": gpus[0].name if gpus else None,
        "slowest_look_s": max(outcome.look_s for outcome in outcomes),
        "attacks": [asdict(outcome) for outcome in outcomes],
    }
    write_atomically(path, json.dumps(record, indent=1) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", default=[], help="names of attacks")
    parser.add_argument("--isolation", choices=["bubblewrap", "landlock"], action="append", help="default: both")
    parser.add_argument("--json", type=Path, help="where to write the outcomes")
    parser.add_argument("--no-gpu", action="store_true", help="leave the device attacks out")
    parser.add_argument("--cheats", action="store_true", help="cheats instead of attacks")
    options = parser.parse_args()
    isolations = []
    for name in options.isolation or ("bubblewrap", "landlock"):
        try:
            isolations.append(resolve_isolation(name))
        except SandboxError as error:
            print(f"left out: {error}", file=sys.stderr)
    gpus = [] if options.no_gpu else list_gpus()
    try_all = try_cheats if options.cheats else try_attacks
    outcomes = []
    for outcome in itertools.chain.from_iterable(try_all(gpus, isolation, options.only) for isolation in isolations):
        tried = f"{outcome.isolation}, {outcome.name}: {outcome.verdict}"
        times = f"in {outcome.seconds:.1f} s (look {outcome.look_s:.2f} s)"
        print(tried, times, "; ".join(outcome.problems), flush=True)
        outcomes.append(outcome)
        if options.json:
            write_table(options.json, outcomes, isolations, gpus)
    contained = sum(outcome.contained for outcome in outcomes)
    print(f"{len(outcomes)} tried, {contained} contained")
    return int(contained < len(outcomes))


if __name__ == "__main__":
    sys.exit(main())
