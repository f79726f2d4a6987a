#!/usr/bin/env python3
"""Build the rows, task sets and pairs of data/ from their sources: operations/, kernels/ and pairs.jsonl.

    python scripts/build_data.py          # does nothing if the built files are newer than their sources
    python scripts/build_data.py --force

It needs the standard library only. Every program is in the repository once, so the built files are not committed.
scripts/setup.sh and the build of the wheel run this script, and so does the package when a built file is missing. A
second process waits for the first one.

An operation is one computation at five fixed sizes. Its folder has these files:

    task.json      title, family, inputs, outputs, cases
    prompt.md      the prompt, with the sizes as {placeholders}
    reference.py   the right outputs, in NumPy
    simple.cu      the program that an engineer writes first
    kernel.cu      another right program, faster
    given.cu       for training operations: a program for prompts that hand out headers and helpers for float files

A program defines each size once, on a line of its own, with the value of the first case. The lines above `//@given`
are the program's own helpers, which a prompt may hand out.
"""

from __future__ import annotations

import fcntl
import gzip
import hashlib
import json
import os
import re
import runpy
import sys
import tomllib
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any


DATA = Path(__file__).resolve().parent.parent / "data"
BUILT = runpy.run_path(str(DATA.parent / "src" / "cuset_stage" / "bundled.py"))["BUILT"]
PROGRAMS = ("simple.cu", "kernel.cu")
CASES = "abcde"
WORDINGS = ("bare", "prompt", "detailed")  # of a harder task; each says more about how to solve it
PAIR_KEYS = ("kind", "change", "verdict")
GIVEN = "//@given\n"
HELD_OUT = 100  # operations for development, and as many for cuset-mini
FRAMES = tomllib.loads((DATA / "operations" / "frames.toml").read_text(encoding="utf-8"))
NAMES = json.loads(gzip.decompress((DATA / "operations" / "names.json.gz").read_bytes()))
C_TYPES = {
    "float32": ("float", "4 bytes"), "float64": ("double", "8 bytes"), "int8": ("signed char", "1 byte"), "uint8": ("unsigned char", "1 byte"),
    "int16": ("short", "2 bytes"), "uint16": ("unsigned short", "2 bytes"), "int32": ("int", "4 bytes"), "uint32": ("unsigned int", "4 bytes"),
    "int64": ("long long", "8 bytes"), "uint64": ("unsigned long long", "8 bytes"),
}  # fmt: skip
FAMILIES = (  # of data/kernels, in the order in which the task sets have them
    "element-wise", "reduction", "scan", "matrix product", "transpose", "stencil", "convolution", "normalisation", "softmax",
    "histogram", "sort", "sparse", "attention", "random numbers", "image", "physics", "losses", "optimisers", "graphs", "point clouds",
    "signal", "wavelets", "finance", "strings", "graphics", "dynamic programming", "number theory",
)  # fmt: skip
EXAMPLES = (
    "matrix_a", "vecA", "inputX", "weights", "image", "signal_in", "points", "table", "src", "vector1", "img", "values_in", "tensorA", "samples",
)  # fmt: skip
# A line that defines a size, as a macro or as a constant.
_SIZE = re.compile(
    r"^(?P<head>[ \t]*(?:#define[ \t]+(?P<macro>\w+)[ \t]+|(?:(?:static|inline|constexpr|const)[ \t]+)+[\w: \t]*?(?P<constant>\w+)[ \t]*=[ \t]*))"
    r"\(?(?P<value>\d[\d'.]*)(?P<suffix>[uUlLfF]*)\)?(?P<rest>[ \t]*;?[^\n]*)$",
    re.MULTILINE,
)

# A token of C++, as far as `renamed` needs it. Strings, characters, includes and numbers match, so that no name is
# found inside them.
_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<text>R"\(.*?\)"|"(?:\\.|[^"\\\n])*")|'(?:\\.|[^'\\\n])+'|\#[ \t]*include[^\n]*"""
    r"""|(?P<name>[A-Za-z_]\w*)|\.?\d(?:[eEpP][+-]|'\w|[\w.])*""",
    re.DOTALL,
)
# A sum, difference or product that stands alone: no other operator binds one of its sides.
_ARITHMETIC = re.compile(
    r"(?<![-+*/^.\w] )(?<![\w.])(?P<left>\{\w+\}|\d+) (?P<sign>[-+*]) (?P<right>\{\w+\}|\d+)(?![\w.]*[\w]| ?[*/^])"
)


def share(*parts: object) -> float:
    """Return a number in [0, 1) that depends on the parts alone: a reproducible random choice."""
    digest = hashlib.sha256(json.dumps(["operations, edition 1", *parts]).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def plain(name: str) -> str:
    """Return a size's name without case and style, so that kRows, ROWS and rows are the same."""
    return re.sub(r"^k(?=[A-Z])", "", name).replace("_", "").lower()


def renamed(program: str, names: dict[str, str]) -> str:
    """Return the program with other names.

    Names change in code, and in comments if the word cannot be plain English. Strings and includes stay as they are.

    Args:
        program: the source.
        names: old name -> new name.
    """

    def other(token: re.Match[str]) -> str:
        if token["comment"]:
            word = r"\b(?![A-Z]?[a-z]+\b|[AI]\b)\w+"
            return re.sub(word, lambda found: names.get(found[0], found[0]), token[0])
        return names.get(token["name"], token[0])

    return _TOKEN.sub(other, program)


def splits(names: list[str]) -> dict[str, str]:
    """Return the split of each operation by name: "train", "develop" or "mini".

    The operations are ordered by a hash of their name. The last 100 are "mini", the 100 before these are "develop".
    """
    order = sorted(names, key=lambda name: share("split", name))
    held_out = dict.fromkeys(order[-2 * HELD_OUT :], "develop") | dict.fromkeys(order[-HELD_OUT:], "mini")
    return dict.fromkeys(order, "train") | held_out


class Operation:
    """An operation, read from a folder of data/operations.

    Attributes:
        name: the folder's name.
        folder: the folder.
        title, family, inputs, outputs: as in task.json.
        cases: the sizes of each of the five cases, by name.
        prompt: text of prompt.md.
        reference: text of reference.py.
        programs: source of each program by file name.

    Raises:
        ValueError: the folder breaks the format. The message names the file and what was expected.
    """

    def __init__(self, folder: Path) -> None:
        self.name, self.folder = folder.name, folder
        task = json.loads((folder / "task.json").read_text(encoding="utf-8"))
        self.title, self.family = task["title"], task["family"]
        self.inputs, self.outputs = task["inputs"], task["outputs"]
        self.cases: list[dict[str, int]] = [case["parameters"] for case in task["cases"]]
        different = {json.dumps(case, sort_keys=True) for case in self.cases}
        if len(different) != 5 or len({tuple(case) for case in self.cases}) != 1:
            raise ValueError(f"{self.name}/task.json: expected five different cases of the same parameters.")
        self.prompt = (folder / "prompt.md").read_text(encoding="utf-8")
        self.reference = (folder / "reference.py").read_text(encoding="utf-8")
        files = [folder / file for file in (*PROGRAMS, "given.cu")]
        self.programs = {file.name: file.read_text(encoding="utf-8") for file in files if file.is_file()}

    def description(self, case: int) -> str:
        """Return the prompt at the sizes of a case. Simple arithmetic on sizes is worked out."""

        def evaluated(match: re.Match[str]) -> str:
            """Return "3001" for "{rows} + 1", and not "3000 + 1"."""
            left, right = (part.format(**self.cases[case]) for part in (match["left"], match["right"]))
            if "{" not in match[0] or not (left + right).isdecimal():
                return match[0]
            return str({"+": int.__add__, "-": int.__sub__, "*": int.__mul__}[match["sign"]](int(left), int(right)))

        try:
            return _ARITHMETIC.sub(evaluated, self.prompt).format(**self.cases[case]).strip()
        except (LookupError, ValueError) as error:
            names = ", ".join(self.cases[0])
            raise ValueError(f"{self.name}/prompt.md: {error!r}; placeholders are {names}.") from None

    def tensors(self, case: int) -> dict[str, list[dict[str, Any]]]:
        """Return inputs and outputs with their shapes at the sizes of a case, as tuples."""

        def at_size(tensor: dict[str, Any]) -> dict[str, Any]:
            sizes = (eval(str(size), {"__builtins__": {}}, dict(self.cases[case])) for size in tensor["shape"])
            return {**tensor, "shape": tuple(sizes)}

        return {key: [at_size(tensor) for tensor in getattr(self, key)] for key in ("inputs", "outputs")}

    def program(self, file: str, case: int, given: bool = False) -> str:
        """Return a program at the sizes of a case.

        Args:
            file: the program's file name.
            case: number of the case, from 0.
            given: whether the mark `//@given` below the helpers stays in.

        Raises:
            ValueError: the program does not define each size exactly once with the first case's value.
        """
        seen: Counter[str] = Counter()

        def at_size(match: re.Match[str]) -> str:
            for size, value in self.cases[case].items():
                if plain(size) == plain(match["macro"] or match["constant"]):
                    seen[size] += 1
                    if float(match["value"].replace("'", "")) != (first := self.cases[0][size]):
                        line = match[0].strip()
                        raise ValueError(f"{self.name}/{file}: {line!r}: expected {first}, as in the first case.")
                    return f"{match['head']}{value}{match['suffix']}{match['rest']}"
            return match[0]

        text = _SIZE.sub(at_size, self.programs[file])
        if misdefined := ", ".join(size for size in self.cases[case] if seen[size] != 1):
            expected = "expected one definition of each, on a line of its own."
            raise ValueError(f"{self.name}/{file}: {misdefined}: {expected}")
        return text if given else text.replace(GIVEN, "")

    def answer(self, file: str, case: int) -> tuple[str, dict[str, str] | None]:
        """Return a whole program at the sizes of a case, and the helpers that its prompt hands out.

        The helpers are None if there are none. Otherwise `kind` is "own" (the program's own helpers, in `code`) or
        "floats" (one of frames.toml's sets, with `code` and the names of the functions that `read` and `write`).
        """
        if file != "given.cu":
            program = self.program(file, case, given=True)
            code = program.partition(GIVEN)[0].rstrip() + "\n" if GIVEN in program else None
            return program.replace(GIVEN, "").strip(), {"kind": "own", "code": code} if code else None
        chosen = FRAMES["helpers"][int(share("helpers", self.name, case) * len(FRAMES["helpers"]))]
        program = self.program(file, case)
        for name in ("read", "write"):
            program = re.sub(rf"\b{name}_binary\b", chosen[name], program)
        return f"{chosen['code'].strip()}\n\n{program.strip()}", {"kind": "floats", **chosen}


def asked(
    operation: Operation, case: int, file: str | None = None, given: dict[str, str] | None = None
) -> dict[str, str]:
    """Return the system and user text of a task, in one of the frames that fit.

    Args:
        operation: the operation.
        case: number of the case, from 0.
        file: the program that answers. None means that a model will answer.
        given: the helpers that the prompt hands out, as `Operation.answer` returns them.
    """
    fitting = {None: (None,), "own": ("own", None), "floats": ("floats",)}[given["kind"] if given else None]
    frames = [frame for frame in FRAMES["frames"] if frame.get("given") in fitting]
    # Counting on by program gives the programs of one task different wordings.
    number = (*PROGRAMS, "given.cu").index(file or PROGRAMS[0])
    frame = frames[(int(share("frame", operation.name, case) * len(frames)) + number) % len(frames)]
    tensors = operation.tensors(case)
    names = {tensor["name"] for declared in tensors.values() for tensor in declared}
    examples = [name for name in EXAMPLES if name not in names]
    values = {
        "title": operation.title,
        "description": operation.description(case),
        "example": examples[int(share("example", operation.name, case, file) * len(examples))],
    }
    if given:
        values |= {"given": given["code"].strip(), "read": given.get("read", ""), "write": given.get("write", "")}
    for key, declared in tensors.items():
        lines = []
        for tensor in declared:
            c_type, size = C_TYPES[tensor["dtype"]]
            lines.append(frame["tensor"].format(**tensor, c_type=c_type, bytes=size))
        values[key] = "\n".join(lines)
    # All values are filled in in one pass, because a description may contain braces.
    pattern = re.compile("|".join(rf"\{{{name}\}}" for name in values))
    return {
        part: pattern.sub(lambda match: str(values[match[0][1:-1]]), frame[part]).strip()
        for part in ("system", "user")
    }


# -------------------------------------------------------------------------------------------------- rows of operations


def training_programs(operation: Operation) -> list[tuple[str, int]]:
    """Return ten pairs (program, case).

    If there is a given.cu, it has a pair at every size, and the other two programs share the remaining five.
    """
    if "given.cu" in operation.programs:
        return [(file, case) for case in range(5) for file in ("given.cu", PROGRAMS[case % 2])]
    return [(file, case) for case in range(5) for file in PROGRAMS]


def operation_row(operation: Operation, file: str, case: int) -> dict[str, str]:
    """Return a training row: the task at one size, with a program as its answer.

    The program gets the names that names.json.gz has for the row. If a program had the same names in all of its rows,
    a model would learn them by heart.
    """
    program, given = operation.answer(file, case)
    texts = asked(operation, case, file, given)
    wording = file.removesuffix(".cu")
    program = renamed(program, NAMES.get(operation.name, {}).get(f"{wording} {CASES[case]}", {}))
    return {
        "system": texts["system"],
        "instruction": texts["user"],
        "input": "",
        "output": f"```cpp\n{program}\n```",
        "name": f"{operation.name}_{CASES[case]}",
        "family": operation.family,
        "wording": wording,
    }


def operation_task(operation: Operation, case: int, split: str) -> dict[str, Any]:
    """Return a task for the judge's task sets: the operation at one size."""
    texts = asked(operation, case)
    return {
        "id": f"{operation.name}_{CASES[case]}",
        "name": operation.name,
        "family": operation.family,
        "split": split,
        "prompt": texts["user"],
        "system": texts["system"],
        "inputs": operation.inputs,
        "outputs": operation.outputs,
        "cases": [{"name": CASES[case], "parameters": operation.cases[case]}],
        "reference": operation.reference,
        "solution": operation.program("kernel.cu", case),
        "alternative": operation.program("simple.cu", case),
        "licence": "Apache-2.0",
        "source": f"data/operations/{operation.name}",
    }


# ------------------------------------------------------------------------------------ the harder tasks of data/kernels


def read_kernel(folder: Path) -> dict[str, Any]:
    """Return the texts of a folder of data/kernels by file name, together with the keys of task.json."""
    files = [file for file in sorted(folder.iterdir()) if file.suffix in (".md", ".cu", ".py")]
    texts = {file.name: file.read_text(encoding="utf-8") for file in files}
    return {"name": folder.name, **texts, **json.loads((folder / "task.json").read_text(encoding="utf-8"))}


def mixed(text: str) -> int:
    """Return a checksum of the text, for an order or a choice that is reproducible and has no pattern."""
    return zlib.crc32(text.encode())


def kernel_rows(kernel: dict[str, Any]) -> Iterator[dict[str, str]]:
    """Yield three training rows of a harder task, one per wording.

    The detailed wording describes kernel.cu, so kernel.cu answers it. If there is a simple.cu, it answers the wording
    "bare" in about half of the tasks and "prompt" in the others. So the length of a question does not tell which
    program answers it.
    """
    simple_for = ("bare", "prompt")[mixed(kernel["name"]) % 2] if "simple.cu" in kernel else None
    for wording in WORDINGS:
        block = f"```cpp\n{kernel['simple.cu' if wording == simple_for else 'kernel.cu'].strip()}\n```"
        yield {
            "system": "",
            "instruction": kernel[f"{wording}.md"].strip(),
            "input": "",
            "output": block if wording == simple_for else f"{kernel['intro.md'].strip()}\n\n{block}",
            "name": kernel["name"],
            "family": kernel["family"],
            "wording": wording,
        }


def kernel_task(kernel: dict[str, Any], split: str | None = None) -> dict[str, Any]:
    """Return a harder task for the judge's task sets. `split` replaces the task's own."""
    return {
        "id": kernel["name"],
        "family": kernel["family"],
        "split": split or kernel["split"],
        **{wording: kernel[f"{wording}.md"].strip() for wording in WORDINGS},
        "system": None,
        **{key: kernel[key] for key in ("sizes", "inputs", "outputs", "cases")},
        "reference": kernel["reference.py"],
        "solution": kernel["kernel.cu"],
        "alternative": kernel.get("simple.cu"),
        "idioms": kernel["idioms"],
        "licence": "Apache-2.0",
        "source": f"data/kernels/{kernel['name']}",
    }


def pairs(kernels: dict[str, dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the pairs of data/pairs.jsonl as whole responses.

    `wrong` is another program of the task, or it is `right` with the text from `start` to `end` replaced.
    """
    for line in (DATA / "pairs.jsonl").read_text(encoding="utf-8").splitlines():
        pair = json.loads(line)
        programs = {name: kernels[pair["task"]][name].strip() for name in PROGRAMS if name in kernels[pair["task"]]}
        right = programs[pair["program"]]
        if "wrong_program" in pair:
            wrong = programs[pair["wrong_program"]]
        else:
            wrong = right[: pair["start"]] + pair["replacement"] + right[pair["end"] :]
        texts = {name: f"```cpp\n{code}\n```" for name, code in (("right", right), ("wrong", wrong))}
        yield {"task": pair["task"], **texts, **{key: pair[key] for key in PAIR_KEYS if key in pair}}


# ------------------------------------------------------------------------------------------------------------ building


def read_kernels() -> dict[str, dict[str, Any]]:
    """Return the harder tasks by name, ordered by family."""
    kernels = [read_kernel(file.parent) for file in (DATA / "kernels").glob("*/task.json")]
    kernels.sort(key=lambda kernel: (FAMILIES.index(kernel["family"]), kernel["name"]))
    return {kernel["name"]: kernel for kernel in kernels}


def build() -> dict[str, str]:
    """Return the text of every built file by its name."""
    operations = [Operation(file.parent) for file in sorted((DATA / "operations").glob("*/task.json"))]
    split, names = splits([operation.name for operation in operations]), ("train", "develop", "mini")
    train, develop, mini = ([operation for operation in operations if split[operation.name] == name] for name in names)
    kernels = read_kernels()
    hard, level_2 = ([item for item in kernels.values() if item["split"] == name] for name in ("train", "eval"))
    easy_rows = [operation_row(item, *program) for item in train for program in training_programs(item)]
    held_out = [operation_row(item, PROGRAMS[mixed(item.name) % 2], mixed(item.name) % 5) for item in develop]
    tasks = [operation_task(item, mixed(item.name) % 5, "train") for item in train]
    level_1 = [operation_task(item, mixed(item.name) % 5, "level1") for item in mini]

    def rows(of_split: list[dict[str, str]]) -> str:
        # The rows are mixed, so that LLaMA-Factory's max_samples takes some of each family.
        in_order = sorted(of_split, key=lambda row: mixed(row["name"] + row["wording"]))
        return json.dumps(in_order, indent=1, ensure_ascii=False) + "\n"

    def lines(objects: Iterable[dict[str, Any]]) -> str:
        return "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in objects)

    return {
        "cuset_kernels.json": rows(easy_rows),
        "cuset_kernels_hard.json": rows([row for kernel in hard for row in kernel_rows(kernel)]),
        "cuset_kernels_eval.json": rows(held_out),
        "cuset_train_tasks.jsonl": lines([*tasks, *map(kernel_task, hard)]),
        "cuset_mini.jsonl": lines(map(kernel_task, level_2)),
        "cuset_mini_2.jsonl": lines([*level_1, *(kernel_task(kernel, "level2") for kernel in level_2)]),
        "cuset_pairs.jsonl": lines(pairs(kernels)),
    }


def is_current() -> bool:
    """Return whether every built file exists and is newer than all sources."""
    built = [DATA / name for name in BUILT]
    if not all(path.is_file() for path in built):
        return False
    oldest = min(path.stat().st_mtime for path in built)
    sources = [Path(__file__), DATA / "pairs.jsonl", *(DATA / "operations").rglob("*"), *(DATA / "kernels").rglob("*")]
    return all(path.stat().st_mtime <= oldest for path in sources)


def main() -> None:
    with (DATA / ".build.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if is_current() and "--force" not in sys.argv[1:]:
            return
        for name, text in build().items():
            part = DATA / f".{name}.part"
            part.write_text(text, encoding="utf-8")
            os.replace(part, DATA / name)
    print(f"built in {DATA}: {', '.join(BUILT)}")


if __name__ == "__main__":
    main()
