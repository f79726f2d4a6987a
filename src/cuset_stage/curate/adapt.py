"""Stage `adapt`: whatever a source gives becomes something that can be judged.

| given | becomes |
|---|---|
| a task in our own format | a program, as it stands |
| a program whose `main` reads data/*.bin | a program, as it stands |
| a `__global__`, with or without a wrapper; a program with a `main` of another kind | a program: harness around the kernel and what it needs |
| a torch extension with its functional module | a module: Python with ModelNew |
| a PyTorch module, with or without a ModelNew | a module |

A program row has `program` (the source) and `files` or `signature`; a module row has `module_code`, `answer_code` (None when the
source has no answer). Both have `kind`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..answers import extract_code
from ..spans.scrub import scrub
from . import extension
from .callsite import CallSite, read_call
from .ctext import functions
from .harness import whole_program
from .modules import kernelbench_form
from .reachable import without_unused
from .signature import AdaptError, Call, Launch, choose_function, declared_launch, read_signature
from .stage import Dropped, Kept, Outcome, Summary, run_stage
from .stage_rows import Row, read_stage_rows


_SCHEMA = 5
_FILE = re.compile(r'"(?:\./)?data/([A-Za-z_]\w*)\.bin"')
_WRITES = re.compile(r"write|save|store|dump|ofstream|\bout\b|[\"']w", re.IGNORECASE)
_READS = re.compile(r"read|load|ifstream|input|\bin\b|[\"']r", re.IGNORECASE)


def run_adapt(folder: Path, files: Sequence[Path], *, fresh: bool = False) -> Summary:
    """Adapt the rows of `files` into `folder`/adapt/."""
    return run_stage(
        folder / "adapt", "adapt", read_stage_rows(files), adapt_row, settings={"schema": _SCHEMA}, fresh=fresh
    )


def adapt_row(row: Row) -> Outcome:
    """One row, in the form that can be judged, or why it cannot."""
    try:
        found = _adapt(row)
    except AdaptError as error:
        return Dropped(error.reason, str(error))
    kept = {**row, **found}
    if "name" not in kept:
        kept["name"] = found.get("signature", {}).get("function") or row["id"].rsplit(":", 1)[-1]
    return Kept(kept, {"form": found["form"]})


def _adapt(row: Row) -> dict[str, Any]:
    code = row.get("code")
    if isinstance(row.get("task"), dict):
        program = code or row["task"].get("solution")
        if not program:
            raise AdaptError("no_answer", "the task has no solution")
        return {"kind": "program", "form": "task", "program": program}
    if row.get("module_code") or row.get("functional_code"):
        return _module(row)
    if not code and row.get("answer"):
        code = extract_code(row["answer"], language="cuda")
        if code is None:
            raise AdaptError("no_code", "the answer holds no code")
        row = {**row, "code": code}  # later stages look there for lengths, a CPU function, and copies
    if not code:
        raise AdaptError("no_code", "the row holds no code")
    check_source(code)
    if extension.is_extension(code):
        raise AdaptError("no_reference", "a torch extension without the module it serves; give functional_code")
    return {"code": code, **_program(row, code)}


def check_source(code: str) -> None:
    """Refuse what is no CUDA C++: no kernel, brackets that do not match once comments and literals are out.

    Preprocessor branches may hold half a bracket each, so code with `#if` is left to the compiler.
    """
    if "\0" in code:
        raise AdaptError("does_not_parse", "the source holds a NUL character")
    text = scrub(code)
    if "__global__" not in text and "<<<" not in text:
        raise AdaptError("no_kernel", "the source has neither a kernel nor a launch")
    if re.search(r"^\s*#\s*if", text, re.MULTILINE):
        return
    for opening, closing in ("()", "{}", "[]"):
        if text.count(opening) != text.count(closing):
            raise AdaptError(
                "does_not_parse",
                f"{text.count(opening)} `{opening}` and {text.count(closing)} `{closing}`: cut off, or no C++",
            )


def _program(row: Row, code: str) -> dict[str, Any]:
    main = next((each for each in functions(code) if each.name == "main"), None)
    if main is not None:
        files = data_files(code)
        if files["inputs"] and files["outputs"]:
            return {"kind": "program", "form": "program", "program": code, "files": files}
    whole = code if not row.get("wrapper") else f"{code.rstrip()}\n\n{row['wrapper'].strip()}\n"
    try:
        function, call = choose_function(code, row.get("wrapper"), row.get("function"))
        site = read_call(code, function) if call is Call.KERNEL else None
        launch = declared_launch(row.get("launch")) or _launch_of(site)
        signature = read_signature(function, call, row.get("wrapper") or code, launch, site.template if site else ())
    except AdaptError as error:
        if main is None:
            raise
        detail = f"its main reads and writes no data/*.bin, and there is no single kernel to take out of it ({error})"
        raise AdaptError("no_contract" if error.reason.startswith("several") else error.reason, detail) from None
    form = {"kernel": "kernel", "device_wrapper": "wrapper", "host_wrapper": "wrapper"}[call]
    return {
        "kind": "program",
        "form": f"{form} of a program" if main is not None else form,
        "program": whole_program(whole if row.get("wrapper") else without_unused(code, [function.name]), signature),
        "signature": asdict(signature),
        **({"lengths": dict(site.lengths)} if site and site.lengths else {}),
    }


def _launch_of(site: CallSite | None) -> Launch | None:
    return Launch(site.grid, site.block, site.shared) if site and site.grid and site.block else None


def data_files(code: str) -> dict[str, list[str]]:
    """The data/<name>.bin that a program reads and writes, told apart by the words around each name."""
    inputs: dict[str, None] = {}
    outputs: dict[str, None] = {}
    for match in _FILE.finditer(code):
        start = (
            max(
                code.rfind(";", 0, match.start()), code.rfind("{", 0, match.start()), code.rfind("}", 0, match.start())
            )
            + 1
        )
        end = code.find(";", match.end())
        statement = code[start : end if end >= 0 else len(code)].replace(match[0], " ")
        called = re.search(r"([\w:<>]+)\s*\(\s*\Z", code[start : match.start()])
        near = called[1] if called and (_WRITES.search(called[1]) or _READS.search(called[1])) else statement
        writes, reads = bool(_WRITES.search(near)), bool(_READS.search(near))
        if writes == reads:  # neither or both: the variable's later use would have to be followed
            continue
        (outputs if writes else inputs)[match[1]] = None
    return {"inputs": list(inputs), "outputs": list(outputs)}


def _module(row: Row) -> dict[str, Any]:
    code = row.get("code")
    functional = row.get("functional_code")
    reference = row.get("module_code") or functional
    reference = kernelbench_form(reference, row.get("entry"))
    extension.check_module(reference, "Model", "get_inputs")
    if code and extension.is_extension(code):
        if not functional:
            raise AdaptError(
                "no_reference", "a torch extension without functional_code: nothing says how it is called"
            )
        return {
            "kind": "module",
            "form": "extension",
            "module_code": reference,
            "answer_code": extension.model_new(code, functional),
        }
    answer = row.get("answer")
    if answer is None and code and "ModelNew" in code:
        answer = code
    if answer is None:
        return {"kind": "module", "form": "module without an answer", "module_code": reference, "answer_code": None}
    python = extract_code(answer, language="python")
    if python is None:
        raise AdaptError("no_code", "the answer holds no Python with ModelNew")
    extension.check_module(python, "ModelNew")
    return {"kind": "module", "form": "ModelNew", "module_code": reference, "answer_code": python}
