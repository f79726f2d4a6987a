"""run_sandboxed: what a command sees, what is reported, and what happens when the judge itself is in trouble."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from pathlib import Path

import psutil
import pytest

from cuset_stage.sandbox import (
    Gpu,
    Isolation,
    IsolationWarning,
    Limits,
    SandboxError,
    python_paths,
    resolve_isolation,
    run_sandboxed,
    scratch_folder,
)
from cuset_stage.sandbox import isolation as isolation_module
from cuset_stage.sandbox.isolation import bubblewrap_here
from cuset_stage.sandbox.process import start_sandboxed


def shell(script: str, folder: Path, isolation, **options):
    return run_sandboxed(["/bin/sh", "-c", script], folder=folder, isolation=isolation, **options)


@pytest.fixture
def folder(own_caches):
    with scratch_folder() as scratch:
        inner = scratch / "inner"
        inner.mkdir()
        yield inner


def test_reports_how_a_command_ended(folder, isolation):
    done = shell("echo out; echo err >&2; exit 7", folder, isolation)
    assert (done.returncode, done.stopped, done.infra) == (7, None, None)
    assert (done.stdout, done.stderr) == ("out\n", "err\n")
    assert shell("kill -9 $$", folder, isolation).returncode == -signal.SIGKILL
    assert 0.2 < shell("sleep 0.2", folder, isolation).seconds < 2


def test_a_program_for_a_gpu_may_name_its_threads(folder):
    """CUDA's driver does, and calls the operating system unfit where it may not."""
    gpu = Gpu(0, "GPU-test-0", "test", "1", "9.0", 2**30)
    done = shell("echo named > /proc/self/comm && cat /proc/$$/comm", folder, Isolation.PROCESSES, gpu=gpu)
    assert (done.returncode, done.stderr) == (0, ""), done
    judge = Path("/proc/self/comm").read_text()
    done = shell(f"echo named > /proc/{os.getpid()}/comm", folder, Isolation.PROCESSES, gpu=gpu)
    assert done.returncode != 0 and Path("/proc/self/comm").read_text() == judge


def test_environment_holds_nothing_of_the_judge(folder, isolation, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hidden")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    done = shell("env", folder, isolation, environment={"ADDED": "yes"})
    names = {line.split("=", 1)[0] for line in done.stdout.splitlines()}
    assert "hidden" not in done.stdout and "TZ=Asia/Tokyo" in done.stdout and "ADDED=yes" in done.stdout
    assert names <= {
        *("PATH", "HOME", "TMPDIR", "XDG_CACHE_HOME", "CUDA_CACHE_PATH", "CUDA_DEVICE_ORDER", "CUDA_VISIBLE_DEVICES"),
        *("LANG", "LC_ALL", "USER", "TZ", "LD_LIBRARY_PATH", "ADDED", "PWD", "OLDPWD", "SHLVL", "_"),
    }


def test_libraries_elsewhere_are_seen(folder, isolation, open_folder, monkeypatch):
    library = open_folder()
    (library / "marker").write_text("seen")
    monkeypatch.setenv("LD_LIBRARY_PATH", f"/usr/local/cuda/lib64:{library}:relative:/missing")
    done = shell(f"cat {library}/marker; touch {library}/spoiled", folder, isolation)
    assert done.stdout == "seen" and not (library / "spoiled").exists(), done


def test_python_runs_with_its_packages(folder, isolation):
    (folder / "script.py").write_text("import numpy, os; numpy.save('x.npy', numpy.arange(3)); print(os.getcwd())")
    done = run_sandboxed(
        [sys.executable, "-I", "-B", "script.py"], folder=folder, visible=python_paths(), isolation=isolation
    )
    assert done.returncode == 0, done
    assert done.stdout.strip() == str(folder) and (folder / "x.npy").is_file()


def test_closed_inputs_can_be_read_and_not_changed(folder, isolation, tmp_path):
    original = tmp_path / "closed.bin"
    original.write_text("content")
    original.chmod(0o600)
    done = shell(
        "cat data/x; echo spoiled > data/x; rm -f data/x; echo spoiled > data/x; true",
        folder,
        isolation,
        readonly={"data/x": original},
    )
    assert done.stdout == "content" and original.read_text() == "content"


def test_bad_requests(folder, isolation, tmp_path):
    (tmp_path / "x").touch()
    with pytest.raises(ValueError, match="relative to the folder"):
        shell("true", folder, isolation, readonly={"../x": tmp_path / "x"})
    assert "does not exist" in shell("true", folder, isolation, readonly={"x": tmp_path / "missing"}).infra
    assert run_sandboxed(["./missing"], folder=folder, isolation=Isolation.PROCESSES).infra
    with pytest.raises(ValueError, match=r"Limits\.wall_s=0"):
        Limits(wall_s=0)
    with pytest.raises(ValueError, match="needs a number"):
        Limits(processes=None)


def test_long_output_keeps_its_head_and_tail(folder, isolation):
    limits = Limits(output_bytes=1000)
    done = shell("echo first; seq 100000; echo last", folder, isolation, limits=limits)
    assert done.stdout.startswith("first\n1\n") and done.stdout.endswith("100000\nlast\n")
    assert "bytes left out" in done.stdout and len(done.stdout) < 1100
    missing = int(done.stdout.split("[... ")[1].split()[0])
    whole = len("first\n") + sum(len(f"{n}\n") for n in range(1, 100001)) + len("last\n")
    assert missing == whole - 1000


def test_a_slow_flood_is_cut_while_it_runs(folder, isolation):
    limits = Limits(output_bytes=1000, file_bytes=8 << 20, wall_s=20)
    done = shell(
        "i=0; while [ $i -lt 100 ]; do head -c 200000 /dev/zero; i=$((i+1)); done; echo end",
        folder,
        isolation,
        limits=limits,
    )
    assert done.returncode == 0 and done.stdout.endswith("end\n")  # 20 MB went through a file of 8 MiB at most


def test_runs_in_many_threads(folder, isolation):
    results = {}

    def one(number: int) -> None:
        with scratch_folder() as scratch:
            inner = scratch / "inner"
            inner.mkdir()
            results[number] = shell(f"(sleep 100 &) ; echo {number}; exit {number}", inner, isolation)

    threads = [threading.Thread(target=one, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {number: (done.returncode, done.stdout) for number, done in results.items()} == {
        number: (number, f"{number}\n") for number in range(8)
    }


JUDGE = """
    import sys
    from pathlib import Path
    from cuset_stage.sandbox import run_sandboxed
    print("ready", flush=True)
    run_sandboxed(["/bin/sh", "-c", "trap '' TERM INT HUP; (setsid sleep 98765 &); sleep 98765"], folder=Path(sys.argv[1]), isolation=sys.argv[2])
"""


def _sleepers() -> list[psutil.Process]:
    return [process for process in psutil.process_iter(["cmdline"]) if "98765" in (process.info["cmdline"] or [])]


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_nothing_outlives_a_judge_that_is_killed(folder, isolation, how):
    judge = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(JUDGE), str(folder), str(isolation)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        # tests started in the background have SIGINT ignored, and would hand that on
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    judge.stdout.readline()
    deadline = time.monotonic() + 10
    while len(_sleepers()) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    assert len(_sleepers()) >= 2
    judge.send_signal(how)
    judge.wait(10)
    while _sleepers() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not _sleepers()


def _supervisors(server: bool) -> list[psutil.Process]:
    """Of this process: the server that forks supervisors, or those that it has forked."""
    servers = [child for child in psutil.Process().children() if any("supervisor" in part for part in child.cmdline())]
    return servers if server else [child for process in servers for child in process.children()]


def _begin_sleepers(folder, isolation) -> tuple[threading.Thread, list]:
    result = []
    script = "(setsid sleep 98765 &); sleep 98765"
    thread = threading.Thread(target=lambda: result.append(shell(script, folder, isolation, limits=Limits(wall_s=6))))
    thread.start()
    deadline = time.monotonic() + 10
    while len(_sleepers()) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    assert len(_sleepers()) >= 2
    return thread, result


def test_nothing_outlives_a_supervisor_that_is_killed(folder, isolation):
    thread, result = _begin_sleepers(folder, isolation)
    for process in _supervisors(server=False):
        process.kill()
    thread.join(20)
    assert "signal 9" in result[0].infra
    assert not _sleepers()


def test_nothing_outlives_a_supervisor_and_its_server(folder, isolation):
    thread, result = _begin_sleepers(folder, isolation)
    for process in [*_supervisors(server=True), *_supervisors(server=False)]:
        process.kill()
    thread.join(20)
    assert "supervisor" in result[0].infra
    assert not _sleepers()
    assert shell("echo again", folder, isolation).stdout == "again\n"


def test_a_run_goes_on_without_the_server(folder, isolation):
    thread, result = _begin_sleepers(folder, isolation)
    for process in _supervisors(server=True):
        process.kill()
    assert shell("echo another", folder, isolation).stdout == "another\n"
    thread.join(20)
    assert result[0].stopped == "wall" and not _sleepers()


def test_a_command_waits_until_it_may_begin(folder, isolation):
    with start_sandboxed(["/bin/sh", "-c", "touch begun"], folder=folder, isolation=isolation) as running:
        time.sleep(0.5)
        assert not (folder / "begun").exists()
        running.go()
        finished = running.wait()
    assert (folder / "begun").exists() and finished.returncode == 0
    assert finished.seconds < 0.4  # what it waited is no time of its own


def test_nothing_is_left_of_a_command_that_may_not_begin(folder, isolation):
    with start_sandboxed(["/bin/sh", "-c", "touch begun"], folder=folder, isolation=isolation):
        time.sleep(0.2)
    assert not (folder / "begun").exists()
    assert not [process for server in _supervisors(server=True) for process in server.children(recursive=True)]


def test_the_time_of_a_command_has_no_part_of_bubblewraps(folder, isolation):
    times = sorted(run_sandboxed(["/bin/true"], folder=folder, isolation=isolation).seconds for _ in range(9))
    begin = time.perf_counter()
    run_sandboxed(["/bin/true"], folder=folder, isolation=isolation)
    assert 0 < times[4] < 0.6 * (time.perf_counter() - begin)


def test_a_command_that_bubblewrap_cannot_run_is_no_fault_of_the_command(folder):
    if not bubblewrap_here():
        pytest.skip("about bubblewrap")
    finished = run_sandboxed(["./missing"], folder=folder, isolation=Isolation.BUBBLEWRAP)
    assert "did not start" in finished.infra and finished.returncode is None


def test_isolation_is_probed_and_falls_back_once(tmp_path, monkeypatch):
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'no namespaces today' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("CUSET_BWRAP", str(broken))
    monkeypatch.setattr(isolation_module, "_warned", set())
    with pytest.warns(IsolationWarning, match=r"WITHOUT A SANDBOX.*no namespaces today"):
        assert resolve_isolation() is Isolation.PROCESSES
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert resolve_isolation("auto") is Isolation.PROCESSES  # said once
    with pytest.raises(SandboxError, match="CUSET_BWRAP"):
        resolve_isolation("bubblewrap")
    monkeypatch.setenv("CUSET_BWRAP", str(tmp_path / "missing"))
    with pytest.raises(SandboxError, match="not installed"):
        resolve_isolation(Isolation.BUBBLEWRAP)


def test_bubblewrap_shows_system_folders_only(folder, isolation):
    if isolation is not Isolation.BUBBLEWRAP:
        pytest.skip("about bubblewrap")
    done = shell(
        "ls -A /; echo; ls -A /root /home /work /var /etc/passwd /etc/shadow 2>/dev/null; ls /proc | grep -c '^[0-9]'",
        folder,
        isolation,
    )
    top, rest = done.stdout.split("\n\n", 1)
    first = folder.parts[1]
    assert set(top.split()) <= {
        "bin",
        "dev",
        "etc",
        "lib",
        "lib32",
        "lib64",
        "libx32",
        "opt",
        "proc",
        "sbin",
        "usr",
        first,
    }
    assert int(rest.split()[-1]) <= 6 and len(rest.split()) == 1
    listed = shell("find / -xdev -writable -type d 2>/dev/null", folder, isolation)
    assert all(line.startswith(("/dev/shm", "/proc", str(folder))) for line in listed.stdout.splitlines()), (
        listed.stdout
    )


def test_the_network_is_open_only_when_asked_for(folder, isolation):
    if isolation is not Isolation.BUBBLEWRAP:
        pytest.skip("about bubblewrap")
    assert os.readlink("/proc/self/ns/net") != shell("readlink /proc/self/ns/net", folder, isolation).stdout.strip()
    assert (
        os.readlink("/proc/self/ns/net")
        == shell("readlink /proc/self/ns/net", folder, isolation, network=True).stdout.strip()
    )
