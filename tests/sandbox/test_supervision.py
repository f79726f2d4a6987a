"""The processes between the judge and a program: servers, supervisors, and the sandbox.

When any of them dies, forks or hangs, no process may be left behind, and the right one has to be blamed.
"""

import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from fake_nvml import fake_gpus, fake_nvml
from host_programs import HOST_FLAGS
from processes import HEARS_CTRL_C, until
from test_process import shell

from cuset_stage.sandbox import Limits, memory_account, run_program, scratch_folder, supervision
from cuset_stage.sandbox.compiler import Compiler
from cuset_stage.sandbox.isolation import special_files
from cuset_stage.sandbox.supervisor.tree import _has_memory


@contextmanager
def running(script: str, folder: Path, isolation, **options):
    """Run a script in a thread. Yield a list, which receives the result when the script ends.

    Waits for the end when the block is left, and checks that no sleeper is left.
    """
    result = []
    thread = threading.Thread(target=lambda: result.append(shell(script, folder, isolation, **options)))
    thread.start()
    yield result
    thread.join(120)
    assert len(result) == 1 and not _sleepers()


LONG = Limits(wall_s=600)
MARK = str(10_000_000 + os.getpid())  # seconds for `sleep`; the number identifies the sleepers of this test process
SCRIPT = f"trap '' TERM INT HUP; (setsid sleep {MARK} &); sh -c 'sleep {MARK}; true'; true"


def _sleepers() -> list[psutil.Process]:
    return [process for process in psutil.process_iter(["cmdline"]) if MARK in (process.info["cmdline"] or [])]


def _servers() -> list[psutil.Process]:
    """Return the supervisor servers that this process has started. Each takes one run after another."""
    # Zombies are left over from other tests.
    children = [child for child in psutil.Process().children() if child.status() != psutil.STATUS_ZOMBIE]
    return [child for child in children if any("supervisor" in part for part in child.cmdline())]


def _supervisors() -> list[psutil.Process]:
    """Return the supervisors: forks of the servers, each of which watches one run."""
    return [fork for server in _servers() for fork in server.children()]


@contextmanager
def sleepers(folder, isolation):
    """Run two processes that sleep until the file `enough` exists. Yield the list of `running`."""
    script = f"(setsid sleep {MARK} &); sh -c 'while [ ! -e enough ]; do sleep 0.05; done' {MARK}"
    with running(script, folder, isolation, limits=LONG) as result:
        assert until(lambda: len(_sleepers()) >= 2)
        yield result


@pytest.mark.parametrize("with_server", [False, True])
def test_nothing_outlives_a_supervisor_that_is_killed(folder, isolation, with_server):
    with sleepers(folder, isolation) as result:
        for process in [*(_servers() if with_server else ()), *_supervisors()]:
            process.kill()
    assert "supervisor" in result[0].infra
    for process in _servers() if with_server else ():  # the idle servers
        process.kill()
        process.wait()
    assert shell("echo again", folder, isolation).stdout == "again\n"


def test_a_run_goes_on_without_the_server(folder, isolation):
    with sleepers(folder, isolation) as result:
        for process in _servers():
            process.kill()
        assert shell("echo another", folder, isolation).stdout == "another\n"
        assert not result
        (folder / "enough").touch()
    assert result[0].returncode == 0


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, "with its supervisor"])
def test_nothing_outlives_a_judge_that_is_killed(folder, isolation, how):
    judge = _start_judge(f"shell({SCRIPT!r})", folder, isolation)
    assert until(lambda: len(_sleepers()) >= 2)
    below = psutil.Process(judge.pid).children()
    if how == "with its supervisor":  # all at once, as a killed supervisor's children move to the server one by one
        for process in [child for server in below for child in server.children()]:
            process.kill()
        how = signal.SIGKILL
    judge.send_signal(how)
    judge.wait(120)
    assert until(lambda: not _sleepers() and not any(process.is_running() for process in below))


def test_a_sandbox_that_is_killed_is_no_fault_of_its_program(folder, bubblewrap):
    with running(f"sleep {MARK}", folder, bubblewrap) as result:
        assert until(_sleepers)
        for process in [child for supervisor in _supervisors() for child in supervisor.children()]:
            process.kill()
    assert "bubblewrap was ended" in result[0].infra and result[0].returncode is None


def test_what_hangs_is_ended(folder, isolation, monkeypatch):
    shell("true", folder, isolation)
    servers = _servers()
    for server in servers:
        server.suspend()
    monkeypatch.setattr(supervision, "PATIENCE_S", 1 - LONG.wall_s)
    assert shell("true", folder, isolation, limits=LONG).infra == "the supervisor did not answer for 1 s"
    monkeypatch.undo()
    assert sum(server.is_running() for server in servers) == len(servers) - 1
    for server in _servers():
        server.resume()

    with running(f"sleep {MARK}", folder, isolation, limits=LONG):
        assert until(_sleepers)
        (hanging,) = _supervisors()
        hanging.suspend()
        monkeypatch.setattr(supervision, "PATIENCE_S", 0.1)
        (supervisor,) = (one for one in supervision._supervisors if one.process.pid == hanging.ppid())
        supervisor.end()
    assert not hanging.is_running() and supervisor not in supervision._supervisors


@pytest.mark.parametrize(("times", "verdict"), [(1, None), (2, "timeout")])
def test_a_program_of_which_nothing_is_heard_runs_once_more_and_alone(folder, isolation, monkeypatch, times, verdict):
    """If a program could cause such a silence without being charged, it could avoid ever failing."""
    ask, asked = supervision._Supervisor.ask, []

    def late(self, *request):
        asked.append(len(supervision._supervisors) - len(supervision._idle))
        return {"infra": "late", "late": True} if len(asked) <= times else ask(self, *request)

    monkeypatch.setattr(supervision._Supervisor, "ask", late)
    (folder / "program").write_text("#!/bin/sh\nexit 0\n")
    (folder / "program").chmod(0o755)
    with run_program(folder / "program", inputs={}, outputs={}, isolation=isolation) as ran:
        assert (ran.verdict, asked) == (verdict, [1, 1])
    asked.clear()
    compiled = Compiler(flags=HOST_FLAGS, isolation=isolation).compile("int main() {}")
    assert (compiled.verdict, asked) == (verdict and f"compile_{verdict}", [1, 1])


@pytest.mark.parametrize(
    "look", ["time.sleep(600)", "(mask(0, [14]), os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT))"]
)
@pytest.mark.parametrize(("largest", "stopped"), [(100, "wall"), (101, "memory")])
def test_the_limits_of_time_and_of_memory_wait_for_no_look(largest, stopped, look):
    """The limits hold even if a look at the processes never returns.

    The second `look` waits for the program, with alarms blocked.
    """
    code = f"""
import os, subprocess, sys, threading, time, types; sys.path.insert(0, sys.argv[1]); import loop
from signal import pthread_sigmask as mask
child = subprocess.Popen(["sleep", "600"])
run = object.__new__(loop.Run)
run.stdout = run.stderr = loop.CappedFile("/tmp", 9)
run.most, run.ended, run.pid, run.begin, run.stopped = {{"wall_s": 1, "memory_bytes": 100}}, {{}}, child.pid, time.monotonic(), None
run.group, run.processes, run.ended_watch, run.overran = None, 1, threading.Event(), None
run.slowest_look = run.cpu_seconds = 0
loop.tree.measure = lambda pids: types.SimpleNamespace(largest={largest})
run.look = lambda: ({look}, None)[1]
arm = loop.signal.setitimer  # one alarm more comes as the clock is stopped
loop.signal.setitimer = lambda kind, after, *every: arm(kind, after, *every) if after else loop.os.kill(loop.os.getpid(), 14)
run.watch(); print(run.stopped); child.kill()
"""
    command = [sys.executable, "-I", "-S", "-c", code, str(Path(supervision.SUPERVISOR[-1]).parent)]
    assert subprocess.run(command, capture_output=True, text=True, timeout=300).stdout == f"{stopped}\n"


def test_what_a_control_group_may_reclaim_counts_only_below_the_limit(folder):
    code = """
import sys; sys.path.insert(0, sys.argv[1]); import group
account = object.__new__(group.Group); account.path, account._before = sys.argv[2], 100
print(account.used(900), account.used(899), account.used(0))
"""
    (folder / "memory.current").write_text("1000\n")
    (folder / "memory.stat").write_text("file 700\nshmem 100\nslab_reclaimable 50\n")
    command = [sys.executable, "-I", "-S", "-c", code, str(Path(supervision.SUPERVISOR[-1]).parent), str(folder)]
    assert subprocess.run(command, capture_output=True, text=True, timeout=300).stdout == "900 250 250\n"


def test_what_is_ending_has_no_memory():
    with subprocess.Popen(["true"]) as ending:
        os.waitid(os.P_PID, ending.pid, os.WEXITED | os.WNOWAIT)
        assert _has_memory(os.getpid()) and not _has_memory(ending.pid)


def test_hunt_finds_what_is_forked_while_it_looks(folder):
    for _ in range(5):
        dying = subprocess.Popen(["/bin/sh", "-c", f"sleep {MARK} & exit"], env={"HOME": f"{folder}/tmp"})
        supervision._hunt(str(folder), None)
        dying.wait()
        assert not _sleepers()


def _start_judge(code: str, folder: Path, isolation) -> subprocess.Popen:
    """Start a judge in a process of its own that runs this code.

    The code can use `start` and `shell`, defined below. The judge is told which special files there are, since finding
    them takes half a second.
    """
    begin = f"""
import os, signal, sys, threading, time
import psutil
from pathlib import Path
from cuset_stage.sandbox import isolation, run_sandboxed
isolation.special_files = lambda: {special_files()!r}
options = {{"folder": Path({str(folder)!r}), "isolation": {str(isolation)!r}}}
def shell(script): return run_sandboxed(["/bin/sh", "-c", script], **options)
said = []
def start(script):
    # in a thread, up to where it has begun; what it finishes with goes to `said`
    begun = options["folder"] / "begun"
    thread = threading.Thread(target=lambda: said.append(shell("touch begun; " + script)), daemon=True)
    thread.start()
    while not begun.exists():
        time.sleep(0.02)
    return thread
"""
    command = [sys.executable, "-X", "dev", "-c", begin + textwrap.dedent(code)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **HEARS_CTRL_C)


def _judge(code: str, folder: Path, isolation) -> tuple[str, str]:
    """Run such a judge to its end and return its stdout and stderr."""
    return _start_judge(code, folder, isolation).communicate(timeout=600)


def test_a_judge_may_block_signals_and_forks_may_leave_the_block(own_caches, isolation):
    """A server must not hand on the signals that were blocked in the thread that started it.

    A fork of the judge that leaves `scratch_folder` must not remove the folder.
    """
    code = """
        from cuset_stage.sandbox import scratch_folder
        signal.pthread_sigmask(signal.SIG_BLOCK, range(1, signal.NSIG))
        with scratch_folder() as scratch:
            options["folder"] = scratch / "run"
            options["folder"].mkdir()
            run = start("while [ ! -e enough ]; do sleep 0.05; done; grep SigBlk /proc/self/status")
            if os.fork() == 0:
                sys.exit()
            os.wait()
            Path(options["folder"], "enough").touch()
            run.join()
            print(said[0].stdout.split()[-1])
    """
    assert _judge(code, own_caches, isolation)[0] == "0" * 16 + "\n"
    assert not list(own_caches.iterdir())


def test_a_fork_has_supervisors_of_its_own(folder, isolation):
    code = """
        import multiprocessing
        def own(number, answers):
            answers.put((number, shell(f"exit {number}").returncode))
        shell("true")
        run = start("while [ ! -e enough ]; do sleep 0.05; done; exit 9")
        fork = multiprocessing.get_context("fork")
        answers = fork.Queue()
        workers = [fork.Process(target=own, args=(number, answers)) for number in (1, 2, 3)]
        for worker in workers:
            worker.start()
        print(sorted(answers.get() for _ in workers), shell("exit 4").returncode)
        Path(options["folder"], "enough").touch()
        run.join()
        print(said[0].returncode)
        for worker in workers:
            worker.join()
    """
    assert _judge(code, folder, isolation)[0] == "[(1, 1), (2, 2), (3, 3)] 4\n9\n"


def test_a_fork_that_lives_on_keeps_no_supervisor(folder, isolation):
    """A fork inherits the judge's end of the sockets.

    It must close them, or supervisors would not notice that the judge died.
    """
    code = f"""
        start("sleep {MARK}")
        below = psutil.Process().children(recursive=True)
        fork = os.fork()
        if fork == 0:
            os.closerange(0, 3)
            signal.pause()
        print(fork, *(process.pid for process in below), flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    """
    fork, *pids = map(int, _judge(code, folder, isolation)[0].split())
    assert len(pids) >= 3 and until(lambda: not any(map(psutil.pid_exists, pids)))
    os.kill(fork, signal.SIGKILL)  # the fork lived until now


def test_a_judge_that_ends_waits_for_no_run_and_one_that_is_interrupted_until_all_is_dead(folder, isolation):
    said = _judge(f"start('sleep {MARK} & sleep {MARK}'); print('ends')", folder, isolation)
    assert said == ("ends\n", "") and until(lambda: not _sleepers())
    (folder / "begun").unlink()
    code = f"""
        def interrupt():
            while not (options["folder"] / "begun").exists():
                time.sleep(0.02)
            os.kill(os.getpid(), signal.SIGINT)
        threading.Thread(target=interrupt).start()
        try:
            shell("touch begun; (setsid sleep {MARK} &); sleep {MARK}")
        except KeyboardInterrupt:
            others = [p.info["cmdline"] for p in psutil.process_iter(["cmdline"]) if p.pid != os.getpid()]
            print(len(psutil.Process().children()), {MARK!r} in str(others))
    """
    said = _judge(code, folder, isolation)
    assert said[0] == "0 False\n", said


def test_no_control_group_outlives_its_supervisor(folder, isolation):
    if memory_account() == "watcher":
        pytest.skip("no control group can be made here")
    code = """
        shell("true")
        (server,) = psutil.Process().children()
        print([line for line in Path("/proc", str(server.pid), "cgroup").read_text().splitlines() if "/cuset-" in line][0])
    """
    path = _judge(code, folder, isolation)[0].strip().split(":", 2)[2]
    assert not [place for place in Path("/sys/fs/cgroup").glob("*") if place.joinpath(path.lstrip("/")).exists()]


def test_gpu_memory_is_watched(folder, isolation, monkeypatch):
    used, asked = [100 << 20], threading.Event()
    (gpu,) = fake_gpus(1)
    fake_nvml(monkeypatch, [gpu], lambda: asked.set() or used[0])
    limits = Limits(wall_s=600, gpu_memory_bytes=2**20)
    with running(f"echo out; sleep {MARK}", folder, isolation, gpu=gpu, limits=limits) as result:
        assert until(_sleepers) and asked.wait(60)
        used[0] = 200 << 20
    assert (result[0].stopped, result[0].returncode, result[0].stdout) == ("gpu_memory", None, "out\n")
    assert shell("echo next", folder, isolation).stdout == "next\n"


def test_many_runs_leave_nothing(folder, isolation):
    """After many runs in threads, descriptors, processes and folders are as before, except for at most one idle server
    per thread.
    """

    def work(runs: int) -> None:
        for _ in range(runs):
            with scratch_folder() as scratch:
                inner = scratch / "inner"
                inner.mkdir()
                assert shell(f"(sleep {MARK} &); exit 3", inner, isolation).returncode == 3

    def now() -> tuple:
        servers = _servers()
        fds = {server.num_fds() for server in servers} if os.geteuid() == 0 else 0  # only root may count them
        return psutil.Process().num_fds() - len(servers), fds, sorted(folder.parent.parent.iterdir())

    shell("true", folder, isolation)
    assert until(lambda: not _supervisors())
    before, servers = now(), len(_servers())
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, 4 * [8]))
    assert until(lambda: not _supervisors()) and not _sleepers()
    assert now() == before and len(_servers()) <= max(4, servers)


SHOW = """
    env | sort; pwd; umask; ulimit -a; nice; readlink /proc/$$/fd/*; ls -lnA . data tmp | sed 's/ [A-Z][a-z][a-z] .*[0-9] / /'
    grep -E '^(Sig|Shd|Cap|Groups|Seccomp|NoNewPrivs|Cpus_allowed:)' /proc/self/status; cat /proc/self/oom_score_adj
"""


def test_a_program_sees_the_same_whatever_ran_before(own_caches, isolation, tmp_path):
    tmp_path.joinpath("x").write_text("x")

    def seen() -> str:
        with scratch_folder() as scratch:
            inner = scratch / "inner"
            (inner / "data").mkdir(parents=True)
            finished = shell(SHOW, inner, isolation, readonly={"data/x": tmp_path / "x"})
            assert finished.returncode == 0 and finished.stderr == "", finished
            text = finished.stdout.replace(scratch.name, "SCRATCH")
            return re.sub(r"\b6(0[5-9]|1[01])\d\d\b|/proc/\d+/|-[0-9a-f]{16}\b", "N", text)

    first = seen()
    with scratch_folder() as scratch:
        script = f"umask 077; ulimit -n 10; trap '' TERM CHLD; (setsid sleep {MARK} &); cd /; kill -9 $$"
        shell(script, scratch, isolation)
    assert seen() == first
