"""Mutants: exact edits on small programs, and what holds for every edit of every bundled program."""

import re
import shutil
import subprocess
from collections import Counter
from functools import cache
from os.path import commonprefix
from pathlib import Path

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cuset_stage.mutants import OPERATORS, Mutant, make_mutants


KERNELS = sorted((Path(__file__).parents[2] / "data" / "kernels").glob("*/kernel.cu"))
# Written anew here, so that what the package takes for a comment is not what judges it.
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
LITERAL = re.compile(r'"(?:[^"\\\n]|\\.)*"')
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)

EDITS = yaml.safe_load(Path(__file__).with_name("edits.yaml").read_text(encoding="utf-8"))
SUM = "\n" + EDITS["program"]
FRAMES = {
    "in_a_kernel": "__global__ void k(float* a, int n) {{ {} }}",
    "in_host_code": "__global__ void k(int x) {{}} __global__ void two(int* p, int r, int c) {{}} void f() {{ {} }}",
    "names": "{} __global__ void k(int* a, int cols) {{ a[0] = cols; }}",  # of other functions, which are not known here
}
CASES = [(operator, SUM, edits) for operator, edits in EDITS["edits"].items()]
CASES += [(case["operator"], case["source"], case["edits"]) for case in EDITS["programs"]]
CASES += [
    (case["operator"], frame.format(case["code"]), [f"line 1: {edit}" for edit in case["edits"]])
    for name, frame in FRAMES.items()
    for case in EDITS[name]
]


def descriptions(source: str, operator: str) -> set[str]:
    return {mutant.description for mutant in make_mutants(source, per_operator=100) if mutant.operator == operator}


@cache
def mutants_of(path: Path) -> list[Mutant]:
    """Of a bundled program, for all tests of a session."""
    return make_mutants(path.read_text(encoding="utf-8"))


def bundled(paths: list[Path], every: int) -> list:
    """One in `every` of these programs, and the others in slow tests."""
    marks = ([pytest.mark.slow] if number % every else [] for number in range(len(paths)))
    return [pytest.param(path, id=path.parent.name, marks=mark) for path, mark in zip(paths, marks, strict=True)]


@pytest.mark.parametrize(("operator", "source", "edits"), CASES)
def test_all_edits_of_a_program(operator, source, edits):
    assert descriptions(source, operator) == set(edits)


def test_source_is_the_original_with_the_edit():
    mutants = {mutant.description: mutant.source for mutant in make_mutants(SUM, per_operator=100)}
    launch = "line 19: `sum<<<(n + 255) / 256, 256>>>(in, out, n)` becomes `sum<<<n / 256, 256>>>(in, out, n)`"
    assert mutants[launch] == SUM.replace("(n + 255) / 256", "n / 256")
    # The comment behind the statement is not code and stays.
    assert mutants["line 8: `__syncthreads();` removed"] == SUM.replace("__syncthreads();", "")
    without = SUM.replace("    CHECK(cudaMemset(out, 0, sizeof(float)));\n", "")
    assert mutants["line 17: `CHECK(cudaMemset(out, 0, sizeof(float)));` removed"] == without


def test_fenced_answers_and_cuda_in_python_strings():
    answer = f"The bound is `i < n`.\n```cuda\n{SUM}```\nNote that i < n."
    assert {m.operator for m in make_mutants(answer)} == {m.operator for m in make_mutants(SUM)}
    for mutant in make_mutants(answer):
        assert mutant.source.startswith("The bound is `i < n`.\n```cuda\n")
        assert mutant.source.endswith("```\nNote that i < n.")
    python = f"import torch\nsource = r'''{SUM}'''\nif i < n: pass\n"
    for mutant in make_mutants(python):
        assert mutant.source.endswith("'''\nif i < n: pass\n")
    assert make_mutants(python)


def test_text_without_code_has_no_mutants():
    deep = "(1 + " * 20_000 + "1" + ")" * 20_000  # no compiler takes it
    assert make_mutants(f"__global__ void k(int* a) {{ a[0] = {deep}; }}") == []
    assert make_mutants("for (int i = 0; i < n; ++i) is a loop.") == []
    assert make_mutants("") == []


def test_operators_take_turns_and_places_are_the_same_each_time():
    counts = [len(make_mutants(SUM, per_operator=count)) for count in (1, 2, 100)]
    assert counts == [10, 17, sum(map(len, EDITS["edits"].values()))]
    with pytest.raises(ValueError, match="per_operator=0: at least 1"):
        make_mutants(SUM, per_operator=0)
    lines = [mutant.line for mutant in make_mutants(SUM, per_operator=3) if mutant.operator == "bound_off_by_one"]
    assert sorted(lines) == [7, 11, 19]  # of the two mutants of one of these lines, one waits for the others
    with_places = [name for name in OPERATORS if EDITS["edits"][name]]
    assert [mutant.operator for mutant in make_mutants(SUM)][: len(with_places)] == with_places
    assert all(mutants_of(path) == make_mutants(path.read_text(encoding="utf-8")) for path in KERNELS[::60])


@pytest.mark.parametrize("path", bundled(KERNELS, every=3))
def test_mutants_of_a_bundled_program(path):
    source, mutants = path.read_text(encoding="utf-8"), mutants_of(path)
    assert len(mutants) >= 5
    assert len({mutant.operator for mutant in mutants}) >= 4
    if re.search(r"__sync(?:threads|warp)\(|\.sync\(\)", COMMENT.sub("", source)):
        assert "drop_syncthreads" in {mutant.operator for mutant in mutants}

    squeezed = {re.sub(r"\s", "", COMMENT.sub("", one)) for one in (source, *(mutant.source for mutant in mutants))}
    assert len(squeezed) == len(mutants) + 1, "a mutant equals the program or another mutant"
    for mutant in mutants:
        check_single_edit_of_code(source, mutant.source, mutant)


def check_single_edit_of_code(source: str, changed: str, mutant: Mutant) -> None:
    start = len(commonprefix([source, changed]))  # noqa: RUF071 - characters, of no path
    end = len(commonprefix([source[start:][::-1], changed[start:][::-1]]))  # noqa: RUF071
    removed = source[start : len(source) - end]
    assert len(removed) <= 250, mutant.description
    # Where lines repeat, the same change can be read one line later than it was made.
    assert 0 <= source.count("\n", 0, start) + 1 - mutant.line <= 2, mutant.description
    assert mutant.description.startswith(f"line {mutant.line}: `")
    assert COMMENT.findall(LITERAL.sub("", changed)) == COMMENT.findall(LITERAL.sub("", source))
    assert DIRECTIVE.findall(changed) == DIRECTIVE.findall(source)
    left, literals = (Counter(LITERAL.findall(text)) for text in (changed, source))
    assert left <= literals and (left == literals or mutant.operator == "dropped_memcpy_or_memset"), mutant.description


WORDS = r"""__global__ void k( ) { } [ ] < > <<< >>> ; , . -> :: = == += <= >= && || ? : + - * / % 0 1 256 i n x
threadIdx.x blockIdx.x blockDim.x dim3 for if while return __shared__ float int __syncthreads ( sync atomicAdd cudaMemcpy
cudaMemset __shfl_down_sync min max static_cast sizeof rows cols " ' // /* */ # \ ``` '''"""
PIECES = st.sampled_from([*WORDS.split(), "\n"])
PROGRAMS = st.sampled_from(KERNELS[::40]).map(lambda path: path.read_text(encoding="utf-8"))
CUT_OFF = st.tuples(PROGRAMS, st.floats(0, 1)).map(lambda cut: cut[0][: round(cut[1] * len(cut[0]))])


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=80).map(" ".join) | st.text(max_size=80) | CUT_OFF)
@example('threadIdx.x / "')
def test_any_text_gives_mutants_or_none(text):
    for source in (text, f"__global__ void k(int n) {{ {text} }}", f"k<<<{text}>>>({text}); {text}"):
        for mutant in make_mutants(source, per_operator=3):
            assert mutant.source != source
            assert 1 <= mutant.line <= source.count("\n") + 1


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")
@pytest.mark.parametrize("path", bundled(KERNELS[5 :: len(KERNELS) // 12], every=100))
def test_mutants_compile(path, tmp_path):
    """They are errors that a compiler does not see. Each has a namespace of its own, so that nvcc reads all of a program at once."""
    programs = [mutant.source for mutant in mutants_of(path)]
    includes = {line for program in programs for line in program.splitlines() if line.startswith("#include")}
    spaces = [f"namespace n{number} {{\n{program}\n}}\n" for number, program in enumerate(programs)]
    code = "".join(line for line in "".join(spaces).splitlines(keepends=True) if not line.startswith("#include"))
    (tmp_path / "all.cu").write_text("\n".join(sorted(includes)) + "\n" + code, encoding="utf-8")
    command = ["nvcc", "-std=c++17", "-arch=sm_90", "-Xcicc", "-O0", "-ptx", "all.cu", "-o", "all.ptx"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
