"""Find nvcc and run it in the sandbox, with a cache of compiled programs.

The compiler is confined like a program, because a source under test can make it read files or run for ever. The cache
is shared by threads and processes: a source is compiled once, by whichever asks first.
"""

import functools
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..files import file_sha256
from ..text import shorten
from .cache import Cache, Held
from .folders import cache_root, out_of_room, scratch_folder, take_output
from .isolation import Isolation, resolve_isolation
from .limits import COMPILE_LIMITS, Limits, SandboxError, Verdict
from .process import in_fresh_folder, run_sandboxed
from .supervision import Finished


MESSAGE_CHARS = 16_000
# Environment variables that nvcc reads. They are passed on to it, and are part of a cache key.
SETTINGS = ("NVCC_CCBIN", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS")
_FORMAT = 2  # version of the cache entries, part of their keys
_RANDOM = re.compile(r"tmpxft_[0-9a-f]+_[0-9a-f]+-\d+_")


@dataclass(frozen=True)
class Toolkit:
    """A CUDA toolkit.

    Attributes:
        nvcc: The compiler itself, behind wrappers and links.
        version: Such as "13.0.88".
        folder: The root of the toolkit.
    """

    nvcc: Path
    version: str
    folder: Path

    @property
    def visible(self) -> tuple[Path, ...]:
        """Folders a compilation reads in addition to the standard ones: the toolkit, the host compiler's prefix."""
        # Wheels spread a toolkit over site-packages/nvidia/*.
        wheels = ("site-packages/nvidia", "dist-packages/nvidia")
        folders = [next((above for above in self.nvcc.parents if any(map(above.match, wheels))), self.folder)]
        home_and_above = (Path.home(), *Path.home().parents)
        for host in (os.environ.get("NVCC_CCBIN"), shutil.which("g++")):
            for path in (Path(host), Path(host).resolve()) if host and os.path.isabs(host) else ():
                prefix = path.parent.parent
                # A compiler in ~/bin must not make the whole home visible.
                folders.append(path.parent if prefix in home_and_above else prefix)
        return tuple(
            path for path in dict.fromkeys(folders) if not path.is_relative_to("/usr") and path != Path("/bin")
        )


def _inspect(nvcc: Path) -> Toolkit:
    """Return the toolkit behind this nvcc. Raises OSError, ValueError or TimeoutExpired if it does not work."""
    with scratch_folder() as folder:
        (folder / "empty.cu").touch()
        version_run, dry_run = (
            subprocess.run([nvcc, *what], capture_output=True, text=True, timeout=60, cwd=folder)
            for what in (["--version"], ["--dryrun", "empty.cu"])
        )
    version = re.search(r"V(\d+\.\d+\.\d+)", version_run.stdout)
    if version is None:
        raise ValueError(f"`{nvcc} --version` names no version")
    nvcc_folder = re.search(r"^#\$ _HERE_=(.+)$", dry_run.stderr, re.MULTILINE)
    real_nvcc = Path(nvcc_folder[1].strip(), "nvcc").resolve() if nvcc_folder else nvcc.resolve()
    return Toolkit(real_nvcc, version[1], real_nvcc.parent.parent)


@functools.lru_cache(maxsize=8)
def _find(candidates: tuple[Path, ...]) -> Toolkit:
    """Return the toolkit of the first nvcc that works."""
    problems = []
    for candidate in filter(Path.is_file, candidates):
        try:
            return _inspect(candidate)
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            problems.append(str(error))
    tried = f" ({'; '.join(problems)})" if problems else ""
    fix = "Install the CUDA toolkit (or `pip install nvidia-cuda-nvcc`) and put nvcc on PATH"
    raise SandboxError(f"no CUDA compiler found{tried}. {fix}, or set CUDA_HOME or CUDACXX.")


def find_toolkit() -> Toolkit:
    """Return the first CUDA toolkit that works.

    Tried are, in this order: $CUDACXX, nvcc on PATH, $CUDA_HOME, $CUDA_PATH, /usr/local/cuda, and NVIDIA's wheels.

    Raises:
        SandboxError: None works.
    """
    homes = (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda")
    named = [os.environ.get("CUDACXX"), shutil.which("nvcc"), *(f"{home}/bin/nvcc" for home in homes if home)]
    wheels = Path(sysconfig.get_path("purelib"), "nvidia").glob("*/bin/nvcc")
    return _find((*(Path(name) for name in named if name), *sorted(wheels, reverse=True)))


@dataclass(frozen=True)
class Compiled:
    """The result of one compilation.

    Attributes:
        verdict: None if the program was built, else COMPILE_ERROR, COMPILE_TIMEOUT or INFRA_ERROR.
        binary: The program in the cache, or None. Run it only with `run_program`, and only as long as `held` lives.
        seconds: The time nvcc took, also if that was in an earlier compilation.
        message: nvcc's diagnostics without paths of this run, or why nvcc was stopped.
        held: The lock that keeps the entry in the cache.
    """

    verdict: Verdict | None
    binary: Path | None
    seconds: float
    cached: bool
    message: str
    held: Held | None = field(default=None, compare=False, repr=False)


@dataclass
class Compiler:
    """nvcc with fixed options.

    `compile` is thread-safe, and other processes may use the same cache at the same time.

    Attributes:
        arch: The value of -arch, such as "sm_90" (`Gpu.arch`).
        flags: nvcc's flags for a single source.
        cache: The folder of the cache. None means cache_root()/programs.
        limits: Limits of one compilation.
        isolation: The sandbox to use (see `resolve_isolation`).
        visible: Folders that nvcc reads in addition to its toolkit.

    Raises:
        SandboxError: There is no nvcc, or `arch` is no value of -arch.
    """

    toolkit: Toolkit = field(default_factory=find_toolkit)
    arch: str = "sm_90"
    flags: Sequence[str] = ("-O3", "-std=c++17")
    cache: Path | None = None
    limits: Limits = COMPILE_LIMITS
    isolation: Isolation | str = Isolation.AUTO
    visible: Sequence[Path] = ()

    def __post_init__(self) -> None:
        if not re.fullmatch(r"(sm|compute)_\d+[af]?|native|all|all-major", self.arch):
            raise SandboxError(f"arch={self.arch!r}: nvcc's -arch, such as sm_90; `Gpu.arch` is that of a GPU")
        self.cache = Path(self.cache or cache_root() / "programs").absolute()
        self.isolation = resolve_isolation(self.isolation)
        self._settings = {name: os.environ[name] for name in SETTINGS if name in os.environ}
        self._entries = Cache(self.cache)

    def command(self, options: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the command that is run in the folder with the sources.

        `options` include the paths to compile. Empty means `flags` and program.cu.
        """
        flags, named = (options, ()) if options else (self.flags, ("program.cu",))
        arch = () if {"-gencode", "--generate-code"} & set(flags) else (f"-arch={self.arch}",)
        return (str(self.toolkit.nvcc), *flags, *arch, *named, "-o", "program")

    def key(self, source: str | Mapping[str, str], options: Sequence[str] = ()) -> str:
        """Return the cache key: the SHA-256 of everything that decides the result. For the arguments see `compile`."""
        parts = [_FORMAT, source, self.command(options)[1:], self.toolkit.version, platform.machine(), self._settings]
        return hashlib.sha256(json.dumps([*parts, str(self.isolation)]).encode(errors="surrogatepass")).hexdigest()

    def compile(self, source: str | Mapping[str, str], options: Sequence[str] = ()) -> Compiled:
        """Compile a program, or take it from the cache.

        A compile error is also cached. A time-out, another limit, or a failure of the judge is not.

        Args:
            source: A source text, compiled with the compiler's flags. Or all files of a program, path -> text.
            options: For several files, nvcc's options with the paths to compile.
        """
        sources = {"program.cu": source} if isinstance(source, str) else source
        key = self.key(source, options)
        compiled, held = self._entries.take(key, self._read, lambda entry: self._build(sources, options, entry))
        return replace(compiled, held=held)

    def _read(self, entry: Path) -> Compiled | None:
        """Return the result that an entry holds, or None if the entry is missing or damaged."""
        try:
            record = json.loads((entry / "record.json").read_text(encoding="utf-8"))
            verdict = Verdict(record["verdict"]) if record["verdict"] else None
            binary = None if verdict else entry / "program"
            is_whole = binary is None or file_sha256(binary) == record["sha256"]
            return Compiled(verdict, binary, record["seconds"], True, record["message"]) if is_whole else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _build(self, sources: Mapping[str, str], options: Sequence[str], entry: Path) -> Compiled:
        """Compile in a scratch folder and store the result in the cache."""

        def run(scratch: Path) -> Finished:
            folder = scratch / "compile"
            for name, text in sources.items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_text(text, encoding="utf-8", errors="replace", newline="")
            return run_sandboxed(
                self.command(options),
                folder=folder,
                visible=(*self.toolkit.visible, *self.visible),
                limits=self.limits,
                environment=self._settings,
                isolation=self.isolation,
            )

        with in_fresh_folder(run) as (scratch, finished):
            folder = scratch / "compile"

            def result(verdict: Verdict | None, message: str) -> Compiled:
                return Compiled(verdict, None if verdict else entry / "program", finished.seconds, False, message)

            if finished.infra is not None:
                return result(Verdict.INFRA_ERROR, finished.infra)
            printed = "\n".join(part for part in (finished.stderr.strip(), finished.stdout.strip()) if part)
            printed = printed.replace(f"{folder}/tmp/", "").replace(f"{folder}/", "").replace(str(folder), ".")
            message = printed = shorten(_RANDOM.sub("", printed), MESSAGE_CHARS)
            if finished.stopped is not None:
                verdict = Verdict.COMPILE_TIMEOUT if finished.out_of_time else Verdict.COMPILE_ERROR
                return result(verdict, f"nvcc {finished.ending(self.limits)}\n{printed}".strip())
            product, verdict = scratch / "program", Verdict.COMPILE_ERROR
            if finished.returncode != 0:
                message = printed or f"nvcc {finished.ending(self.limits)} and said nothing"
            elif refused := take_output(folder, "program", product):
                message = f"nvcc ended with 0, but left no program: {refused.reason}\n{printed}"
            else:
                verdict = None
            # The source is not to blame if memory or disk space was lacking.
            if verdict is not None and (lacking := finished.lacked_memory() or out_of_room(folder)):
                return result(Verdict.INFRA_ERROR, f"nvcc failed, and {lacking}")
            record = {"verdict": verdict, "message": message, "seconds": finished.seconds}
            try:
                with self._entries.new(entry) as fresh:
                    if verdict is None:
                        shutil.move(product, fresh / "program")
                        (fresh / "program").chmod(0o555)
                        record["sha256"] = file_sha256(fresh / "program")
                    (fresh / "record.json").write_text(json.dumps(record), encoding="utf-8")
                self._entries.drop()
            except OSError as error:
                return result(Verdict.INFRA_ERROR, f"the cache {self.cache} cannot be written: {error}")
            return result(verdict, message)


@functools.cache
def compile_library(
    sources: tuple[Path, ...],
    options: tuple[str, ...],
    toolkit: Toolkit,
    isolation: Isolation,
    *,
    arch: str = "sm_90",
    visible: tuple[Path, ...] = (),
) -> Compiled:
    """Compile one of this package's shared libraries, which programs under test load.

    Headers (.h) among the sources are not compiled. nvcc gets these further `options`. For the others see `Compiler`.

    Raises:
        SandboxError: nvcc refuses the sources.
    """
    limits = replace(COMPILE_LIMITS, wall_s=300.0, cpu_s=300.0)  # long enough on a busy machine, too
    compiler = Compiler(toolkit, arch, limits=limits, isolation=isolation, visible=visible)
    compiled_names = [path.name for path in sources if path.suffix != ".h"]
    options = ["-shared", "-std=c++17", "-O3", "-Xcompiler", "-fPIC", *options, *compiled_names]
    compiled = compiler.compile({path.name: path.read_text(encoding="utf-8") for path in sources}, options)
    if compiled.binary is None:
        raise SandboxError(f"nvcc refuses {sources[0].name}: {compiled.message[-1000:]}")
    return compiled
