"""Fixtures for tests that judge answers: a judge and `cuset evaluate` for tasks without a GPU, and both kinds of
isolation.

By default the judge's scripts run in the real sandbox. With `forked` they run in forks (forked_runs.py), which is much
faster.
"""

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from commands import cuset
from host_programs import HOST_FLAGS, TASKS, arguments
from worker_folders import shared_folder

from cuset_stage.judge.results import Results, read_results
from cuset_stage.sandbox import Finished, Isolation, SandboxError, remove_tree, resolve_isolation, run_sandboxed


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder that all tests and all workers share, so that nvcc compiles a program once."""
    return shared_folder(tmp_path_factory, "judge-cache")


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give this test caches of its own, which are empty at the start."""
    monkeypatch.setenv("CUSET_CACHE", str(tmp_path / "root"))


@pytest.fixture(scope="module")
def judge(cache: Path) -> Any:
    """A judge of programs that uses no GPU."""
    from cuset_stage.judge.oracle import CaseCache
    from cuset_stage.judge.programs import ProgramJudge
    from cuset_stage.sandbox import Compiler, Limits

    compiler = Compiler(arch="sm_90", cache=cache / "programs", flags=HOST_FLAGS)
    return ProgramJudge(compiler, CaseCache(cache / "cases"), limits=Limits(wall_s=600.0))


def working(isolation: Isolation) -> Isolation:
    """Return this isolation, or skip the test if it does not work on this machine."""
    try:
        return resolve_isolation(isolation)
    except SandboxError as error:
        pytest.skip(str(error))


@pytest.fixture(params=[Isolation.BUBBLEWRAP, Isolation.LANDLOCK])
def isolation(request: pytest.FixtureRequest) -> Isolation:
    """Run the test once with each kind of isolation that works on this machine."""
    return working(request.param)


@pytest.fixture(scope="module", autouse=True)
def _no_idle_servers() -> Iterator[None]:
    """End the idle script servers after each test file.

    Watching one takes 4 % of a core, for the rest of the test run.
    """
    yield
    if oracle := sys.modules.get("cuset_stage.judge.oracle"):
        for servers in oracle._idle.values():
            while servers:
                servers.pop().close()


@pytest.fixture
def sandboxed() -> None:
    """Let this test's scripts and modules run in the real sandbox although it uses `forked`."""


@pytest.fixture
def forked(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the scripts of oracles, and modules, in forks instead of the sandbox."""
    if "sandboxed" not in request.fixturenames:
        from forked_runs import run_forked

        def run(command: list[str], **options: Any) -> Finished:
            """Fork for modules alone: script servers outlive a test, so they stay in the sandbox."""
            return (run_forked if "worker.py" in command else run_sandboxed)(command, **options)

        monkeypatch.setattr("cuset_stage.judge.oracle.run_sandboxed", run_forked)
        monkeypatch.setattr("cuset_stage.sandbox.background.run_sandboxed", run)


@pytest.fixture(scope="session")
def options_checked_once() -> Iterator[None]:
    """Let the judge try out each set of nvcc options once in a test process, to save a compilation per run.

    It tries them on a program without a kernel, so that HOST_FLAGS pass.
    """
    from cuset_stage.judge import bench

    passed: set[tuple[Any, ...]] = set()

    def check(compiler: Any, real: Any = bench.check_options) -> None:
        options = (compiler.flags, compiler.arch, str(compiler.isolation))
        if options not in passed:
            real(compiler)
            passed.add(options)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(bench, "check_options", check)
        patched.setattr(bench, "SMALLEST", "int main() {}\n")
        yield


@pytest.fixture
def run(tmp_path: Path, cache: Path, options_checked_once: None, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function that runs `cuset evaluate` and returns its output and the results file, or None where there is no
    file.
    """
    monkeypatch.setenv("CUSET_CACHE", str(cache))

    def run(
        answers: list[dict[str, Any]], *options: str, tasks: list[dict[str, Any]] = TASKS, code: int = 0
    ) -> tuple[str, Results | None]:
        output = tmp_path / "results.jsonl"
        printed = cuset(*arguments(tmp_path, answers, tasks), *options, exit_code=code)
        return printed, read_results(output) if output.exists() else None

    return run


@pytest.fixture(scope="session")
def open_folder() -> Iterator[Callable[[], Path]]:
    """A function that makes a folder which other users can pass through. The folders are removed at the end.

    Sandboxed programs may run as another user, who cannot enter pytest's own temporary folders.
    """
    made: list[Path] = []

    def make() -> Path:
        made.append(Path(tempfile.mkdtemp(prefix="cuset-test-")))
        made[-1].chmod(0o711)
        return made[-1]

    yield make
    for folder in made:
        remove_tree(folder)


@pytest.fixture
def small_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file system of 700 MiB, mounted for this test, that holds its scratch folders."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=700m", "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    monkeypatch.setenv("CUSET_SCRATCH", str(place))
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)
