"""run_sandboxed: what a command can see and do, how its end is reported, and what happens when the machine is in
trouble.
"""

import os
import shutil
import signal
import subprocess
import sys
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
import pytest
from commands import small_files
from fake_nvml import fake_gpus

from cuset_stage.sandbox import Isolation, Limits, SandboxError, resolve_isolation, run_sandboxed, scratch_folder
from cuset_stage.sandbox import isolation as isolation_module
from cuset_stage.sandbox import process as process_module
from cuset_stage.sandbox.background import BackgroundRun
from cuset_stage.sandbox.folders import cache_root
from cuset_stage.sandbox.supervisor.tree import socket_bytes


(GPU,) = fake_gpus(1)


def shell(script: str, folder: Path, isolation, **options):
    return run_sandboxed(["/bin/sh", "-c", script], folder=folder, isolation=isolation, **options)


def python(code: str, folder: Path, isolation, **options):
    command, visible = [sys.executable, "-I", "-S", "-c", code], isolation_module.python_paths()
    return run_sandboxed(command, folder=folder, isolation=isolation, visible=visible, **options)


def test_reports_how_a_command_ended(folder, isolation):
    done = shell("echo out; echo err >&2; exit 7", folder, isolation)
    assert (done.returncode, done.stopped, done.infra) == (7, None, None)
    assert (done.stdout, done.stderr) == ("out\n", "err\n")
    assert shell("sleep 0.2", folder, isolation).seconds > 0.2


def test_a_command_on_a_gpu_sees_the_devices(folder, isolation):
    done = shell("test -d /sys/devices/system && ls /sys/devices", folder, isolation, gpu=GPU)
    assert done.returncode == 0 and "system" in done.stdout, done.stderr


def test_a_command_talks_to_the_judge_until_it_is_stopped(folder, isolation):
    """The command's stdin is the other end of a socket that no other process has."""
    script = "read word; echo $word back >&0; sleep 100"
    run = BackgroundRun(["/bin/sh", "-c", script], folder=folder, isolation=isolation)
    with run.socket as ours:
        ours.settimeout(60)
        run.start()
        ours.sendall(b"there\n")
        assert ours.recv(100) == b"there back\n" and run.alive
        ended = run.end()
        assert (ended.stopped, ended.returncode, ended.infra) == ("judge", None, None)
        assert ours.recv(100) == b""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGXCPU, signal.SIGXFSZ, signal.SIGSEGV])
def test_a_signal_is_what_came_and_not_what_an_exit_code_says(folder, isolation, number):
    """The kernel sends these signals when memory or a limit is exhausted.

    A program that returns 128 + N only imitates one, as a shell does, and must not be taken for killed.
    """
    limits = Limits(file_bytes=1 << 20, cpu_s=50)
    done = shell(f"exit {128 + number}", folder, isolation, limits=limits)
    assert (done.returncode, done.stopped, done.infra) == (128 + number, None, None)
    done = shell(f"kill -{number} $$", folder, isolation, limits=limits)
    assert (done.returncode, done.stopped) == ((None, "disk") if number == signal.SIGXFSZ else (-number, None))
    if number == signal.SIGXFSZ:
        done = shell("head -c 2000000 /dev/zero > big", folder, isolation, limits=limits)
        assert done.returncode == 128 + number  # the signal killed `head`; the shell only reports it
        done = shell("exec head -c 2000000 /dev/zero > big", folder, isolation, limits=limits)
        assert (done.returncode, done.stopped) == (None, "disk")


def test_what_runs_a_program_in_bubblewrap_holds_nothing_open_for_it(folder, isolation):
    done = shell("ls /proc/self/fd; cat; echo error >&2", folder, isolation)
    assert (done.stdout.split(), done.stderr) == (["0", "1", "2", "3"], "error\n")  # 3 is the folder that `ls` lists


HUNGRY = """
import sys
from pathlib import Path
from cuset_stage.sandbox import Compiler, run_sandboxed
_, group, isolation, folder, how = sys.argv
Path(group, "cgroup.procs").write_text("0")
if how == "compiler":
    print(Compiler(isolation=isolation).compile("#include </dev/zero>").verdict)
else:
    eat = [sys.executable, "-I", "-S", "-c", "len(bytearray(1 << 30))"]
    Path(folder, "inner").mkdir()
    done = run_sandboxed(eat, folder=Path(folder, "inner"), isolation=isolation, visible=[sys.base_prefix, sys.prefix])
    print("infra_error" if done.infra else done)
"""


@pytest.mark.parametrize("how", ["compiler", "command"])
def test_what_is_killed_for_want_of_memory_is_not_charged(own_caches, isolation, small_memory, how):
    """A SIGKILL from the kernel is the machine's fault, unlike one that a command sends to itself (tested above)."""
    command = [sys.executable, "-c", HUNGRY, small_memory, isolation, own_caches, how]
    said = subprocess.run(command, capture_output=True, text=True)
    assert said.stdout == "infra_error\n", said
    assert not list((own_caches.parent / "cache" / "programs").glob("??/*/record.json"))


def test_a_program_for_a_gpu_may_name_its_threads(folder, landlock):
    """CUDA's driver names its threads, and reports an unsupported operating system if it may not.

    Other processes stay closed.
    """
    done = shell("echo named > /proc/self/comm && cat /proc/$$/comm", folder, landlock, gpu=GPU)
    assert (done.returncode, done.stderr) == (0, ""), done
    judge = Path("/proc/self/comm").read_text()
    done = shell(f"echo named > /proc/{os.getpid()}/comm", folder, landlock, gpu=GPU)
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


def test_bad_requests(folder, isolation, tmp_path):
    (tmp_path / "x").touch()
    with pytest.raises(ValueError, match="relative to the folder"):
        shell("true", folder, isolation, readonly={"../x": tmp_path / "x"})
    with pytest.raises(SandboxError, match="meant for x, does not exist"):
        shell("true", folder, isolation, readonly={"x": tmp_path / "missing"})
    assert run_sandboxed(["./missing"], folder=folder, isolation=isolation).infra
    (folder / "broken").write_bytes(b"\x7fELF")  # a damaged executable, as a program may build itself
    (folder / "broken").chmod(0o755)
    done = run_sandboxed(["./broken"], folder=folder, isolation=isolation)
    assert done.infra is None and done.returncode in (126, 127) and "Exec format error" in done.stderr


def test_a_copy_that_does_not_fit_is_named(folder, landlock, tmp_path, monkeypatch):
    (tmp_path / "large").write_bytes(bytes(5000))
    monkeypatch.setattr("cuset_stage.sandbox.supervision._idle", [])  # a new supervisor inherits the limit
    with small_files():
        done = run_sandboxed(["true"], folder=folder, readonly={"in": tmp_path / "large"}, isolation=landlock)
    assert done.infra == f"File too large: {folder.resolve()}/in"


def test_a_program_cannot_change_a_file_of_the_cache(folder, isolation):
    """Large inputs are not copied: a run has a link or a mount."""
    file = cache_root() / "inputs" / "x"
    file.parent.mkdir(parents=True)
    file.write_text("right")
    file.chmod(0o444)
    script = "cat data/x; stat -c %h data/x; for i in 1 2; do echo wrong > data/x; chmod 666 data/x; done; ln data/x y; echo wrong >> y"
    for inner in (folder / "first", folder / "second"):
        inner.mkdir()
        done = shell(script, inner, isolation, readonly={"data/x": file})
        assert done.stdout.startswith("right") and file.read_text() == "right", done
        if os.geteuid() == 0:
            assert done.stdout == f"right{2 if isolation is Isolation.LANDLOCK else 1}\n"
        shell("rm -f data/x; echo wrong > data/x", inner, isolation)
        assert file.read_text() == "right" and file.stat().st_uid == os.geteuid()


def test_a_file_that_may_change_is_copied_and_keeps_its_mode(folder, landlock):
    """The user's folder that is named as the cache may hold other files, such as this package."""
    (file := cache_root() / "x").write_text("right")
    for mode in (0o664, 0o600, 0o755):
        file.chmod(mode)
        (inner := folder / f"{mode:o}").mkdir()
        done = shell("cat x; stat -c %h x", inner, landlock, readonly={"x": file})
        assert done.stdout == "right1\n" and file.stat().st_mode & 0o777 == mode, done


def test_a_copy_is_not_written_through_a_link(folder, isolation):
    """A folder of an earlier run may hold a link to a file of the cache, where the next run gets another file."""
    (cached := cache_root() / "x").write_text("cached")
    (other := folder.parent / "other").write_text("other")
    cached.chmod(0o444)
    other.chmod(0o600)
    assert shell("cat x", folder, isolation, readonly={"x": cached}).stdout == "cached"
    assert shell("cat x", folder, isolation, readonly={"x": cached}).stdout == "cached"
    assert shell("cat x", folder, isolation, readonly={"x": other}).stdout == "other"
    assert cached.read_text() == "cached"


def test_a_file_of_the_cache_may_be_made_anew_meanwhile(folder, landlock, monkeypatch):
    """Another judge that finds an entry damaged removes it and makes it again."""
    if os.geteuid() != 0:
        pytest.skip("only root's judge makes links")
    real = os.link

    def link(file: Path, target: Path) -> None:
        if target.name == "lost":
            file.unlink()
        real(file, target)
        file.unlink()

    monkeypatch.setattr(os, "link", link)
    for name, stdout, infra in (("x", "right", None), ("lost", "", "No such file or directory")):
        file = cache_root() / name
        file.write_text("right")
        file.chmod(0o444)
        done = shell(f"cat {name}", folder, landlock, readonly={name: file})
        assert done.stdout == stdout and (done.infra or "").startswith(infra or ""), done
        file.unlink(missing_ok=True)


def test_no_socket_holds_more_than_counts_for_it(folder, isolation):
    """A socket's buffer may hold more than its size, and the memory account has to allow for it.

    The kernel accepts a message as long as the buffer is not full, so a last, large one can fill it to twice its size.
    """
    code = """
import socket
end, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 26)
size = end.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
for count in [size // 5 - 2000] * 5 + [size - 1000]:
    end.send(bytes(count))
print(int.from_bytes(end.getsockopt(socket.SOL_SOCKET, 55, 12)[8:], "little"), size)
"""
    held, size = map(int, python(code, folder, isolation).stdout.split())
    assert 2 * size < held <= socket_bytes(network=False)


def test_programs_run_in_threads_of_any_affinity_and_priority(folder, isolation):
    """System calls that the filter restricts still work for a program itself, or do nothing.

    The program has a lower priority than the judge.
    """
    code = """
import os, resource, socket, threading
os.sched_setaffinity(0, os.sched_getaffinity(0)); os.sched_setaffinity(threading.get_native_id(), {0}); os.nice(1)
os.setpriority(os.PRIO_PROCESS, os.getpid(), 5); resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
one, two = socket.socketpair(); one.send(b"x"); assert two.recv(1) == b"x"
with open("file", "wb") as file: os.posix_fallocate(file.fileno(), 0, 1 << 20)
assert os.path.getsize("file") == 1 << 20
session, pid = os.getsid(0), os.fork()
if pid == 0: os.setsid(); os._exit(os.getsid(0) != session)
assert os.waitpid(pid, 0)[1] == 0; print("done", os.getpriority(os.PRIO_PROCESS, 0))
"""
    done = python(code, folder, isolation)
    assert done.stdout == f"done {min(19, os.getpriority(os.PRIO_PROCESS, 0) + 10)}\n", done


# XFS's RESVSP64 reserves disk space at once. FSSETXATTR and btrfs's SNAP_CREATE_V2 can make files that cannot be
# removed.
def test_files_cannot_be_changed_by_ioctl(folder, isolation):
    code = """
import errno, fcntl
for request in (0x4030582A, 0x401C5820, 0x50009417):
    with open("file", "wb") as file:
        try: fcntl.ioctl(file, request, bytes(48))
        except OSError as error: print(errno.errorcode[error.errno])
"""
    done = python(code, folder, isolation)
    assert done.stdout == "ENOTSUP\n" * 3, done


def test_long_output_keeps_its_head_and_tail(folder, isolation):
    limits = Limits(output_bytes=1000)
    done = shell("echo first; seq 100000; echo last", folder, isolation, limits=limits)
    assert done.stdout.startswith("first\n1\n") and done.stdout.endswith("100000\nlast\n")
    assert "bytes left out" in done.stdout and len(done.stdout) < 1100
    missing = int(done.stdout.split("[... ")[1].split()[0])
    whole = len("first\n") + sum(len(f"{n}\n") for n in range(1, 100001)) + len("last\n")
    assert missing == whole - 1000


@pytest.fixture
def no_bubblewrap(tmp_path, monkeypatch):
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'no namespaces today' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("CUSET_BWRAP", str(broken))


def test_without_bubblewrap_landlock_confines(no_bubblewrap, landlock, tmp_path, monkeypatch):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert resolve_isolation() is Isolation.LANDLOCK
    with pytest.raises(SandboxError, match=r"no namespaces today.*apt-get install bubblewrap.*isolation=none"):
        resolve_isolation("bubblewrap")
    monkeypatch.setenv("CUSET_BWRAP", str(tmp_path / "missing"))
    with pytest.raises(SandboxError, match=r"not installed.*CUSET_BWRAP"):
        resolve_isolation(Isolation.BUBBLEWRAP)


def test_with_neither_nothing_runs(no_bubblewrap, folder, monkeypatch):
    monkeypatch.setattr(isolation_module, "_probe_landlock", lambda: "Landlock: Function not implemented")
    for run in (resolve_isolation, lambda: shell("true", folder, Isolation.AUTO)):
        with pytest.raises(SandboxError, match=r"no namespaces today; Landlock.*not implemented.*isolation=none"):
            run()
    with pytest.raises(SandboxError, match=r"isolation=landlock: Landlock with seccomp does not work"):
        resolve_isolation("landlock")


def test_landlock_is_tried_before_it_is_trusted(landlock):
    """The probe finds out a kernel that accepts the rules and does not enforce them, and one without Landlock."""
    probe = Path(isolation_module.__file__).parent / "supervisor"
    code = """
import sys; sys.path.insert(0, sys.argv[1])
import confine, errno, os
{change}
sys.exit(confine.probe())
"""
    no_rules = "lambda *paths, same_user: confine._prctl(confine._PR_SET_NO_NEW_PRIVS, 1)"
    for change, said in (
        ("", ""),
        (f"confine.restrict_files = {no_rules}", "can still open a file"),
        ("confine.install_filter = lambda **options: None", "can still open a socket"),
        ("confine.LEAST_LANDLOCK = confine.LEAST_FOR_SAME_USER = 99", "99 is needed"),
        ("confine._LANDLOCK_CREATE = 9999", "Landlock: Function not implemented"),
    ):
        command = [sys.executable, "-I", "-S", "-c", code.format(change=change), str(probe)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert (done.returncode, said in done.stderr) == (bool(said), True), done


def test_none_is_said_by_name_and_warned_of(folder):
    isolation_module._warn.cache_clear()
    with pytest.warns(RuntimeWarning, match="UNTRUSTED CODE RUNS WITHOUT A SANDBOX") as said:
        finished = shell("cat /etc/passwd; sleep 100", folder, Isolation.NONE, limits=Limits(wall_s=1))
        assert shell("(sleep 98764 &); exit 3", folder, Isolation.NONE).returncode == 3
    assert len(said) == 1 and finished.stopped == "wall"
    assert not [process for process in psutil.process_iter(["cmdline"]) if "98764" in (process.info["cmdline"] or [])]


def test_landlock_keeps_devices_and_capabilities_away_from_root(folder, landlock, monkeypatch):
    """If root cannot give a program a user of its own, the program runs as root in name only, without capabilities."""
    if os.geteuid() != 0:
        pytest.skip("about root")
    monkeypatch.setattr(process_module, "_user_locks", lambda: None)
    done = shell("id -u; grep CapEff /proc/self/status; mknod data-disk b 8 0; cat /etc/shadow", folder, landlock)
    assert done.stdout.split() == ["0", "CapEff:", "0" * 16], done
    assert not (folder / "data-disk").exists() and "/etc/shadow: Permission denied" in done.stderr


def test_what_lies_hidden_in_a_system_folder_stays_hidden(tmp_path):
    """Landlock can only allow whole trees.

    To hide one folder, its neighbours are allowed one by one instead of the parent.
    """
    for name in ("a/cache/reference", "a/cache2", "b"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "a" / "cache")
    allowed = set(isolation_module._without(str(tmp_path), [tmp_path / "a" / "cache", Path("/elsewhere")]))
    assert allowed == {str(tmp_path / "a" / "cache2"), str(tmp_path / "b")}


@pytest.mark.parametrize("linked", [False, True])
def test_other_runs_stay_hidden_below_a_system_folder(folder, isolation, monkeypatch, tmp_path, linked):
    if not os.access("/opt", os.W_OK):
        pytest.skip("about root, who may have a scratch folder there")
    with TemporaryDirectory(dir="/opt") as place:
        os.chmod(place, 0o755)
        (tmp_path / "scratch").symlink_to(place)
        monkeypatch.setenv("CUSET_SCRATCH", str(tmp_path / "scratch") if linked else place)
        with scratch_folder() as scratch, scratch_folder() as other:
            (other / "output").write_text("secret")
            (scratch / "inner").mkdir()
            script = f"echo own > output; cat output {other}/output; ls {place}"
            done = shell(script, scratch / "inner", isolation)
            assert done.stdout.split()[0] == "own" and "secret" not in done.stdout, done


UNACCEPTED = """
import socket, time
listener = socket.socket(socket.AF_UNIX); listener.bind(""); listener.listen(4096)
for _ in range(3000):
    with socket.socket(socket.AF_UNIX) as one:
        one.connect(listener.getsockname()); one.send(bytes(100_000))
time.sleep(100)
"""


def test_connections_that_nobody_accepts_count_where_they_are_allowed(folder, bubblewrap):
    done = python(UNACCEPTED, folder, bubblewrap, limits=Limits(memory_bytes=192 << 20), network=True)
    assert done.stopped == "memory", done


def test_bubblewrap_shows_system_folders_only(folder, bubblewrap):
    script = "ls -A /; echo; ls -A /root /home /var /etc/passwd /etc/shadow 2>/dev/null; ls /proc | grep -c '^[0-9]'"
    top, rest = shell(script, folder, bubblewrap).stdout.split("\n\n", 1)
    known = ["bin", "dev", "etc", "lib", "lib32", "lib64", "libx32", "opt", "proc", "sbin", "usr", folder.parts[1]]
    assert set(top.split()) <= set(known)
    assert int(rest.split()[-1]) <= 6 and len(rest.split()) == 1
    writable = shell("find / -xdev -writable -type d 2>/dev/null", folder, bubblewrap).stdout
    assert all(line.startswith(("/dev/shm", "/proc", str(folder))) for line in writable.splitlines()), writable


def test_bubblewrap_gives_a_network_and_as_root_a_user_of_its_own(folder, bubblewrap):
    assert os.readlink("/proc/self/ns/net") != shell("readlink /proc/self/ns/net", folder, bubblewrap).stdout.strip()
    if os.geteuid() == 0 and shutil.which("setpriv"):
        assert isolation_module.bubblewrap_here().own_user, "bubblewrap works for root, but not with a user of its own"
        assert int(shell("id -u", folder, bubblewrap).stdout) >= process_module.FIRST_USER


def test_no_sockets_that_leave_the_machine(folder, isolation):
    code = """
import socket
for family in ("AF_INET", "AF_INET6", "AF_PACKET", "AF_UNIX", "AF_NETLINK"):
    kind = socket.SOCK_RAW if family in ("AF_PACKET", "AF_NETLINK") else socket.SOCK_DGRAM
    try: socket.socket(getattr(socket, family), kind); print(family)
    except OSError: pass
"""
    for network in (False, True):
        own = ["AF_INET", "AF_INET6"] if network and isolation is Isolation.BUBBLEWRAP else []
        done = python(code, folder, isolation, network=network)
        assert done.stdout.split() == [*own, "AF_UNIX", "AF_NETLINK"], done
