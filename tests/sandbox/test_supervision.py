"""The processes between the judge and a program: what is left, and what is said, when any of them dies, is forked or stops."""

import os
import re
import resource
import signal
import subprocess
import sys
import textwrap
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from cuset_stage.sandbox import Gpu, Isolation, Limits, run_sandboxed, scratch_folder, supervision
from cuset_stage.sandbox.isolation import _GATE, bubblewrap_here
from cuset_stage.sandbox.process import start_sandboxed


def shell(script: str, folder: Path, isolation, **options):
    return run_sandboxed(["/bin/sh", "-c", script], folder=folder, isolation=isolation, **options)


def start(script: str, folder: Path, isolation, **options):
    return start_sandboxed(["/bin/sh", "-c", script], folder=folder, isolation=isolation, **options)


def until(condition, seconds: float = 120.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


LONG = Limits(wall_s=600)
MARK = str(10_000_000 + os.getpid())  # the seconds that sleepers of this process's tests sleep
SCRIPT = f"trap '' TERM INT HUP; (setsid sleep {MARK} &); sh -c 'sleep {MARK}; true'; true"
JUDGE = """
    import sys
    from pathlib import Path
    from cuset_stage.sandbox import run_sandboxed
    print("ready", flush=True)
    run_sandboxed(["/bin/sh", "-c", sys.argv[3]], folder=Path(sys.argv[1]), isolation=sys.argv[2])
"""


def _sleepers() -> list[psutil.Process]:
    return [process for process in psutil.process_iter(["cmdline"]) if MARK in (process.info["cmdline"] or [])]


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_nothing_outlives_a_judge_that_is_killed(folder, isolation, how):
    judge = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(JUDGE), str(folder), str(isolation), SCRIPT],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        # tests started in the background have SIGINT ignored, and would hand that on
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    judge.stdout.readline()
    assert until(lambda: len(_sleepers()) >= 2)
    judge.send_signal(how)
    judge.wait(120)
    assert until(lambda: not _sleepers())


def _supervisors(server: bool) -> list[psutil.Process]:
    """Of this process: the server that forks supervisors, or those that it has forked."""
    servers = [child for child in psutil.Process().children() if any("supervisor" in part for part in child.cmdline())]
    return servers if server else [child for process in servers for child in process.children()]


@contextmanager
def sleepers(folder, isolation):
    """Two that sleep on until the file `enough` is there, run in a thread; yields (thread, [what was said of them])."""
    result = []
    script = f"(setsid sleep {MARK} &); sh -c 'while [ ! -e enough ]; do sleep 0.05; done' {MARK}"
    thread = threading.Thread(target=lambda: result.append(shell(script, folder, isolation, limits=LONG)))
    thread.start()
    assert until(lambda: len(_sleepers()) >= 2)
    yield thread, result
    assert not thread.is_alive() and not _sleepers()


def test_nothing_outlives_a_supervisor_that_is_killed(folder, isolation):
    with sleepers(folder, isolation) as (thread, result):
        for process in _supervisors(server=False):
            process.kill()
        thread.join(120)
        assert "signal 9" in result[0].infra


def test_nothing_outlives_a_supervisor_and_its_server(folder, isolation):
    with sleepers(folder, isolation) as (thread, result):
        for process in [*_supervisors(server=True), *_supervisors(server=False)]:
            process.kill()
        thread.join(120)
        assert "supervisor" in result[0].infra
    assert shell("echo again", folder, isolation).stdout == "again\n"


def test_a_run_goes_on_without_the_server(folder, isolation):
    with sleepers(folder, isolation) as (thread, result):
        for process in _supervisors(server=True):
            process.kill()
        assert shell("echo another", folder, isolation).stdout == "another\n"
        assert thread.is_alive()
        (folder / "enough").touch()
        thread.join(120)
        assert result[0].returncode == 0


def test_a_command_waits_until_it_may_begin(folder, isolation):
    with start_sandboxed(["/bin/sh", "-c", "touch begun"], folder=folder, isolation=isolation) as running:
        time.sleep(0.5)
        assert not (folder / "begun").exists()
        begin = time.monotonic()
        running.go()
        finished = running.wait()
        assert finished.seconds < time.monotonic() - begin  # what it waited is no time of its own
    assert (folder / "begun").exists() and finished.returncode == 0


def test_a_command_that_lost_its_supervisor_does_not_begin(tmp_path):
    """What it waits on is then closed."""
    (tmp_path / "go").write_text("\ngo\n")  # over the first byte it says that all is set up
    begin = ["/bin/sh", "-c", 'exec 9<>"$1"; exec /bin/sh -c "$0" echo begun', _GATE]
    assert subprocess.run([*begin, "/dev/null"], capture_output=True, text=True).stdout == ""
    assert subprocess.run([*begin, tmp_path / "go"], capture_output=True, text=True).stdout == "begun\n"


def test_nothing_is_left_of_a_command_that_may_not_begin(folder, isolation):
    with start_sandboxed(["/bin/sh", "-c", "touch begun"], folder=folder, isolation=isolation):
        time.sleep(0.2)
    assert not (folder / "begun").exists()
    assert not [process for server in _supervisors(server=True) for process in server.children(recursive=True)]


def test_nothing_outlives_a_judge_and_its_supervisor(folder, isolation):
    """Killed at once, the program's children come to the server one after the other."""
    judge = subprocess.Popen([sys.executable, "-c", textwrap.dedent(JUDGE), str(folder), str(isolation), SCRIPT])
    assert until(lambda: len(_sleepers()) >= 2)
    below = psutil.Process(judge.pid).children()
    for process in [child for server in below for child in server.children()]:
        process.kill()
    judge.kill()
    judge.wait(120)
    assert until(lambda: not _sleepers() and not any(process.is_running() for process in below))


def test_a_sandbox_that_is_killed_is_no_fault_of_its_program(folder):
    if not bubblewrap_here():
        pytest.skip("about bubblewrap")
    for begun in (False, True):
        with start(f"sleep {MARK}", folder, Isolation.BUBBLEWRAP) as running:
            if begun:
                running.go()
                assert until(_sleepers)
            assert until(lambda: [child for process in _supervisors(server=False) for child in process.children()])
            time.sleep(0.2)
            for process in [child for supervisor in _supervisors(server=False) for child in supervisor.children()]:
                process.kill()
            finished = running.wait()
        assert "bubblewrap" in finished.infra and finished.returncode is None, finished


def test_the_server_never_waits_for_a_judge_that_does_not_read(folder, isolation):
    """A supervisor dies with half of its answer on the way; other runs go on."""
    with start("head -c 1000000 /dev/zero", folder, isolation) as running:
        running.go()
        time.sleep(1)
        (supervisor,) = _supervisors(server=False)
        supervisor.kill()
        time.sleep(0.2)
        said = []
        other = threading.Thread(target=lambda: said.append(shell("echo other", folder, isolation).stdout))
        other.start()
        other.join(120)
        assert said == ["other\n"]
        assert "supervisor" in running.wait().infra


def test_messages_to_a_busy_server_stay_apart(folder, isolation):
    shell("true", folder, isolation)
    (server,), said = _supervisors(server=True), []
    threads = [threading.Thread(target=lambda: said.append(shell("echo run", folder, isolation).stdout)) for _ in "ab"]
    server.suspend()
    for thread in threads:
        thread.start()
    time.sleep(0.5)
    server.resume()
    for thread in threads:
        thread.join(120)
    assert said == ["run\n"] * 2


def test_a_supervisor_that_says_nothing_is_ended(folder, isolation, monkeypatch):
    with start(f"sleep {MARK}", folder, isolation, limits=LONG) as running:
        running.go()
        assert until(_sleepers)
        (supervisor,) = _supervisors(server=False)
        supervisor.suspend()
        monkeypatch.setattr(supervision, "PATIENCE_S", 1 - LONG.wall_s)
        assert running.wait().infra == "the supervisor did not answer for 1 s"
    assert until(lambda: not supervisor.is_running()) and not _sleepers()


def test_a_judge_without_descriptors_keeps_its_server(folder, isolation):
    with start("echo ahead", folder, isolation) as running:
        servers = _supervisors(server=True)
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        free = os.dup(0)
        os.close(free)
        resource.setrlimit(resource.RLIMIT_NOFILE, (free, hard))
        try:
            with pytest.raises(OSError, match="Too many open files"):
                supervision._begin(b"")
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert shell("echo next", folder, isolation).stdout == "next\n"
        assert _supervisors(server=True) == servers and running.wait().stdout == "ahead\n"


def test_hunt_finds_what_is_forked_while_it_looks(folder):
    run = object.__new__(supervision.Supervised)
    run._folder, run._uid = folder, None
    for _ in range(5):
        dying = subprocess.Popen(["/bin/sh", "-c", f"sleep {MARK} & exit"], env={"HOME": f"{folder}/tmp"})
        run._hunt()
        dying.wait()
        assert not _sleepers()


def _judge(code: str, folder: Path, isolation) -> subprocess.CompletedProcess:
    """A judge of its own runs this code, which has `start` and `shell`."""
    begin = f"""
import os, signal, sys, threading, time
import psutil
from pathlib import Path
from cuset_stage.sandbox import run_sandboxed
from cuset_stage.sandbox.process import start_sandboxed
options = {{"folder": Path({str(folder)!r}), "isolation": {str(isolation)!r}}}
def start(script): return start_sandboxed(["/bin/sh", "-c", script], **options)
def shell(script): return run_sandboxed(["/bin/sh", "-c", script], **options)
"""
    return subprocess.run(
        [sys.executable, "-X", "dev", "-c", begin + textwrap.dedent(code)], capture_output=True, text=True, timeout=600
    )


def test_a_judge_may_block_signals(folder, isolation):
    """The server inherits what the thread that starts it has blocked, and has to see that a supervisor has ended."""
    code = """
        signal.pthread_sigmask(signal.SIG_BLOCK, range(1, signal.NSIG))
        for _ in range(3):
            shell("true")
        (server,) = psutil.Process().children()
        for _ in range(100):
            if server.children():
                time.sleep(0.02)
        print(len(server.children()), shell("grep SigBlk /proc/self/status").stdout.split()[-1])
    """
    assert _judge(code, folder, isolation).stdout.split() == ["0", "0" * 16]


def test_a_fork_that_leaves_the_block_ends_nothing(own_caches, isolation):
    code = """
        from cuset_stage.sandbox import scratch_folder
        with scratch_folder() as scratch:
            options["folder"] = scratch / "run"
            options["folder"].mkdir()
            with start("sleep 0.3; echo done") as running:
                running.go()
                if os.fork() == 0:
                    sys.exit()
                os.wait()
                print(running.wait().stdout, end="")
    """
    assert _judge(code, own_caches, isolation).stdout == "done\n"
    assert not list(own_caches.iterdir())


def test_a_fork_has_a_server_of_its_own(folder, isolation):
    code = """
        import multiprocessing
        def own(number, answers):
            answers.put((number, shell(f"exit {number}").returncode))
        with start("sleep 0.3; exit 9") as running:
            running.go()
            fork = multiprocessing.get_context("fork")
            answers = fork.Queue()
            workers = [fork.Process(target=own, args=(number, answers)) for number in (1, 2, 3)]
            for worker in workers:
                worker.start()
            print(sorted(answers.get() for _ in workers), running.wait().returncode, shell("exit 4").returncode)
            for worker in workers:
                worker.join()
    """
    assert _judge(code, folder, isolation).stdout == "[(1, 1), (2, 2), (3, 3)] 9 4\n"


def test_a_fork_that_lives_on_keeps_no_supervisor(folder, isolation):
    """It has the judge's end of the run's socket, so that this does not close when the judge is killed."""
    code = """
        with start("true"):
            (server,) = psutil.Process().children()
            (supervisor,) = server.children()
            fork = os.fork()
            if fork == 0:
                os.closerange(0, 3)
                signal.pause()
            print(fork, server.pid, supervisor.pid, flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
    """
    fork, *pids = map(int, _judge(code, folder, isolation).stdout.split())
    assert until(lambda: not any(map(psutil.pid_exists, pids)))
    os.kill(fork, signal.SIGKILL)  # it was there all the time


@pytest.mark.parametrize("unfinished", ["never begins", "runs in a thread"])
def test_a_judge_that_ends_waits_for_nothing(folder, isolation, unfinished):
    code = """
        left = start("sleep MARK & sleep MARK")
        running = left.__enter__()
        if %r == "runs in a thread":
            threading.Thread(target=running.wait, daemon=True).start()
        time.sleep(0.5)
        print("ends")
    """
    done = _judge(code.replace("MARK", MARK) % unfinished, folder, isolation)
    assert (done.stdout, done.stderr) == ("ends\n", "") and until(lambda: not _sleepers())


def test_gpu_memory_is_watched_from_the_beginning(folder, isolation, tmp_path, monkeypatch):
    """Also before anybody waits for the answer."""
    program = tmp_path / "nvidia-smi"
    used = tmp_path / "used"
    used.write_text("100")
    program.write_text(f'#!/bin/sh\ncase "$1" in *query-gpu*) cat {used}; touch {tmp_path}/asked;; esac\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    gpu = Gpu(0, "GPU-test-0", "test", "1", "9.0", 2**30)
    with start(f"sleep {MARK}", folder, isolation, gpu=gpu, limits=Limits(gpu_memory_bytes=2**20)) as running:
        running.go()
        assert until(_sleepers) and until((tmp_path / "asked").exists)
        used.write_text("200")
        assert until(lambda: not _sleepers())
        assert running.wait().stopped == "gpu_memory"


def test_many_runs_leave_nothing(folder, isolation):
    """In threads, set up ahead or not, answered or not: descriptors, processes and folders are as before."""

    def work() -> None:
        for number in range(8):
            with scratch_folder() as scratch:
                inner = scratch / "inner"
                inner.mkdir()
                with start(f"(sleep {MARK} &); exit 3", inner, isolation) as running:
                    if number % 4:
                        assert running.wait().returncode == 3

    def now() -> tuple:
        (server,) = _supervisors(server=True)
        fds = server.num_fds() if os.geteuid() == 0 else 0  # only root may look into it
        return psutil.Process().num_fds(), fds, server.pid, sorted(folder.parent.parent.iterdir())

    shell("true", folder, isolation)
    assert until(lambda: not _supervisors(server=False))
    before = now()
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert until(lambda: not _supervisors(server=False)) and not _sleepers()
    assert now() == before


SHOW = """
    env | sort; pwd; umask; ulimit -a; nice; readlink /proc/$$/fd/*; ls -lnA . data tmp | sed 's/ [A-Z][a-z][a-z] .*[0-9] / /'
    grep -E '^(Sig|Shd|Cap|Groups|Seccomp|NoNewPrivs|Cpus_allowed:)' /proc/self/status; cat /proc/self/oom_score_adj
"""


def test_a_program_sees_the_same_whenever_it_is_set_up_and_whatever_ran_before(own_caches, isolation, tmp_path):
    tmp_path.joinpath("x").write_text("x")

    def seen(ahead: float) -> str:
        with scratch_folder() as scratch:
            inner = scratch / "inner"
            (inner / "data").mkdir(parents=True)
            with start(SHOW, inner, isolation, readonly={"data/x": tmp_path / "x"}) as running:
                time.sleep(ahead)
                finished = running.wait()
            assert finished.returncode == 0 and finished.stderr == "", finished
            text = finished.stdout.replace(scratch.name, "SCRATCH")
            return re.sub(r"\b6(0[5-9]|1[01])\d\d\b|/proc/\d+/|-[0-9a-f]{16}\b", "N", text)

    first = seen(0)
    assert seen(0.2) == first
    with scratch_folder() as scratch:
        shell(
            f"umask 077; ulimit -n 10; trap '' TERM CHLD; (setsid sleep {MARK} &); cd /; kill -9 $$",
            scratch,
            isolation,
        )
    assert seen(0) == first and seen(0.2) == first
