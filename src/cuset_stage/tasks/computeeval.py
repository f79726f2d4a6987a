"""Read NVIDIA's ComputeEval from problems.jsonl of one of its releases.

The licence of the data allows evaluation, but neither training nor copies. A problem is a program of several files:
the answer (solution.cu or solution.cpp), context files that the model sees, and tests with a main that returns 0 if
they pass. `cuda_python` problems (cuTile) are left out, because nvcc does not compile them.
"""

import itertools
import re
import shlex
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from ..row_checks import RowModel, Texts
from .base import Case, ProgramTask, Project, ReferenceOracle, Tensor
from .messages import COMPUTEEVAL_SYSTEM
from .task_rows import Filled, MaybeText, Row


SIGN = {"task_id", "prompt"}
LEFT_OUT = "problems of type cuda_python"
SOURCES = (".cu", ".cpp", ".cc", ".cxx", ".c")

# Test and answer are one process, so an answer that calls exit(0) would pass. To prevent this, the linker wraps the
# test's main in the one below. It copies a token that is drawn for the run, and does so only after the test's main has
# returned 0.
_MAIN = "cuset_main.cpp"
_MAIN_SOURCE = """\
#include <cstdio>

extern "C" int __real_main(int count, char **arguments);

extern "C" int __wrap_main(int count, char **arguments) {
    const int status = __real_main(count, arguments);
    if (status != 0) return status;
    char token[16];
    std::FILE *drawn = std::fopen("data/token.bin", "rb"), *returned = std::fopen("data/main_returned.bin", "wb");
    const bool copied = drawn && returned && std::fread(token, 1, sizeof token, drawn) == sizeof token &&
                        std::fwrite(token, 1, sizeof token, returned) == sizeof token && std::fclose(returned) == 0;
    return copied ? 0 : 1;
}
"""
_TOKEN = Case("test", {}, (Tensor("token", "uint8", (16,)),), (Tensor("main_returned", "uint8", (16,)),))
_ORACLE = ReferenceOracle("""\
import numpy as np

TOLERANCE = {"main_returned": (0, 0)}


def make_inputs(rng):
    return {"token": rng.integers(0, 256, 16, dtype=np.uint8)}


def reference(inputs):
    return {"main_returned": inputs["token"]}
""")

FilePath = Annotated[
    str,
    Field(
        strict=True,
        pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.+-]*(/[A-Za-z0-9_][A-Za-z0-9_.+-]*)*$",
        description="a relative path of letters, digits and _ . + - without ..",
    ),
]


class _FileRow(RowModel):
    path: FilePath
    content: Annotated[str, Field(strict=True, description="text")]


class _SolutionRow(RowModel):
    files: list[_FileRow]


class _ReferencesRow(RowModel):
    all: Texts | None = None
    any: Texts | None = None


def _all_of(written: Any) -> Any:
    """Return {"all": names} for a name or a list of names. Anything else is returned as it is."""
    names = [written] if isinstance(written, str) else written
    return {"all": names} if isinstance(names, list) else written


class _TaskRow(RowModel):
    task_id: Annotated[str, Field(strict=True, pattern=r"^[\w.+-]+(/[\w.+-]+)*$", description="such as CUDA/0")]
    type: Annotated[Literal["cuda_cpp", "cuda_python"], Field(description="cuda_cpp or cuda_python")]
    prompt: Filled
    group: MaybeText = None  # releases of 2025 on Hugging Face have none
    build_command: Filled
    test_command: Filled
    context_files: list[_FileRow]
    test_files: list[_FileRow]
    timeout_seconds: Annotated[float | None, Field(gt=0, allow_inf_nan=False, description="seconds")] = None
    source_references: Annotated[
        _ReferencesRow | None,
        Field(description="a name, a list of names, or an object with all and any, lists of names"),
        BeforeValidator(_all_of),
    ] = None
    baseline_solution: _SolutionRow | None = None


def read_task(row: Row) -> ProgramTask | None:
    """Return the task of a row, or None for a problem that is left out.

    Raises:
        TaskError: The row breaks the format. The message names the row and the key at fault.
    """
    problem = row.read(_TaskRow)
    if problem.type != "cuda_cpp":
        return None
    context = {file.path: file.content for file in problem.context_files}
    files = context | {file.path: file.content for file in problem.test_files}
    solution = problem.baseline_solution.files if problem.baseline_solution else []
    if len(solution) > 1:
        row.fail("baseline_solution.files", f"has {len(solution)} files; expected one, as an answer is one file")
    options, answer = _options(row, problem, files, solution[0].path if solution else None)
    if _MAIN in files:
        row.fail("context_files" if _MAIN in context else "test_files", f"{_MAIN} is the judge's own; rename the file")
    request = f"Write {answer}. The program is built with `{problem.build_command.strip()}`."
    context_blocks = [f"{path}:\n```\n{text.strip()}\n```" for path, text in context.items()]
    names = problem.source_references or _ReferencesRow()
    requires = [(name,) for name in names.all or ()] + ([tuple(names.any)] if names.any else [])
    group = problem.group or problem.task_id.partition("/")[0]
    return ProgramTask(
        id=problem.task_id,
        name=problem.task_id,
        family=group,
        prompts={1: "\n\n".join([problem.prompt.strip(), request, *context_blocks])},
        system=COMPUTEEVAL_SYSTEM,
        cases=(_TOKEN,),
        oracle=_ORACLE,
        solution=solution[0].content if solution else None,
        source=row.where,
        split=group,
        project=Project(
            answer,
            files | {_MAIN: _MAIN_SOURCE},
            (*options, _MAIN, "-Xlinker", "--wrap=main"),
            tuple(requires),
        ),
        time_limit=problem.timeout_seconds,
    )


def _options(row: Row, read: _TaskRow, files: Mapping[str, str], solution: str | None) -> tuple[list[str], str]:
    """Return nvcc's options from the build command, and the path of the answer.

    The options do not include the output and -arch, which the compiler sets itself. A star in a path does not match
    a slash, as in a shell.

    Args:
        row: The row, for error messages.
        read: The checked values of the row.
        files: Path -> text of the context files and tests.
        solution: The path of the set's own solution, or None.
    """
    test = re.fullmatch(r"\./([\w.+-]+)", read.test_command.strip())
    if test is None:
        row.fail("test_command", f"is {read.test_command!r}; expected the program alone, such as ./test.out")
    try:
        commands = [shlex.split(part) for part in read.build_command.split("&&")]
    except ValueError as error:
        row.fail("build_command", f"cannot be split into arguments: {error}")
    nvcc = [words for words in commands if words[:1] == ["nvcc"] and ("-o", test[1]) in itertools.pairwise(words)]
    if not nvcc:
        expected = f"nvcc with -o {test[1]}, which test_command runs"
        row.fail("build_command", f"is {read.build_command!r}; expected {expected}")
    options, missing, arguments = [], [], iter(nvcc[0][1:])
    for argument in arguments:
        if argument in ("-o", "-arch"):
            next(arguments, None)
        elif argument.startswith("-arch="):
            continue
        elif argument.startswith("-") or not argument.endswith(SOURCES):
            options.append(argument)
        else:
            matching = [path for path in files if PurePosixPath("/", path).match(f"/{argument}")]
            options += matching or [argument]
            missing += [] if matching else [argument]
    answer = missing[0] if missing else solution
    if len(missing) > 1 or answer is None:
        row.fail("build_command", f"compiles {missing or 'no file'} beside the given files; expected one, the answer")
    return options, answer
