"""Probabilities written for examples are found again by their tokens."""

import hashlib
import pickle
import struct

import numpy as np
import pytest

from cuset_stage.confidence_file import ROWS_A_BATCH, ConfidenceFile, ConfidenceWriter, example_key
from cuset_stage.text import InputError


ABOUT = {"model": "m", "template": "qwen", "cutoff_len": 64}


@pytest.fixture
def examples():
    generator = np.random.default_rng(0)
    found = []
    for number in range(2 * ROWS_A_BATCH + 3):
        ids = generator.integers(0, 150_000, 20 + number % 7)
        labels = np.where(np.arange(len(ids)) < 5, -100, ids)
        found.append((ids.tolist(), labels.tolist(), generator.random(len(ids) - 5, dtype=np.float32)))
    return found


def write(path, examples):
    with ConfidenceWriter(path, ABOUT) as writer:
        for ids, _, values in examples:
            writer.add(ids, values)


def test_the_key_is_that_of_the_contract():
    ids = [1, 151643, 2]
    assert example_key(ids) == hashlib.blake2s(struct.pack("<3i", *ids), digest_size=16).digest()


def test_what_was_written_is_found(tmp_path, examples):
    write(tmp_path / "new" / "c.arrow", examples)
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["c.arrow"]
    for file in (opened := ConfidenceFile(tmp_path / "new" / "c.arrow"), pickle.loads(pickle.dumps(opened))):
        assert file.about == ABOUT and len(file) == len(examples)
        for ids, labels, values in reversed(examples):
            np.testing.assert_array_equal(file.find(ids, labels), values)


def test_keys_that_end_in_zeros_are_told_apart(tmp_path, monkeypatch):
    keys = {1: b"\1" + bytes(15), 2: b"\1\0" + bytes(13) + b"\1", 3: bytes(16)}
    monkeypatch.setattr("cuset_stage.confidence_file.example_key", lambda ids: keys[ids[0]])
    write(tmp_path / "c.arrow", [([number], None, np.full(1, number / 4)) for number in keys])
    file = ConfidenceFile(tmp_path / "c.arrow")
    assert [float(file.find([number], [7])[0]) for number in keys] == [0.25, 0.5, 0.75]


def test_what_rounding_left_outside_of_0_to_1(tmp_path, monkeypatch):
    """Written here, or by others: a file's 1.0000001 is 1, and what no rounding explains is refused."""
    rounded = np.array([1.0000001, -1e-9, 1.0, 0.0, np.nan, 1.004, -0.003], dtype=np.float32)
    ids = list(range(7))
    write(tmp_path / "ours.arrow", [(ids, None, rounded)])
    with monkeypatch.context() as patch:  # a writer that stores what it is given
        patch.setattr("cuset_stage.confidence_file.within_range", lambda values, name: values)
        write(tmp_path / "others.arrow", [(ids, None, rounded), ([9], None, [-2.5]), ([8], None, [np.inf])])
    for name in ("ours", "others"):
        found = ConfidenceFile(tmp_path / f"{name}.arrow").find(ids, ids)
        np.testing.assert_array_equal(found, [1, 0, 1, 0, np.nan, 1, 0])
    for number, shown in ((9, "-2.5"), (8, "inf")):
        with pytest.raises(InputError, match=rf"others\.arrow: row 3 has a probability of {shown}; expected 0 to 1"):
            ConfidenceFile(tmp_path / "others.arrow").find([number], [number], "row 3")
    with pytest.raises(InputError, match=r"new\.arrow: an example has a probability of -2\.5"):
        write(tmp_path / "new.arrow", [(ids, None, [-2.5] * 7)])


def test_what_is_not_there_is_named(tmp_path, examples):
    write(tmp_path / "c.arrow", examples)
    file = ConfidenceFile(tmp_path / "c.arrow")
    ids, labels, _ = examples[0]
    with pytest.raises(
        InputError, match=r"c\.arrow: row 7 of kernels \(21 tokens\) is not among.*template: qwen.*cutoff_len"
    ):
        file.find([*ids, 9], [*labels, 9], "row 7 of kernels")
    with pytest.raises(InputError, match=r"14 supervised tokens here and 15 there.*mask_history"):
        file.find(ids, [-100] * 6 + labels[6:])


def test_an_error_leaves_nothing(tmp_path, examples):
    with pytest.raises(ZeroDivisionError), ConfidenceWriter(tmp_path / "c.arrow", ABOUT) as writer:
        writer.add(*examples[0][::2])
        _ = 1 / 0
    assert not list(tmp_path.iterdir())


def test_other_files_are_refused(tmp_path):
    for name, content in (("a.arrow", b"text"), ("b.arrow", b"")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=rf"{name}: .*save_confidence"):
            ConfidenceFile(tmp_path / name)
    with pytest.raises(InputError, match=r"none\.arrow: cannot be read.*save_confidence"):
        ConfidenceFile(tmp_path / "none.arrow")
