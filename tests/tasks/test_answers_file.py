"""The answers file: what is written comes back, broken lines are named, and a file cut off anywhere goes on."""

import gzip
import json
import logging
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from task_factory import write_lines

from cuset_stage.jsonl import Appender, LinesError, read_objects
from cuset_stage.tasks.answers_file import Answer, read_answers
from cuset_stage.text import InputError


FULL = Answer(
    task="scan", sample=2, answer="Größe ∑\n```cpp\nint main() {}\n```", reasoning="hm", tokens=7, prompt_tokens=11,
    finish_reason="stop", model="m", adapter="a", level=1, temperature=0.8, top_p=0.95, seed=3, max_tokens=64, seconds=1.5,
    extra={"sample_seed": 99, "nested": {"a": [1, None]}},
)  # fmt: skip


def line(**changes):
    return {"task": "t", "sample": 0, "answer": "x", **changes}


def test_round_trip_of_every_field(tmp_path):
    file = tmp_path / "new" / "answers.jsonl"
    with Appender(file) as appender:
        appender.append(FULL.to_record())
        appender.append(Answer(task="scan", sample=3, answer="\ud800 lone surrogate\u2028").to_record())
    first, second = read_answers(file)
    assert first == Answer(**{**vars(FULL), "source": f"{file}:1"})
    assert second.answer == "\ud800 lone surrogate\u2028"
    assert file.read_bytes().count(b"\n") == 2
    assert "Größe" in file.read_text(encoding="utf-8")


def test_code_that_is_given_is_not_extracted(tmp_path):
    fenced = line(sample=1, answer="```cpp\nmain(1)\n```")
    rows = (line(code="int main() {}"), fenced, {"task": 7, "sample": 2, "code": "c"})
    given_code, extracted, code_only = read_answers(write_lines(tmp_path / "a.jsonl", *rows))
    assert given_code.program(language="cuda") == "int main() {}"
    assert extracted.program(language="cuda") == "main(1)\n"
    assert (code_only.task, code_only.answer, code_only.program(language="python")) == ("7", "c", "c")


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"sample": 0, "answer": "x"}, "it has sample, answer; expected task, sample and answer .or code."),
        ({"task": "t", "sample": 0}, "answer is missing; expected text"),
        (line(sample=True), "sample is True; expected an integer"),
        (line(sample=100_000), "sample is 100000; expected an integer from 0 below 100,000"),
        (line(tokens=-1), "tokens is -1; expected an integer from 0 below .*, or null"),
        (line(level=-1), "level is -1; expected a level, 1 to 3, or null"),
        (line(temperature=float("nan")), "temperature is nan; expected a finite number"),
        ([1], "list; expected one JSON object a line"),
        (
            line(),
            r"sample 0 of task 't' is already at .*a\.jsonl:1; the two lines are one answer: take one of them out",
        ),
        (line(answer="y"), r"sample 0 of task 't' is already at .*a\.jsonl:1; number the samples"),
    ],
)
def test_broken_line_is_named(tmp_path, record, message):
    file = write_lines(tmp_path / "a.jsonl", line(), record)
    with pytest.raises(InputError, match=message) as error:
        read_answers(file)
    assert str(error.value).startswith(f"{file}:2: ")


@given(st.binary(max_size=200))
@settings(max_examples=200, deadline=None)
def test_any_bytes_give_answers_or_a_clear_error(tmp_path_factory, data):
    file = tmp_path_factory.mktemp("bytes") / "a.jsonl"
    file.write_bytes(data)
    try:
        read_answers(file)
    except InputError as error:
        assert str(file) in str(error)
    for place in (file.parent, file.parent / "none.jsonl"):
        with pytest.raises(InputError, match=place.name):
            read_answers(place)


def test_file_cut_off_at_any_byte_goes_on(tmp_path, caplog):
    records = (line(answer="ä"), line(sample=1, answer="∑"))
    whole = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()
    end_of_first = whole.index(b"\n") + 1
    for cut in range(len(whole) + 1):
        file = tmp_path / f"{cut}.jsonl"
        file.write_bytes(whole[:cut])
        # whole without the last line end is a whole line still
        expected = (cut >= end_of_first - 1) + (cut >= len(whole) - 1)
        torn = cut not in (0, end_of_first - 1, end_of_first, len(whole) - 1, len(whole))
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            assert len(read_answers(file)) == expected
        assert ("cut off" in caplog.text) == torn
        with Appender(file) as appender:
            appender.append(Answer(task="new", sample=0, answer="n").to_record())
        assert [answer.task for answer in read_answers(file)] == ["t"] * expected + ["new"]
    file.write_text(json.dumps(line()) + "\n" + '{"task": "' + "x" * 200_000)  # more than is read at once
    with Appender(file):
        pass
    assert file.read_text() == json.dumps(line()) + "\n"
    for text in ('[\n{"note": 1}\n]', '[{"note": 1},\n{"note": 2}]'):  # a user's file, given by mistake
        file.write_text(text)
        with Appender(file), pytest.raises(LinesError, match=":1: not JSON"):
            read_answers(file)
        assert file.read_text().rstrip() == text
    file.write_bytes(b"\xef\xbb\xbf" + whole[:-9])  # as an editor of Windows saves it
    with Appender(file):
        assert len(read_answers(file)) == 1
    packed = gzip.compress(whole)
    file.write_bytes(packed)
    with Appender(file), pytest.raises(LinesError, match=r"\.jsonl: compressed by gzip; unpack it"):
        read_answers(file)
    assert file.read_bytes() == packed
    file.write_text("one line")
    with pytest.raises(LinesError, match=":1: not JSON"):
        read_answers(file)


def test_what_is_written_is_never_lost_in_a_file_that_was_replaced(tmp_path):
    """As `sed -i` and many editors replace it, or rm removes it."""
    file, edited = tmp_path / "a.jsonl", tmp_path / "edited.jsonl"
    for replaced in (True, False):
        with Appender(file) as appender:
            appender.append(line(answer="kept"))
            edited.write_text(file.read_text())
            edited.replace(file) if replaced else file.unlink()
            with pytest.raises(LinesError, match=r"a\.jsonl: removed or replaced .* Run the command again"):
                appender.append(line(answer="lost"))
        assert file.exists() == replaced
    with Appender(file) as appender:
        file.rename(edited)  # where it can be found
        appender.append(line(answer="found"))
    assert "found" in edited.read_text()


LIMITED = """
import resource, signal, sys
from pathlib import Path
from cuset_stage.jsonl import Appender, LinesError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    with Appender(Path(sys.argv[1])) as appender:
        appender.append({"kept": 1})
        appender.append({"lost": "x" * 5000})
except LinesError as error:
    print(error)
"""


def test_another_writer_and_a_full_disk_leave_whole_lines(tmp_path):
    """A process whose file size is limited meets an error in the middle of a line, as on a full disk."""
    file = tmp_path / "a.jsonl"
    with Appender(file):
        done = subprocess.run([sys.executable, "-c", LIMITED, file], capture_output=True, text=True)
        assert "another process is writing to it" in done.stdout, done.stderr
    done = subprocess.run([sys.executable, "-c", LIMITED, file], capture_output=True, text=True)
    assert "cannot write" in done.stdout, done.stderr
    assert list(read_objects(file)) == [(1, {"kept": 1})]
    with pytest.raises(LinesError, match="cannot write"):
        Appender(file / "below.jsonl")
