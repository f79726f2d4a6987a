"""One answer, judged: every verdict from a real compiler and a real run, without a GPU."""

import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fake_nvml import fake_nvml
from host_programs import BROKEN, PROGRAM, REFERENCE, make_task, write_lines

from cuset_stage.judge.devices import GpuPool, NoGpuLeft
from cuset_stage.judge.modules import ModuleJudge
from cuset_stage.judge.programs import ProgramJudge
from cuset_stage.sandbox import Compiler, Gpu, Isolation, Limits, Verdict, remove_tree, resolve_isolation
from cuset_stage.tasks import load_tasks


@pytest.fixture(scope="module")
def lost_gpu() -> Gpu:
    """A GPU that no machine has: what a driver says about one that fell off the bus."""
    return Gpu(0, "GPU-00000000-0000-0000-0000-000000000000", "none", "0", "9.0", 1 << 30)


def test_passes_every_case_in_order(judge: ProgramJudge, tmp_path: Path) -> None:
    judged = judge.judge(make_task(tmp_path, "right", "slow"), PROGRAM)
    assert (judged.verdict, judged.compiled, judged.case) == (Verdict.PASSED, True, None), judged.message
    assert [case.name for case in judged.cases] == ["right", "slow"]
    assert all(case.verdict is Verdict.PASSED and case.max_abs_error == 0 for case in judged.cases)
    assert judged.run_s == pytest.approx(sum(case.run_s for case in judged.cases))


@pytest.mark.parametrize(
    ("mode", "verdict", "says"),
    [
        ("wrong", Verdict.MISMATCH, "1 of 101 values are wrong"),
        ("nan", Verdict.MISMATCH, "not finite"),
        ("short", Verdict.MISMATCH, "400 bytes, expected 404"),
        ("silent", Verdict.MISSING_OUTPUT, "data/y.bin: not written"),
        ("returns_3", Verdict.RUNTIME_ERROR, "bad luck"),
        ("hangs", Verdict.TIMEOUT, "limit of 2 s"),
    ],
)
def test_stops_at_the_first_case_that_fails(
    judge: ProgramJudge, tmp_path: Path, mode: str, verdict: Verdict, says: str
) -> None:
    if mode == "hangs":
        judge = replace(judge, limits=Limits(wall_s=2.0))
    judged = judge.judge(make_task(tmp_path, "right", mode, "slow"), PROGRAM)
    assert (judged.verdict, judged.compiled, judged.passed, judged.case) == (verdict, True, False, mode)
    assert [(case.name, case.verdict) for case in judged.cases] == [("right", Verdict.PASSED), (mode, verdict)]
    assert says in judged.message


def test_what_does_not_compile_is_not_run(judge: ProgramJudge, tmp_path: Path) -> None:
    compiler = Compiler(cache=tmp_path / "cache", limits=Limits(wall_s=0.05))
    judged = replace(judge, compiler=compiler).judge(make_task(tmp_path, "right"), PROGRAM)
    assert (judged.verdict, judged.compiled) == (Verdict.COMPILE_TIMEOUT, False)
    judged = judge.judge(make_task(tmp_path, "right"), BROKEN)
    assert (judged.verdict, judged.compiled, judged.cases) == (Verdict.COMPILE_ERROR, False, ())
    assert "fupen" in judged.message


def test_compile_only_runs_nothing(judge: ProgramJudge, tmp_path: Path) -> None:
    only = ProgramJudge(judge.compiler, None, compile_only=True)
    judged = only.judge(make_task(tmp_path, "returns_3"), PROGRAM)
    assert (judged.verdict, judged.compiled, judged.passed, judged.cases) == (Verdict.COMPILED, True, False, ())
    assert only.judge(make_task(tmp_path, "right"), BROKEN).verdict is Verdict.COMPILE_ERROR
    assert only.settings() != judge.settings()


def test_settings_tell_isolations_and_gpus_apart(judge: ProgramJudge, lost_gpu: Gpu) -> None:
    """What decides whether an earlier verdict counts: the sandbox that is really used, and the kinds of GPU."""
    landlock = replace(judge, isolation=Isolation.LANDLOCK)
    assert landlock.settings()["isolation"] == "landlock"
    assert replace(judge, isolation=resolve_isolation()).settings() == judge.settings()  # AUTO is what it comes to

    def on(*names: str, per_gpu: int = 1) -> dict[str, Any]:
        gpus = [replace(lost_gpu, name=name, index=index) for index, name in enumerate(names)]
        return replace(judge, gpus=GpuPool(gpus, per_gpu=per_gpu)).settings()

    assert judge.settings() != on("H100") != on("H200")
    assert on("H100", "H200", "H100") == on("H200", "H100")
    assert on("H100", per_gpu=2) == on("H100")  # nothing is timed
    sharing = replace(judge, gpus=GpuPool([lost_gpu]))
    assert replace(sharing, confirms=False).settings() != sharing.settings()


def test_settings_of_modules(lost_gpu: Gpu) -> None:
    """They have a GPU to themselves, whatever `per_gpu` is for programs."""
    pytest.importorskip("torch")

    def settings(per_gpu: int, **changes: Any) -> dict[str, Any]:
        return ModuleJudge(gpus=GpuPool([lost_gpu], per_gpu=per_gpu), **changes).settings()

    assert settings(1) == settings(2) != settings(1, seed=1)
    assert settings(1, isolation=Isolation.LANDLOCK)["isolation"] == "landlock"
    assert settings(1) == settings(1, isolation=resolve_isolation())


def test_a_reference_that_fails_is_not_the_answers_fault(judge: ProgramJudge, tmp_path: Path) -> None:
    task = make_task(tmp_path, "right", reference=REFERENCE.replace("2 *", "1 / 0 *"))
    judged = judge.judge(task, PROGRAM)
    assert judged.verdict is Verdict.INFRA_ERROR and judged.infra
    assert judged.compiled  # what is known stays known
    assert "ZeroDivisionError" in judged.message


def test_a_failure_on_a_lost_gpu_is_not_the_answers_fault(judge: ProgramJudge, tmp_path: Path, lost_gpu: Gpu) -> None:
    pool = GpuPool([lost_gpu])
    task = make_task(tmp_path, "says_no_device")
    built = judge.build(task, PROGRAM)
    prepared = judge.prepare(task)
    with_gpu = replace(judge, gpus=pool)
    judged = with_gpu.execute(task, built, prepared)
    assert judged.verdict is Verdict.INFRA_ERROR
    assert "GPU 0" in judged.message
    with pytest.raises(NoGpuLeft, match="no GPU left"):
        with_gpu.execute(task, built, prepared)
    pool = GpuPool([lost_gpu])
    silent = replace(judge, gpus=pool).judge(make_task(tmp_path, "returns_3"), PROGRAM)
    assert silent.verdict is Verdict.RUNTIME_ERROR and not pool.lost  # nothing was said of a device
    # without a GPU in use there is none that could be lost: the program may print what it likes
    assert judge.execute(task, built, prepared).verdict is Verdict.RUNTIME_ERROR


def test_a_failure_beside_other_programs_is_tried_alone(
    judge: ProgramJudge, tmp_path: Path, lost_gpu: Gpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of programs that share a GPU one may take the memory or the time that another needs, which then fails like a wrong one."""
    monkeypatch.setenv("CUSET_CACHE", str(tmp_path / "cache"))
    pool = GpuPool([lost_gpu], per_gpu=2)
    sharing = replace(judge, gpus=pool)
    judged = []

    def fail() -> None:
        judged.append(sharing.judge(make_task(tmp_path, "right", "wrong", "slow"), PROGRAM))

    thread = threading.Thread(target=fail)
    with pool.lease():
        assert sharing.judge(make_task(tmp_path, "right"), PROGRAM).passed
        thread.start()
        thread.join(2)
        assert not judged
    thread.join(20)
    assert [case.verdict for case in judged[0].cases] == [Verdict.PASSED, Verdict.MISMATCH]


@pytest.mark.parametrize("modes", [("wrong", "right"), ("right", "wrong"), ("returns_3", "right"), ("hangs", "right")])
@pytest.mark.parametrize("used", [0.0, 0.5, 0.8])
def test_what_other_programs_may_have_made_fail_starts_twice(
    judge: ProgramJudge,
    tmp_path: Path,
    lost_gpu: Gpu,
    monkeypatch: pytest.MonkeyPatch,
    modes: tuple[str, str],
    used: float,
) -> None:
    """Starts of CUDA wait for each other, so they decide how many answers an hour are judged: once with all cases, once alone."""
    monkeypatch.setenv("CUSET_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("cuset_stage.judge.devices.probe_gpu", lambda gpu, isolation: None)
    fake_nvml(monkeypatch, [lost_gpu], lambda: int(used * lost_gpu.memory_bytes))
    judge = replace(judge, limits=Limits(wall_s=2.0))
    pool = GpuPool([lost_gpu], per_gpu=2)
    leases, lease = [], pool.lease
    monkeypatch.setattr(pool, "lease", lambda *args, alone=False: leases.append(alone) or lease(*args, alone=alone))
    assert not replace(judge, gpus=pool).judge(make_task(tmp_path, *modes), PROGRAM).passed
    beside = [False] if modes[0] != "right" else [False, False]  # a later call of main proves nothing
    scarce = used != 0.5  # 0: the driver does not say
    assert leases == ([False, True] if scarce or modes[0] == "hangs" else beside)
    leases.clear()
    assert not replace(judge, gpus=pool, confirms=False).judge(make_task(tmp_path, *modes), PROGRAM).passed
    assert leases == beside


def test_a_program_that_takes_more_gpu_memory_than_it_may(
    judge: ProgramJudge, tmp_path: Path, lost_gpu: Gpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def used() -> int:
        asked.append(1)
        return 600 * 2**20 * len(asked)

    fake_nvml(monkeypatch, [lost_gpu], used)
    monkeypatch.setattr("cuset_stage.judge.devices.probe_gpu", lambda gpu, isolation: None)
    monkeypatch.setattr("cuset_stage.sandbox.supervision.GPU_QUERY_S", 0.1)
    task = make_task(tmp_path, "right", "hangs")
    for limit, wall_s, says in ((None, 1.0, "limit of 1 s"), (500 * 2**20, 600.0, "GPU memory limit")):
        limits = Limits(wall_s=wall_s, gpu_memory_bytes=limit)
        judged = replace(judge, limits=limits, gpus=GpuPool([lost_gpu])).judge(task, PROGRAM)
        assert says in judged.message, judged
        assert bool(asked) is (limit is not None)


def test_a_case_that_the_cache_gave_up_is_made_again(judge: ProgramJudge, tmp_path: Path) -> None:
    """Somebody may empty the cache between `prepare` and `execute` of a long run."""
    task = make_task(tmp_path, "right")
    built, prepared = judge.build(task, PROGRAM), judge.prepare(task)
    for case in prepared:
        remove_tree(case.folder)
    assert judge.execute(task, built, prepared).passed


def test_time_is_told_apart(judge: ProgramJudge, tmp_path: Path) -> None:
    """The judge's own time is what is left of the whole without compiler and program; the program takes 0.3 s here."""
    task = make_task(tmp_path, "slow")
    judge.judge(task, PROGRAM)
    begin = time.perf_counter()
    judged = judge.judge(task, PROGRAM)
    whole = time.perf_counter() - begin
    assert judged.compile_cached and judged.compile_s
    assert judged.run_s and judged.run_s >= 0.3
    assert 0 < judged.overhead_s <= whole - judged.run_s
    assert judged.compare_s and judged.compare_s < judged.overhead_s  # our own comparison counts as ours


def test_script_oracle(judge: ProgramJudge, tmp_path: Path) -> None:
    """CUDABench's kind: gen.py writes inputs and reference, compare.py prints T or F."""
    for mode, verdict in ((0, Verdict.PASSED), (1, Verdict.MISMATCH), (4, Verdict.MISSING_OUTPUT)):
        path = write_lines(tmp_path / f"bench{mode}.jsonl", [script_row(mode)])
        judged = judge.judge(load_tasks(path).tasks[0], PROGRAM)
        assert judged.verdict is verdict, judged.message


def script_row(mode: int) -> dict[str, Any]:
    """A row as CUDABench writes them, whose input makes PROGRAM do as the number says."""
    write = "import numpy as np\n\nx = np.arange(8, dtype=np.float32)\n"
    return {
        "id": 7, "task_name": "double", "task_description": "double", "gpu": "H100", "bench.cu": PROGRAM,
        "level1_prompt": "p", "level2_prompt": "p", "level3_prompt": "p",
        "gen.py": write + f'np.array([{mode}], np.int32).tofile("data/mode.bin")\n'
        'x.tofile("data/x.bin")\n(2 * x).tofile("data/y_ref.bin")\n',
        "compare.py": 'import numpy as np\n\na, b = (np.fromfile(f"data/{n}.bin", np.float32) for n in ("y", "y_ref"))\n'
        'print("T" if np.allclose(a, b) else "F")\nexit(0)\n',
        "inputs": [
            {"name": "mode", "dtype": "int32", "shape": "(1,)"}, {"name": "x", "dtype": "float32", "shape": "(8,)"},
        ],
        "outputs": [{"name": "y", "dtype": "float32", "shape": "(8,)"}],
    }  # fmt: skip


@pytest.mark.parametrize("mode", [0, 3])
def test_a_broken_oracle_judges_no_answer(judge: ProgramJudge, tmp_path: Path, mode: int) -> None:
    """Right programs and those that would hang alike: none of them is run."""
    row = script_row(mode)
    row["compare.py"] = "print('F')\n"
    judged = judge.judge(load_tasks(write_lines(tmp_path / "bench.jsonl", [row])).tasks[0], PROGRAM)
    assert (judged.verdict, judged.cases) == (Verdict.INFRA_ERROR, ())
    assert "no answer is charged" in judged.message
