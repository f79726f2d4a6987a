"""The bar of long commands: drawn over on a terminal, whole lines in a log, nothing there for what is short."""

import io
import sys
import threading

import pytest

from cuset_stage import progress
from cuset_stage.progress import Progress


class Stream(io.StringIO):
    def __init__(self, is_terminal: bool) -> None:
        super().__init__()
        self.isatty = lambda: is_terminal


def written(monkeypatch, is_terminal: bool, total: int | None = 3) -> str:
    stream = Stream(is_terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    with Progress(total=total, unit="row", desc="labels", leave=False) as bar:
        for _ in range(3):
            bar.update()
    return stream.getvalue()


def test_a_log_gets_whole_lines_with_a_total_and_a_rate(monkeypatch):
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)
    lines = written(monkeypatch, is_terminal=False).splitlines(keepends=True)
    assert lines[-1].startswith("labels: 3 of 3 rows in 00:00, 00:00 left, ") and "row/s" in lines[-1]
    assert all(line.endswith("\n") and line.strip() and "\r" not in line for line in lines)


def test_a_log_tells_no_time_left_where_the_total_is_not_known(monkeypatch):
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)
    last = written(monkeypatch, is_terminal=False, total=None).splitlines()[-1]
    assert last.startswith("labels: 3 rows in 00:00, ") and "left" not in last


@pytest.mark.parametrize("is_terminal", [True, False])
def test_what_is_short_leaves_no_line_in_a_log(monkeypatch, is_terminal):
    text = written(monkeypatch, is_terminal)
    assert ("\r" in text and "0/3" in text) if is_terminal else text == ""


def test_a_log_hears_of_work_of_which_nothing_is_finished(monkeypatch):
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.01)
    stream, told = Stream(is_terminal=False), threading.Event()
    stream.write = lambda text: (
        told.set() if text.startswith("answers: 0 of 3 samples in 00:0") and "7 tokens" in text else None
    )
    monkeypatch.setattr(sys, "stderr", stream)
    with Progress(total=3, unit="sample", desc="answers") as bar, progress.ticking(bar, lambda: "7 tokens"):
        assert told.wait(60)
