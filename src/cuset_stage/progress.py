"""Show the progress of a long command: a bar on a terminal, or a line now and then in a log. Needs tqdm."""

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

from tqdm import tqdm


LINE_SECONDS = 10.0  # time between two lines of a log; a task that ends earlier writes no line
LINE = "{desc}: {n_fmt} of {total_fmt} {unit}s in {elapsed}, {remaining} left, {rate_fmt}{postfix}"


class Progress(tqdm):
    """A tqdm bar on standard error, or lines where that is not a terminal. Give tqdm's `unit` and `desc`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.as_lines = not sys.stderr.isatty()
        if self.as_lines:
            kwargs |= dict(mininterval=LINE_SECONDS, delay=LINE_SECONDS, miniters=1, bar_format=LINE, leave=True)
        super().__init__(*args, **{"file": sys.stderr, "dynamic_ncols": True, **kwargs})
        if self.as_lines and self.total is None:
            self.bar_format = LINE.replace(" of {total_fmt}", "").replace(" {remaining} left,", "")

    def display(self, msg: str | None = None, pos: int | None = None) -> bool:
        if not self.as_lines:
            return super().display(msg, pos)
        end = "" if self.disable else "\n"  # when tqdm closes the bar, it sets `disable` and ends the line itself
        self.fp.write(f"{self if msg is None else msg}{end}")
        self.fp.flush()
        return True


@contextlib.contextmanager
def ticking(bar: Progress, note: Callable[[], str]) -> Iterator[None]:
    """Redraw the bar every LINE_SECONDS with a note, even while no item is finished.

    The first answers of a model may take minutes.

    Args:
        bar: the bar.
        note: returns the text that is shown behind the bar. It is called from another thread.
    """
    ended = threading.Event()

    def tick() -> None:
        while not ended.wait(LINE_SECONDS):
            bar.set_postfix_str(note())

    thread = threading.Thread(target=tick, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
