"""`cuset evaluate` on small tasks that need no GPU, and the two ways in which this machine can confine programs."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from commands import cuset
from host_programs import HOST_FLAGS, TASKS, arguments
from worker_folders import shared_folder

from cuset_stage.judge.results import Results, read_results
from cuset_stage.sandbox import Finished, Isolation, SandboxError, resolve_isolation, run_sandboxed


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all tests: nvcc compiles a program once."""
    return shared_folder(tmp_path_factory, "judge-cache")


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Caches of this test alone."""
    monkeypatch.setenv("CUSET_CACHE", str(tmp_path / "root"))


@pytest.fixture(scope="module")
def judge(cache: Path) -> Any:
    """Of programs, without a GPU."""
    from cuset_stage.judge.oracle import CaseCache
    from cuset_stage.judge.programs import ProgramJudge
    from cuset_stage.sandbox import Compiler, Limits

    compiler = Compiler(arch="sm_90", cache=cache / "programs", flags=HOST_FLAGS)
    return ProgramJudge(compiler, CaseCache(cache / "cases"), limits=Limits(wall_s=600.0))


def working(isolation: Isolation) -> Isolation:
    """What is asked for, where it works here."""
    try:
        return resolve_isolation(isolation)
    except SandboxError as error:
        pytest.skip(str(error))


@pytest.fixture(params=[Isolation.BUBBLEWRAP, Isolation.LANDLOCK])
def isolation(request: pytest.FixtureRequest) -> Isolation:
    return working(request.param)


@pytest.fixture(scope="module", autouse=True)
def _no_idle_servers() -> Iterator[None]:
    """A file's script servers end with it: watching an idle one takes 4 % of a core, for the rest of the tests."""
    yield
    if server := sys.modules.get("cuset_stage.judge.oracle"):
        for idle in server._idle.values():
            while idle:
                idle.pop().close()


@pytest.fixture
def sandboxed() -> None:
    """With `forked`: scripts and modules of this test run in the real sandbox."""


@pytest.fixture
def forked(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The scripts of oracles, and modules, run in forks of this process."""
    if "sandboxed" not in request.fixturenames:
        from forked_runs import run_forked

        def run(command: list[str], **options: Any) -> Finished:
            """Servers of scripts outlive a test."""
            return (run_forked if "worker.py" in command else run_sandboxed)(command, **options)

        monkeypatch.setattr("cuset_stage.judge.oracle.run_sandboxed", run_forked)
        monkeypatch.setattr("cuset_stage.sandbox.background.run_sandboxed", run)


_checked: set[tuple[Any, ...]] = set()


@pytest.fixture
def every_check() -> None:
    """With `options_checked_once`: the judge tries nvcc's options in every run of this test, as it does outside of tests."""


@pytest.fixture
def options_checked_once(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The judge tries the same options of nvcc once."""
    if "every_check" in request.fixturenames:
        return
    from cuset_stage.judge import bench

    def check(compiler: Any, real: Any = bench.check_options) -> None:
        options = (compiler.flags, compiler.arch, str(compiler.isolation))
        if options not in _checked:
            real(compiler)
            _checked.add(options)

    monkeypatch.setattr(bench, "check_options", check)


@pytest.fixture
def run(tmp_path: Path, cache: Path, options_checked_once: None, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run `cuset evaluate` on answers and tasks; its result, and what the results file says then."""
    monkeypatch.setenv("CUSET_CACHE", str(cache))

    def run(
        answers: list[dict[str, Any]], *options: str, tasks: list[dict[str, Any]] = TASKS, code: int = 0
    ) -> tuple[str, Results | None]:
        output = tmp_path / "results.jsonl"
        said = cuset(*arguments(tmp_path, answers, tasks), *options, exit_code=code)
        return said, read_results(output) if output.exists() else None

    return run


@pytest.fixture
def small_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A disk of 700 MiB, for scratch folders."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=700m", "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    monkeypatch.setenv("CUSET_SCRATCH", str(place))
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)
