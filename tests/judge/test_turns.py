"""Nothing is built while something is timed, and waiting for one's turn is not the judge's own time."""

import threading
import time
from contextlib import AbstractContextManager

import pytest

from cuset_stage.judge.devices import Turns
from cuset_stage.judge.judgement import Clock


class Visit:
    """A thread that enters and stays until it is told to leave."""

    def __init__(self, turn: AbstractContextManager[None]) -> None:
        self.entered, self._leave = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._stay, args=(turn,), daemon=True)
        self._thread.start()

    def _stay(self, turn: AbstractContextManager[None]) -> None:
        with turn:
            self.entered.set()
            self._leave.wait(30)

    def leave(self) -> None:
        self._leave.set()
        self._thread.join(30)
        assert not self._thread.is_alive()


def waits(visit: Visit) -> bool:
    return not visit.entered.wait(0.2)


def test_builds_together_and_timings_together_but_not_both() -> None:
    turns = Turns()
    builds = [Visit(turns.building()) for _ in range(2)]
    assert all(visit.entered.wait(30) for visit in builds)
    timing = Visit(turns.timing())
    late = Visit(turns.building())
    builds[0].leave()
    assert waits(timing) and waits(late)  # a build is on; one that comes now does not go before what waits to be timed
    builds[1].leave()
    assert timing.entered.wait(30) and waits(late)
    other = Visit(turns.timing())  # on another GPU
    assert other.entered.wait(30)
    timing.leave()
    assert waits(late)
    other.leave()
    assert late.entered.wait(30)
    late.leave()


def test_a_turn_ends_with_an_error() -> None:
    turns = Turns()
    for turn in (turns.building, turns.timing):
        with pytest.raises(ZeroDivisionError), turn():
            _ = 1 / 0
    visits = []
    for turn in (turns.timing, turns.building):
        visits.append(Visit(turn()))
        assert visits[-1].entered.wait(30)
        visits[-1].leave()


def test_waiting_for_a_turn_is_not_the_judge_s_own_time() -> None:
    lock = threading.Lock()
    lock.acquire()
    threading.Timer(0.5, lock.release).start()
    clock, begin = Clock(), time.perf_counter()
    with clock.waiting(lock):
        assert lock.locked() and time.perf_counter() - begin > 0.4
        time.sleep(0.1)
    assert not lock.locked()
    assert 0.1 <= clock.own() < time.perf_counter() - begin - 0.4
