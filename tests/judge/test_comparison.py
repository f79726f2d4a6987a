"""Deciding whether outputs are right.

Sizes must be exact and values finite, differences must be within the tolerance, and the first mismatch is named. For
tasks with a compare.py, its verdict decides as well.
"""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from task_factory import COMPARE, GEN_INPUT, cudabench_row, load_row

from cuset_stage.judge import closeness, comparison, oracle
from cuset_stage.judge.comparison import compare_outputs
from cuset_stage.judge.oracle import CaseCache, OracleError, PreparedCase
from cuset_stage.sandbox import SandboxError
from cuset_stage.tasks import Case, ProgramTask, ReferenceOracle, Tensor


pytestmark = pytest.mark.usefixtures("forked")


def judge(folder: Path, expected: dict, actual: dict, tolerance=None):
    """Write expected and actual arrays to files and compare them as for a task with a reference.

    Return the comparison.
    """
    (folder / "expected").mkdir(exist_ok=True)
    tensors = tuple(Tensor(name, str(array.dtype), array.shape) for name, array in expected.items())
    case = Case("only", {}, (), tensors)
    task = ProgramTask("t", "t", "t", {}, None, (case,), ReferenceOracle(""), None, "t.jsonl:1")
    files = {}
    for name, array in expected.items():
        array.tofile(folder / "expected" / name)
        if actual.get(name) is not None:
            actual[name].tofile(folder / name)
            files[f"data/{name}.bin"] = folder / name
    right = {tensor.file: folder / "expected" / tensor.name for tensor in tensors}
    prepared = PreparedCase({}, right, folder, {}, tolerance or dict.fromkeys(expected, (1e-3, 1e-3)), None)
    return compare_outputs(task, case, prepared, files)


def one(folder, expected, actual, rtol=0.0, atol=0.0, dtype="float32"):
    return judge(folder, {"y": np.array(expected, dtype)}, {"y": np.array(actual, dtype)}, {"y": (rtol, atol)})


def test_the_first_wrong_value_is_named(tmp_path):
    expected = np.arange(12, dtype=np.float32).reshape(3, 4)
    actual = expected.copy()
    actual[1, 2], actual[2, 0] = 9.0, -1.0
    result = judge(tmp_path, {"c": expected}, {"c": actual}, {"c": (1e-3, 1e-3)})
    assert not result.passed
    assert result.message == (
        "data/c.bin: 2 of 12 values are wrong (rtol 0.001, atol 0.001), first at (1, 2): expected 6.0, found 9.0"
    )
    assert result.max_abs_error == 9.0


@pytest.mark.parametrize("chunk", [1, 4, 5, 12, 13])
def test_chunks_do_not_matter(tmp_path, monkeypatch, chunk):
    monkeypatch.setattr(closeness, "CHUNK", chunk)
    expected = np.arange(1, 13, dtype=np.float32)
    actual = expected.copy()
    actual[[7, 9]] += 1
    result = one(tmp_path, expected, actual)
    assert result.message.startswith("data/y.bin: 2 of 12") and "first at (7,): " in result.message
    assert (result.max_abs_error, result.max_rel_error) == (1.0, 0.125)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64"])
def test_values_are_finite(tmp_path, value, dtype):
    result = one(tmp_path, [1, 2, 3], [1, value, 3], rtol=1e9, atol=1e9, dtype=dtype)
    assert not result.passed
    assert "1 of 3 values are not finite, first at (1,)" in result.message


def test_where_the_reference_is_not_finite_it_decides(tmp_path):
    special = [np.nan, np.inf, -np.inf, 1.0]
    assert one(tmp_path, special, special, 1e-3, 1e-3).passed
    for place, other in ((0, 0.0), (1, -np.inf), (2, np.nan)):
        wrong = list(special)
        wrong[place] = other
        assert f"first at ({place},): " in one(tmp_path, special, wrong, 1e-3, 1e-3).message


def test_zero_tolerance_is_exact(tmp_path):
    one_up = float(np.nextafter(np.float32(1), np.float32(2)))
    assert one(tmp_path, [1.0, 0.0], [1.0, -0.0]).passed
    assert not one(tmp_path, [1.0, 0.0], [one_up, 0.0]).passed
    assert not one(tmp_path, [0.0], [1e-45]).passed


@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_the_tolerance_is_relative_to_the_reference(tmp_path, dtype):
    passed = [one(tmp_path, [-8], [y], rtol=0.25, atol=1.0, dtype=dtype).passed for y in (-12, -11, -5, -4)]
    assert passed == [False, True, True, False]


@pytest.mark.parametrize(
    ("dtype", "expected", "actual", "distance"),
    [
        ("int8", -128, 127, 255),
        ("int32", -(2**31), 2**31 - 1, 2**32 - 1),
        ("uint8", 0, 255, 255),
        ("uint32", 1, 0, 1),
        ("int64", 2**62, 2**62 + 1, 1),  # equal as float64
        ("uint64", 2**64 - 1, 2**64 - 2, 1),
    ],
)
def test_integers_do_not_wrap_or_round(tmp_path, dtype, expected, actual, distance):
    result = one(tmp_path, [expected], [actual], dtype=dtype)
    assert not result.passed
    assert result.max_abs_error == distance
    assert result.message.endswith(f"first at (0,): expected {expected}, found {actual}")
    assert one(tmp_path, [expected], [expected], dtype=dtype).passed
    assert one(tmp_path, [expected], [actual], dtype=dtype, atol=distance).passed
    assert not one(tmp_path, [expected], [actual], dtype=dtype, atol=distance / 2).passed


FLOATS = st.floats(-1e6, 1e6, width=32)


@given(
    arrays.arrays(np.float32, 6, elements=FLOATS),
    arrays.arrays(np.float32, 6, elements=st.sampled_from([0, 0, 0, 1e-6, -1e-3, 0.1, 3])),
    st.sampled_from([0, 1e-5, 1e-2]),
    st.sampled_from([1e-6, 1e-3, 1]),
)
def test_agrees_with_numpy(tmp_path_factory, expected, noise, rtol, atol):
    folder = tmp_path_factory.mktemp("compare")
    actual = expected + noise
    result = one(folder, expected, actual, rtol, atol)
    close = np.isclose(actual.astype(np.float64), expected.astype(np.float64), rtol=rtol, atol=atol)
    assert (result.passed, not result.message) == (close.all(), close.all())
    if not result.passed:
        assert f"first at ({np.argmin(close)},): " in result.message
    error = np.abs(actual.astype(np.float64) - expected.astype(np.float64))
    assert result.max_abs_error == pytest.approx(error.max())
    relative = error[expected != 0] / np.abs(expected[expected != 0].astype(np.float64))
    assert result.max_rel_error == pytest.approx(relative.max(initial=0))


def test_every_output_is_there_with_its_exact_size(tmp_path):
    expected = {"a": np.zeros(3, np.float32), "b": np.ones(2, np.int32)}
    assert judge(tmp_path, expected, expected).passed
    missing = judge(tmp_path, expected, {"a": expected["a"], "b": None})
    assert (missing.passed, missing.message) == (False, "data/b.bin: not written")
    for elements, message in ((0, "0 bytes, expected 12"), (2, "8 bytes, expected 12"), (4, "16 bytes")):
        wrong = judge(tmp_path, expected, {**expected, "a": np.zeros(elements, np.float32)})
        assert not wrong.passed and message in wrong.message
    wrong = judge(tmp_path, expected, {**expected, "b": np.array([1, 2], np.int32)}, dict.fromkeys("ab", (0, 0)))
    assert wrong.message.startswith("data/b.bin: 1 of 2") and wrong.message.endswith("(1,): expected 1, found 2")
    (tmp_path / "a").rename(tmp_path / "elsewhere")
    (tmp_path / "a").symlink_to(tmp_path / "elsewhere")
    assert judge(tmp_path, expected, expected).message == "data/a.bin: not written"


@pytest.mark.parametrize("left", [0, 1998, 2048, 3998])
def test_a_file_that_becomes_shorter_while_it_is_read_is_noticed(tmp_path, monkeypatch, left):
    monkeypatch.setattr(closeness, "CHUNK", 512)
    values = np.ones(1000, np.float32)
    values.tofile(tmp_path / "expected")
    for both in (False, True):
        (tmp_path / "y").write_bytes(values.tobytes()[:left])
        expected = tmp_path / ("y" if both else "expected")
        with pytest.raises(OSError, match="became shorter while it was read"):
            closeness.distance(expected, tmp_path / "y", "float32", 1000, 0.0, 0.0)


def test_extreme_values_warn_nobody(tmp_path, recwarn):
    large = np.full(3, 1.7e308 * (1 + 1j))
    assert one(tmp_path, large, large, rtol=0.1, dtype="complex128").passed
    assert not one(tmp_path, large, -large, rtol=0.1, dtype="complex128").passed
    subnormal = one(tmp_path, [5e-324], [1e10], dtype="float64")
    assert not subnormal.passed and subnormal.max_rel_error == np.inf
    assert not recwarn.list


@pytest.fixture
def by_script(tmp_path, empty_cache):
    """A function that judges the right output, changed by `change`, with this compare.py.

    It checks that the reference stays intact.
    """
    cache = CaseCache()

    def run(compare, change=lambda y: y, row=None):
        task = load_row(tmp_path, cudabench_row(**{"compare.py": compare}, **(row or {})))
        prepared = cache.prepare(task, task.cases[0])
        reference = next(iter(prepared.references.values()), Path("/dev/null"))
        change(np.fromfile(reference, np.float32)).tofile(tmp_path / "y.bin")
        digest = reference.read_bytes()
        try:
            return compare_outputs(task, task.cases[0], prepared, {"data/y.bin": tmp_path / "y.bin"})
        finally:
            assert reference.read_bytes() == digest

    return run


def test_compare_py_decides(by_script, sandboxed):
    right = by_script(COMPARE)
    assert right.passed and right.max_abs_error == 0
    wrong = by_script(COMPARE, lambda y: np.where(np.isin(np.arange(64), [5, 9]), y + 1, y))
    assert not wrong.passed and wrong.max_abs_error == pytest.approx(1)
    said = r"compare.py: F; data/y.bin: 2 of 64 values differ from the .*, first at \(5,\): expected -?[0-9.]+, found "
    assert re.match(said, wrong.message)


def test_compare_py_is_not_asked_twice_about_the_same_bytes(by_script, monkeypatch):
    by_script(COMPARE)  # this judges the reference itself and remembers the verdict

    def refuse(*_):
        raise AssertionError("asked")

    monkeypatch.setattr(comparison, "run_compare", refuse)
    assert by_script(COMPARE).passed
    with pytest.raises(AssertionError, match="asked"):
        by_script(COMPARE, lambda y: np.where(y == y[3], np.nextafter(y, 9, dtype=np.float32), y))


def test_size_and_finite_values_come_before_compare_py(by_script):
    assert "128 bytes, expected 256" in by_script("print('T')", lambda y: y[:32]).message
    assert "64 of 64 values are not finite" in by_script("print('T')", lambda y: y * np.nan).message


LAX = "import numpy as np\nprint('F' if any(abs(np.fromfile(f'data/y.bin', '<f4')[:2]) > 9) else 'T')"


@pytest.mark.parametrize(
    ("references", "row"),
    [
        ("r = 2 * x; r[5] = np.inf; r.tofile('data/y_ref.bin')", {}),  # infinite where the output is NaN
        ("(2 * x)[:7].tofile('data/y_ref.bin')", {}),  # the reference has another size
        ("(2 * x).tofile('data/other.npy')\n" * 7, {}),
        ("", {}),
        ("(2 * x).tofile('data/y_ref.bin')", {"outputs": [{"name": "y", "dtype": "float32", "shape": "(2,)"}]}),
        ("(2 * x).tofile('data/y_ref.bin')", {"outputs": [{"name": "y", "dtype": "bfloat16", "shape": "(128,)"}]}),
    ],
)
def test_nan_passes_no_compare_py(by_script, references, row):
    """A compare.py that tests `d > tol` accepts NaN, since the comparison is false. The judge refuses NaN itself."""
    row = {"gen.py": f"{GEN_INPUT}{references}\n", **row}
    values = np.arange(64, dtype=np.float32)
    wrong = by_script(LAX, lambda y: np.where(values == 5, np.float32("nan"), values), row)
    assert not wrong.passed and ("is NaN, which no reference is" in wrong.message or "not finite" in wrong.message)
    assert by_script(LAX, lambda y: values, row).passed


def test_nan_is_right_where_the_reference_is(by_script):
    """NaN is allowed where a reference has it, even if it is not known which of several references belongs to the
    output.
    """
    for files in (["y_ref.bin"], [f"r{i}.bin" for i in range(7)]):
        row = {"gen.py": f"{GEN_INPUT}x[5] = np.nan\nfor n in {files}: (2 * x).tofile('data/' + n)\n"}
        assert by_script(LAX, lambda y: y, row).passed
    assert not by_script(LAX, lambda y: y * np.nan, {**row, "gen.py": row["gen.py"].replace("np.nan", "1")}).passed


def test_nan_of_a_file_that_is_not_of_the_declared_dtype_is_none(by_script):
    """A file whose size fits the declared shape as float64 is not checked for NaN as float32.

    Half of a float64 may look like NaN when it is read as a float32.
    """
    row = {"gen.py": f"{GEN_INPUT}np.full(64, np.float64(0.1)).tofile('data/y_ref.bin')\n"}
    nan_below = np.full(64, 0x3FB999997FC00000, np.uint64)
    assert by_script("print('T')", lambda y: nan_below.view(np.float64), row).passed
    wrong = by_script("print('T')", lambda y: np.full(64, np.nan), row)
    assert not wrong.passed and "is NaN, which no reference is" in wrong.message


def test_either_size_of_a_row_that_contradicts_itself(by_script):
    """The row declares one shape and gen.py writes another.

    A program that follows either of them is judged by its values.
    """
    row = {"outputs": [{"name": "y", "dtype": "float32", "shape": "(2,)"}]}
    compare = COMPARE.replace("np.float32)", "np.float32, count=2)")
    for size, wrong in ((64, False), (2, False), (64, True), (2, True)):
        assert by_script(compare, lambda y, size=size, wrong=wrong: y[:size] + wrong, row).passed is not wrong
    assert "12 bytes, expected 8 or 256" in by_script(compare, lambda y: y[:3], row).message


STRICT = "import numpy as np\ny, r = (np.fromfile(f'data/{n}.bin', np.float32) for n in ('y', 'y_ref'))\nok = bool((y == r).all())\n"


@pytest.mark.parametrize(
    "compare",
    [
        "print('T' if ok else 'F')\nraise SystemExit(1)",
        "import sys\nsys.stdout.write('result: T' if ok else 'result: F')\nsys.exit()",
        "print('T')\nif not ok: print('F')",
        "assert ok\nprint('T')",  # a traceback
        "print('T')\nassert ok",  # a T, then a traceback
        "if ok: print('T')",  # prints neither T nor F
        "import os\nif not ok: os._exit(3)\nprint('T')",
        "import os\nif not ok: os.kill(os.getpid(), 11)\nprint('T')",
    ],
)
def test_ways_to_say_no(by_script, compare):
    assert by_script(STRICT + compare).passed
    wrong = by_script(STRICT + compare, lambda y: y + 1)
    assert not wrong.passed
    assert "compare.py" in wrong.message


@pytest.mark.parametrize(
    ("compare", "said"),
    [
        ("raise ValueError('broken')", "stops with a traceback .ValueError: broken"),
        ("print('T' if ok else 'F')\nraise ValueError('broken')", "stops with a traceback"),
        ("pass", "prints neither T nor F"),
        ("import sys; sys.exit('T')", "prints neither T nor F"),
        ("print(ok)", "prints neither T nor F .True"),
        ("print('F' if ok else 'T')", "prints F"),
        ("print('T F')", "prints F"),
    ],
)
@pytest.mark.parametrize("wrong_by", [0, 1])
def test_a_compare_py_that_cannot_judge_is_the_judges_fault(by_script, compare, said, wrong_by):
    """This holds for right and wrong answers alike.

    Otherwise what the oracle happens to print would decide who is charged.
    """
    with pytest.raises(OracleError, match=f"task 3: its compare.py {said}.* no answer is charged"):
        by_script(STRICT + compare, lambda y: y + wrong_by)


@pytest.mark.parametrize("end", ["assert ok\nprint('T')", "if ok: print('T')"])
def test_a_compare_py_that_a_full_disk_may_have_stopped_charges_nobody(by_script, monkeypatch, end):
    assert by_script(STRICT + end).passed
    monkeypatch.setattr("cuset_stage.sandbox.folders.ROOM_BYTES", 2**60)  # every disk counts as full
    with pytest.raises(SandboxError, match=r"compare.py .* of the disk are free"):
        by_script(STRICT + end, lambda y: y + 1)


def test_a_compare_py_that_does_not_end(by_script, sandboxed, monkeypatch):
    limits = replace(oracle.COMPARE_LIMITS, cpu_s=1)  # CPU time, because the wall clock also runs for other programs
    monkeypatch.setattr(oracle, "COMPARE_LIMITS", limits)
    stopped = r"task 3: compare\.py was stopped at its CPU time limit of 1 s"
    chosen = by_script(STRICT + "while not ok: pass\nprint('T')", lambda y: y + 1)
    assert not chosen.passed and re.match(stopped + ", where the reference passes", chosen.message)
    slow = "import time\nwhile time.process_time() < 2: pass\nprint('T' if ok else 'F')"
    with pytest.raises(OracleError, match=stopped):  # it does not end on the reference either
        by_script(STRICT + slow, lambda y: y + 1)


@pytest.mark.parametrize("dtype", ["float8_e4m3", "torch.float32", "<f4", "float", None])
def test_without_a_reference_compare_py_decides(tmp_path, empty_cache, dtype):
    """If the size is unknown as well, any output that is not empty may be right."""
    compare = "import numpy as np\nx, y = (np.fromfile(f, np.float32) for f in ('data/x.bin', 'data/y.bin'))\n"
    compare += "print('T' if np.array_equal(2 * x, y) else 'F')"
    outputs = [{"name": "y", "dtype": dtype, "shape": "(64,)"}] if dtype else []
    task = load_row(tmp_path, cudabench_row(outputs=outputs, **{"gen.py": GEN_INPUT, "compare.py": compare}))
    prepared = CaseCache().prepare(task, task.cases[0])
    values = 2 * np.fromfile(prepared.inputs["data/x.bin"], np.float32)
    verdicts = []
    for content in (values, values + 1, values[:0]):
        content.tofile(tmp_path / "y.bin")
        verdicts.append(compare_outputs(task, task.cases[0], prepared, {"data/y.bin": tmp_path / "y.bin"}))
    assert [verdict.passed for verdict in verdicts] == [True, False, False]
    assert "0 bytes, expected" in verdicts[2].message
    values.tofile(tmp_path / "y.bin")
    broken = replace(task, oracle=replace(task.oracle, compare="raise ValueError"))
    with pytest.raises(OracleError, match="no reference on which it could be tried"):
        compare_outputs(broken, task.cases[0], prepared, {"data/y.bin": tmp_path / "y.bin"})


def test_compare_py_has_copies_only(by_script, sandboxed):
    """A script that overwrites the reference with the output does not affect later judgements.

    `by_script` checks the file.
    """
    compare = "import shutil\ntry: shutil.copy('data/y.bin', 'data/y_ref.bin')\nexcept OSError: pass\n" + COMPARE
    assert by_script(compare).passed
    by_script(compare, lambda y: y + 1)
    assert by_script(compare).passed
