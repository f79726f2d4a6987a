"""The list of GPUs that the driver gives, and leases that exclude each other across threads and processes."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor, wait

from fake_nvml import fake_gpus, fake_nvml

from cuset_stage.files import file_lock
from cuset_stage.sandbox import Gpu, cache_root, lease_gpu, list_gpus
from cuset_stage.sandbox import gpus as gpus_module
from cuset_stage.sandbox.process import user_of_its_own


GPUS = fake_gpus(2)


def test_list_gpus(monkeypatch):
    broken = Gpu(2, "", "Tesla K80", "580.0", "3.7", 0)
    gpus = [
        Gpu(0, "GPU-1111", "NVIDIA H200", "580.0", "9.0", 140 << 30),
        Gpu(1, "GPU-6666", "Ada", "580.0", "8.9", 48 << 30),
    ]
    fake_nvml(monkeypatch, [*gpus, broken])
    assert list_gpus() == gpus and [gpu.arch for gpu in gpus] == ["sm_90", "sm_89"]
    for visible, indices in [("1", [1]), ("1,0", [1, 0]), ("GPU-6666", [1]), ("", []), ("-1", []), ("0,7,1", [0])]:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
        assert [gpu.index for gpu in list_gpus()] == indices, visible
    monkeypatch.setattr(gpus_module, "nvml", lambda: None)  # no driver means no GPU
    assert list_gpus() == [] and gpus_module.used_memory(GPUS[0]) == (0, {})


def test_a_gpu_is_leased_to_one_at_a_time(own_caches):
    held, used = set(), []

    def work(_: int) -> None:
        with lease_gpu(GPUS) as gpu:
            assert gpu not in held
            held.add(gpu)
            used.append(gpu)
            time.sleep(0.002)
            held.remove(gpu)

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(30)))
    assert set(used) == set(GPUS) and len(used) == 30


def test_one_of_the_threads_that_wait_asks_and_holds_up_none_who_takes_another_slot(own_caches, monkeypatch):
    """Of the threads that wait for a GPU, only one asks for its locks, and none of them delays a thread that wants
    another slot.

    A reference needs the first slot of a GPU, while a program may take any of three.
    """
    asking, lock, had = set(), gpus_module.file_lock, []
    monkeypatch.setattr(
        gpus_module, "file_lock", lambda *args, **how: asking.add(threading.get_ident()) or lock(*args, **how)
    )

    def work() -> None:
        with lease_gpu(GPUS) as gpu:
            had.append(gpu)

    with ThreadPoolExecutor(5) as pool, lease_gpu(GPUS), lease_gpu(GPUS):
        asking.clear()
        for _ in range(5):
            pool.submit(work)
        while not asking:
            time.sleep(0.01)
        time.sleep(0.2)
        assert len(asking) == 1 and not had
        with lease_gpu(GPUS, slots=3):
            assert not had
    assert len(had) == 5 and len(asking - {threading.get_ident()}) == 5


HOLDER = """
from cuset_stage.sandbox import Gpu, lease_gpu
with lease_gpu([Gpu(0, "GPU-fake-0", "test", "1", "9.0", 2**30)]):
    print("held", flush=True)
    import time
    time.sleep(600)
"""


def test_a_lease_ends_with_its_process(own_caches):
    holder = subprocess.Popen([sys.executable, "-c", HOLDER], stdout=subprocess.PIPE)
    assert holder.stdout.readline() == b"held\n"
    with ThreadPoolExecutor(1) as pool:
        leased = pool.submit(lease_gpu(GPUS[:1]).__enter__)
        assert not wait([leased], 0.2).done
        holder.kill()
        holder.wait()
        assert leased.result(60) == GPUS[0]


def test_a_fork_keeps_no_lock_and_lets_go_of_none(own_caches):
    """A fork inherits the descriptors of locks, so closing ours would not be enough to release them.

    It must neither keep a lock after we release it, nor release one that we hold.
    """
    path = own_caches / "x.lock"
    lock = file_lock(path)
    with lock, lease_gpu(GPUS[:1]), user_of_its_own() as uid:
        leaving = os.fork()
        if leaving == 0:
            lock.__exit__(None, None, None)
            os._exit(0)
        os.waitpid(leaving, 0)
        with file_lock(path, wait=False) as held:
            assert not held
        staying = os.fork()
        if staying == 0:
            signal.pause()
    try:
        for free in (path, cache_root() / "locks" / "gpu-GPU-fake-0-0.lock"):
            with file_lock(free, wait=False) as held:
                assert held
        with user_of_its_own() as again:
            assert again == uid
    finally:
        os.kill(staying, signal.SIGKILL)
        os.waitpid(staying, 0)
