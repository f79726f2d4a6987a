"""Turns on shared resources.

Nothing is built while something is timed, those that need a GPU alone get it one after the other, and waiting for a
turn does not count as the judge's own time.
"""

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

from cuset_stage.files import file_lock
from cuset_stage.judge import judgement
from cuset_stage.judge.devices import GpuPool, Turns
from cuset_stage.judge.judgement import Clock
from cuset_stage.sandbox import Gpu


class Visit:
    """A thread that enters a turn and stays in it until it is told to leave."""

    def __init__(self, turn: AbstractContextManager[object]) -> None:
        self.entered, self._leave = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._stay, args=(turn,), daemon=True)
        self._thread.start()

    def _stay(self, turn: AbstractContextManager[object]) -> None:
        with turn:
            self.entered.set()
            self._leave.wait(30)

    def leave(self) -> None:
        self._leave.set()
        self._thread.join(30)
        assert not self._thread.is_alive()


def waits(visit: Visit) -> bool:
    """Return whether the visit is still waiting for its turn."""
    return not visit.entered.wait(0.2)


def test_builds_together_and_timings_together_but_not_both():
    turns = Turns()
    builds = [Visit(turns.building()) for _ in range(2)]
    assert all(visit.entered.wait(30) for visit in builds)
    timing = Visit(turns.timing())
    late = Visit(turns.building())
    builds[0].leave()
    assert waits(timing) and waits(late)  # one build is left; a later build does not overtake the timing
    builds[1].leave()
    assert timing.entered.wait(30) and waits(late)
    other = Visit(turns.timing())  # a timing on another GPU
    assert other.entered.wait(30)
    timing.leave()
    assert waits(late)
    other.leave()
    assert late.entered.wait(30)
    late.leave()
    for turn in (turns.building, turns.timing):  # an error ends a turn as well
        with pytest.raises(ZeroDivisionError), turn():
            _ = 1 / 0
    for turn in (turns.timing, turns.building):
        with turn():
            pass


def test_who_needs_a_gpu_alone_is_passed_by_nobody(tmp_path, monkeypatch):
    """Two judges on one GPU: one that needs it alone is not kept waiting for ever by the other's programs."""
    monkeypatch.setenv("CUSET_CACHE", str(tmp_path))
    gpu = Gpu(0, "GPU-0", "none", "0", "9.0", 1 << 30)
    busy, other = GpuPool([gpu], per_gpu=2), GpuPool([gpu], per_gpu=2)
    order = []

    @contextmanager
    def noted(name: str, pool: GpuPool, alone: bool = False) -> Iterator[None]:
        with pool.lease(alone=alone):
            order.append(name)
            yield

    first = Visit(noted("first", busy))
    assert first.entered.wait(30)
    alone = Visit(noted("alone", other, alone=True))
    gate_is_free = True
    while gate_is_free and not alone.entered.is_set():  # until it holds the gate, waiting for the first one to leave
        with file_lock(tmp_path / "locks" / "gpu-GPU-0-gate-0.lock", wait=False) as gate_is_free:
            pass
    late = Visit(noted("late", busy))  # a place is free, but the gate is closed
    first.leave()
    assert alone.entered.wait(30)
    with file_lock(tmp_path / "locks" / "gpu-GPU-0-1.lock", wait=False) as place_is_free:
        assert not place_is_free
    alone.leave()
    assert late.entered.wait(30)
    late.leave()
    assert order == ["first", "alone", "late"]


def test_waiting_for_a_turn_is_not_the_judge_s_own_time(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(judgement.time, "perf_counter", lambda: now[0])

    @contextmanager
    def lock() -> Iterator[str]:
        now[0] += 5  # the wait for another holder
        yield "mine"

    clock = Clock()
    now[0] += 1
    with clock.waiting(lock()) as held:
        assert held == "mine"
        now[0] += 2
    with clock.excluded():
        now[0] += 40
    clock.exclude(0.5)
    assert clock.own() == 2.5
