"""nvcc: where it is, and how it runs in the sandbox, with a cache: a source is compiled once, by whichever thread or process asks first."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sysconfig
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..files import file_sha256
from ..text import shorten
from .cache import cache_root, evict, file_lock
from .folders import out_of_room, remove_tree, scratch_folder, take_output
from .isolation import Isolation, resolve_isolation
from .limits import COMPILE_LIMITS, GIB, Limits, SandboxError, Verdict
from .process import run_sandboxed
from .supervision import Finished


CACHE_BYTES = 20 * GIB
MESSAGE_CHARS = 16_000
SETTINGS = ("NVCC_CCBIN", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS")
"""Variables that nvcc reads itself: passed on to it, and part of a cache key."""
_EVICT_EVERY = 64
_FORMAT = 2
_RANDOM = re.compile(r"tmpxft_[0-9a-f]+_[0-9a-f]+-\d+_")


@dataclass(frozen=True)
class Toolkit:
    """nvcc: the program itself, behind wrappers and links. version: such as "13.0.88". folder: the toolkit's root."""

    nvcc: Path
    version: str
    folder: Path

    @property
    def visible(self) -> tuple[Path, ...]:
        """Folders beside the standard ones that a compilation reads: the toolkit, and the host compiler's prefix."""
        root = self.folder
        for parent in self.nvcc.parents:  # wheels spread a toolkit over site-packages/nvidia/*
            if parent.name == "nvidia" and parent.parent.name in ("site-packages", "dist-packages"):
                root = parent
        found = [root]
        home = (Path.home(), *Path.home().parents)
        for host in (os.environ.get("NVCC_CCBIN"), shutil.which("g++")):
            for path in (Path(host), Path(host).resolve()) if host and os.path.isabs(host) else ():
                prefix = path.parent.parent
                found.append(path.parent if prefix in home else prefix)  # a compiler in ~/bin does not open the home
        return tuple(path for path in dict.fromkeys(found) if not path.is_relative_to("/usr") and path != Path("/bin"))


def _candidates() -> list[Path]:
    found = [os.environ.get("CUDACXX"), shutil.which("nvcc")]
    for name in ("CUDA_HOME", "CUDA_PATH"):
        if os.environ.get(name):
            found.append(os.path.join(os.environ[name], "bin", "nvcc"))
    found.append("/usr/local/cuda/bin/nvcc")
    wheels = Path(sysconfig.get_path("purelib")) / "nvidia"
    return [Path(name) for name in found if name] + sorted(wheels.glob("*/bin/nvcc"), reverse=True)


def _inspect(nvcc: Path) -> Toolkit | str:
    """The toolkit behind this nvcc, or what went wrong."""
    with tempfile.TemporaryDirectory(prefix="cuset-nvcc-") as folder:
        try:
            said = subprocess.run([nvcc, "--version"], capture_output=True, text=True, timeout=60).stdout
            Path(folder, "empty.cu").touch()
            plan = subprocess.run(
                [nvcc, "--dryrun", "empty.cu"], capture_output=True, text=True, timeout=60, cwd=folder
            ).stderr
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
    version = re.search(r"V(\d+\.\d+\.\d+)", said)
    if version is None:
        return f"`{nvcc} --version` names no version"
    here = re.search(r"^#\$ _HERE_=(.+)$", plan, re.MULTILINE)
    real = Path(here[1].strip()).resolve() / "nvcc" if here else nvcc.resolve()
    if not real.is_file():
        real = nvcc.resolve()
    return Toolkit(real, version[1], real.parent.parent)


@functools.lru_cache(maxsize=8)
def _find(candidates: tuple[Path, ...]) -> Toolkit:
    problems = []
    for candidate in candidates:
        if candidate.is_file():
            found = _inspect(candidate)
            if isinstance(found, Toolkit):
                return found
            problems.append(found)
    raise SandboxError(
        "no CUDA compiler found"
        + (f" ({'; '.join(problems)})" if problems else "")
        + ". Install the CUDA toolkit (or `pip install nvidia-cuda-nvcc`) and put nvcc on PATH, or set CUDA_HOME or CUDACXX."
    )


def find_toolkit() -> Toolkit:
    """$CUDACXX, nvcc on PATH, $CUDA_HOME, /usr/local/cuda, or NVIDIA's wheels, in this order.

    Raises SandboxError when none works.
    """
    return _find(tuple(_candidates()))


@dataclass(frozen=True)
class Compiled:
    """One compilation.

    verdict: None when it was built, else COMPILE_ERROR, COMPILE_TIMEOUT or INFRA_ERROR. binary: in the cache; only to be run
    with run_program. seconds: what nvcc took, also when that was at another time (`cached`). message: nvcc's diagnostics,
    without paths of this run, or why it was stopped. command: as it was run, in a folder that held program.cu.
    """

    verdict: Verdict | None
    binary: Path | None
    seconds: float
    cached: bool
    message: str
    command: tuple[str, ...]


class Compiler:
    """nvcc with fixed options; `compile` may be called by many threads, and beside other processes with the same cache."""

    def __init__(
        self,
        toolkit: Toolkit | None = None,
        *,
        arch: str = "sm_90",
        flags: Sequence[str] = ("-O3", "-std=c++17"),
        cache: Path | None = None,
        limits: Limits = COMPILE_LIMITS,
        isolation: Isolation | str = Isolation.AUTO,
    ) -> None:
        """arch: such as "sm_90" (Gpu.arch). cache: None is cache_root()/programs. Raises SandboxError without nvcc."""
        if not re.fullmatch(r"(sm|compute)_\d+[af]?|native|all|all-major", arch):
            raise SandboxError(f"arch={arch!r}: nvcc's -arch, such as sm_90; `Gpu.arch` is that of a GPU")
        self.toolkit = toolkit or find_toolkit()
        self.arch = arch
        self.flags = tuple(flags)
        self.cache = (cache_root() / "programs") if cache is None else Path(cache).absolute()
        self.limits = limits
        self.isolation = resolve_isolation(isolation)
        self._built = 0
        self._settings = {name: os.environ[name] for name in SETTINGS if name in os.environ}
        self.cache.mkdir(parents=True, exist_ok=True, mode=0o700)

    @property
    def command(self) -> tuple[str, ...]:
        """What is run in a folder that holds program.cu."""
        return (str(self.toolkit.nvcc), *self.flags, f"-arch={self.arch}", "program.cu", "-o", "program")

    def key(self, source: str) -> str:
        """SHA-256 of everything that decides what comes out."""
        parts = [_FORMAT, source, self.flags, self.arch, self.toolkit.version, platform.machine(), self._settings]
        return hashlib.sha256(json.dumps([*parts, str(self.isolation)]).encode(errors="surrogatepass")).hexdigest()

    def compile(self, source: str, *, again: bool = False) -> Compiled:
        """Compile a program, or take it from the cache; `again`: compile it in any case.

        A source that does not compile is remembered, too; a time-out, another limit, or a failure of ours is not.
        """
        key = self.key(source)
        entry = self.cache / key[:2] / key
        found = None if again else self._read(entry)
        if found is not None:
            return found
        with file_lock(self.cache / "locks" / f"{key[:3]}.lock"):
            found = None if again else self._read(entry)  # another may have built it while this one waited
            if found is not None:
                return found
            remove_tree(entry)
            compiled = self._build(source, entry)
        self._built += 1
        if self._built % _EVICT_EVERY == 0:
            with file_lock(self.cache / "locks" / "evict.lock"):
                evict(self.cache, CACHE_BYTES)
        return compiled

    def _read(self, entry: Path) -> Compiled | None:
        """The entry, or None when it is missing or damaged."""
        try:
            record = json.loads((entry / "record.json").read_text(encoding="utf-8"))
            binary = None
            if record["sha256"] is not None:
                binary = entry / "program"
                if file_sha256(binary) != record["sha256"]:
                    return None
            os.utime(entry)
            verdict = Verdict(record["verdict"]) if record["verdict"] else None
            return Compiled(verdict, binary, record["seconds"], True, record["message"], tuple(record["command"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _build(self, source: str, entry: Path) -> Compiled:
        with scratch_folder() as scratch:
            folder = scratch / "compile"
            folder.mkdir()
            (folder / "program.cu").write_text(source, encoding="utf-8", errors="replace", newline="")
            finished = run_sandboxed(
                self.command,
                folder=folder,
                visible=self.toolkit.visible,
                limits=self.limits,
                environment=self._settings,
                isolation=self.isolation,
            )
            verdict, message = self._judge(finished, folder)
            product = scratch / "program"
            if verdict is None and (refused := take_output(folder, "program", product)):
                verdict = Verdict.COMPILE_ERROR
                message = f"nvcc ended with 0, but left no program: {refused.reason}\n{message}"
            failed = verdict is Verdict.COMPILE_ERROR and finished.stopped is None
            lacking = (finished.lacked_memory() or out_of_room(folder)) if failed else None
            if lacking:  # then the source is not to blame
                verdict, message = Verdict.INFRA_ERROR, f"nvcc failed, and {lacking}"
            binary = None
            if finished.stopped is None and verdict is not Verdict.INFRA_ERROR:
                try:
                    binary = self._store(entry, product, verdict, finished.seconds, message)
                except OSError as error:
                    verdict, message = Verdict.INFRA_ERROR, f"the cache {self.cache} cannot be written: {error}"
        return Compiled(verdict, binary, finished.seconds, False, message, self.command)

    def _judge(self, finished: Finished, folder: Path) -> tuple[Verdict | None, str]:
        if finished.infra is not None:
            return Verdict.INFRA_ERROR, finished.infra
        said = "\n".join(part for part in (finished.stderr.strip(), finished.stdout.strip()) if part)
        said = _RANDOM.sub("", said.replace(f"{folder}/tmp/", "").replace(f"{folder}/", "").replace(str(folder), "."))
        said = shorten(said, MESSAGE_CHARS)
        limits = {
            "wall": f"wall time limit of {self.limits.wall_s:g} s",
            "cpu": f"CPU time limit of {self.limits.cpu_s} s",
        }
        if finished.stopped in limits:
            return Verdict.COMPILE_TIMEOUT, f"nvcc was stopped at its {limits[finished.stopped]}\n{said}".strip()
        if finished.stopped is not None:
            return Verdict.COMPILE_ERROR, f"nvcc was stopped at its limit of {finished.stopped}\n{said}".strip()
        if finished.returncode != 0:
            return Verdict.COMPILE_ERROR, said or f"nvcc ended with {finished.returncode} and said nothing"
        return None, said

    def _store(self, entry: Path, product: Path, verdict: Verdict | None, seconds: float, message: str) -> Path | None:
        """Write the entry beside its place and move it there in one step; the binary in it, if there is one."""
        entry.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=".new-", dir=entry.parent))
        try:
            digest = None
            if verdict is None:
                shutil.move(product, fresh / "program")
                (fresh / "program").chmod(0o755)
                digest = file_sha256(fresh / "program")
            record = {"verdict": verdict, "message": message, "seconds": seconds, "command": self.command}
            record |= {"sha256": digest, "written": time.time()}
            (fresh / "record.json").write_text(json.dumps(record), encoding="utf-8")
            os.rename(fresh, entry)
        finally:
            remove_tree(fresh)
        return entry / "program" if verdict is None else None
