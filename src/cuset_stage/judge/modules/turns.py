"""Answers are built on every processor, or answers are timed: not both at once. Standard library only."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Turns:
    """Who times waits for the builds that are on, and builds that come meanwhile wait for it.

    A thread that has to share its processor sees its GPU done a slice of time too late, and is late with its own launches.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._building = 0
        self._timing = 0  # those that wait for their turn, too

    @contextmanager
    def building(self) -> Iterator[None]:
        """With any other builds."""
        with self._changed:
            self._changed.wait_for(lambda: self._timing == 0)
            self._building += 1
        try:
            yield
        finally:
            with self._changed:
                self._building -= 1
                self._changed.notify_all()

    @contextmanager
    def timing(self) -> Iterator[None]:
        """With any others that are timed, each on a GPU of its own."""
        with self._changed:
            self._timing += 1
        try:
            with self._changed:
                self._changed.wait_for(lambda: self._building == 0)
            yield
        finally:
            with self._changed:
                self._timing -= 1
                self._changed.notify_all()
