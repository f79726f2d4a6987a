#!/usr/bin/env python3
"""Builds the rows, task sets and pairs of data/ from their sources: operations/, kernels/ and pairs.jsonl. Standard library only.

    python scripts/build_data.py          # does nothing where the built files are newer than their sources
    python scripts/build_data.py --force

Every program stands once in the repository. What is built is not committed: scripts/setup.sh builds it, so does the wheel, and the package
runs this script where a built file is missing. A second process waits for the first one.

An operation is one computation at five fixed sizes: task.json (title, family, inputs, outputs, cases), prompt.md with the sizes as
{placeholders}, reference.py, simple.cu (what an engineer writes first), kernel.cu (another right program, faster) and, for most training
operations, given.cu, which is written for a prompt that hands out headers and helpers for files of floats. A program defines each size
once, on a line of its own, with the first case's value; what stands above `//@given` are helpers of its own that a prompt may hand out.
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
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any


DATA = Path(__file__).resolve().parent.parent / "data"
BUILT = runpy.run_path(str(DATA.parent / "src" / "cuset_stage" / "bundled.py"))["BUILT"]
PROGRAMS = ("simple.cu", "kernel.cu")
CASES = "abcde"
WORDINGS = ("bare", "prompt", "detailed")  # of a harder task, with more and more of the way to the answer
PAIR_KEYS = ("kind", "change", "verdict")
GIVEN = "//@given\n"
HELD_OUT = 100  # operations to develop with, and as many for cuset-mini
FRAMES = tomllib.loads((DATA / "operations" / "frames.toml").read_text(encoding="utf-8"))
NAMES = json.loads(gzip.decompress((DATA / "operations" / "names.json.gz").read_bytes()))
C_TYPES = {
    "float32": ("float", "4 bytes"), "float64": ("double", "8 bytes"), "int8": ("signed char", "1 byte"), "uint8": ("unsigned char", "1 byte"),
    "int16": ("short", "2 bytes"), "uint16": ("unsigned short", "2 bytes"), "int32": ("int", "4 bytes"), "uint32": ("unsigned int", "4 bytes"),
    "int64": ("long long", "8 bytes"), "uint64": ("unsigned long long", "8 bytes"),
}  # fmt: skip
FAMILIES = (  # of data/kernels, in the order of its tasks
    "element-wise", "reduction", "scan", "matrix product", "transpose", "stencil", "convolution", "normalisation", "softmax",
    "histogram", "sort", "sparse", "attention", "random numbers", "image", "physics", "losses", "optimisers", "graphs", "point clouds",
    "signal", "wavelets", "finance", "strings", "graphics", "dynamic programming", "number theory",
)  # fmt: skip
EXAMPLES = (
    "matrix_a", "vecA", "inputX", "weights", "image", "signal_in", "points", "table", "src", "vector1", "img", "values_in", "tensorA", "samples",
)  # fmt: skip
_SIZE = re.compile(
    r"^(?P<head>[ \t]*(?:#define[ \t]+(?P<macro>\w+)[ \t]+|(?:(?:static|inline|constexpr|const)[ \t]+)+[\w: \t]*?(?P<constant>\w+)[ \t]*=[ \t]*))"
    r"\(?(?P<value>\d[\d'.]*)(?P<suffix>[uUlLfF]*)\)?(?P<rest>[ \t]*;?[^\n]*)$",
    re.MULTILINE,
)

_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<text>R"\(.*?\)"|"(?:\\.|[^"\\\n])*")|'(?:\\.|[^'\\\n])+'|\#[ \t]*include[^\n]*"""
    r"""|(?P<name>[A-Za-z_]\w*)|\.?\d(?:[eEpP][+-]|'\w|[\w.])*""",
    re.DOTALL,
)
_ARITHMETIC = re.compile(
    r"(?<![-+*/^.\w] )(?<![\w.])(?P<left>\{\w+\}|\d+) (?P<sign>[-+*]) (?P<right>\{\w+\}|\d+)(?![\w.]*[\w]| ?[*/^])"
)  # alone: no other sign binds one of its sides


def share(*parts: object) -> float:
    """A number in [0, 1) that depends on the parts alone."""
    digest = hashlib.sha256(json.dumps(["operations, edition 1", *parts]).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def plain(name: str) -> str:
    """A size's name without what people add to it: kRows, ROWS and rows are the same."""
    return re.sub(r"^k(?=[A-Z])", "", name).replace("_", "").lower()


def renamed(program: str, names: dict[str, str]) -> str:
    """The program with other names: in code, and in comments where a word is no English; never in strings and includes."""

    def other(token: re.Match[str]) -> str:
        if token["comment"]:
            word = r"\b(?![A-Z]?[a-z]+\b|[AI]\b)\w+"
            return re.sub(word, lambda found: names.get(found[0], found[0]), token[0])
        return names.get(token["name"], token[0])

    return _TOKEN.sub(other, program)


def splits(names: list[str]) -> dict[str, str]:
    """Name -> train, develop or mini. A hash of the name orders the operations; the last 100 are mini's, the 100 before develop's."""
    order = sorted(names, key=lambda name: share("split", name))
    train = len(order) - 2 * HELD_OUT
    return {
        name: "train" if place < train else "develop" if place < train + HELD_OUT else "mini"
        for place, name in enumerate(order)
    }


class Operation:
    """A folder of data/operations.

    Raises:
        ValueError: the folder breaks the format; the message names the file and what was expected.
    """

    def __init__(self, folder: Path) -> None:
        self.name, self.folder = folder.name, folder
        task = json.loads((folder / "task.json").read_text(encoding="utf-8"))
        self.title, self.family, self.inputs, self.outputs = (
            task[key] for key in ("title", "family", "inputs", "outputs")
        )
        self.cases: list[dict[str, int]] = [case["parameters"] for case in task["cases"]]
        different = {json.dumps(case, sort_keys=True) for case in self.cases}
        if len(different) != 5 or len({tuple(case) for case in self.cases}) != 1:
            raise ValueError(f"{self.name}/task.json: expected five different cases of the same parameters.")
        self.prompt, self.reference = (
            (folder / file).read_text(encoding="utf-8") for file in ("prompt.md", "reference.py")
        )
        files = [folder / file for file in (*PROGRAMS, "given.cu")]
        self.programs = {file.name: file.read_text(encoding="utf-8") for file in files if file.is_file()}

    def description(self, case: int) -> str:
        """The prompt at the sizes of a case."""
        try:
            return _ARITHMETIC.sub(self._evaluated(case), self.prompt).format(**self.cases[case]).strip()
        except (LookupError, ValueError) as error:
            raise ValueError(
                f"{self.name}/prompt.md: {error!r}; placeholders are {', '.join(self.cases[0])}."
            ) from None

    def _evaluated(self, case: int) -> Callable[[re.Match[str]], str]:
        """What takes "{rows} + 1" to its number: "3001" and not "3000 + 1"."""

        def evaluated(match: re.Match[str]) -> str:
            left, right = (part.format(**self.cases[case]) for part in (match["left"], match["right"]))
            if "{" not in match[0] or not (left + right).isdecimal():
                return match[0]
            return str({"+": int.__add__, "-": int.__sub__, "*": int.__mul__}[match["sign"]](int(left), int(right)))

        return evaluated

    def tensors(self, case: int) -> dict[str, list[dict[str, Any]]]:
        """Inputs and outputs with their shapes at the sizes of a case, as tuples."""

        def at_size(tensor: dict[str, Any]) -> dict[str, Any]:
            sizes = (eval(str(size), {"__builtins__": {}}, dict(self.cases[case])) for size in tensor["shape"])
            return {**tensor, "shape": tuple(sizes)}

        return {key: [at_size(tensor) for tensor in getattr(self, key)] for key in ("inputs", "outputs")}

    def program(self, file: str, case: int, given: bool = False) -> str:
        """A program at the sizes of a case, without the mark below the given helpers unless `given`."""
        seen: Counter[str] = Counter()

        def at_size(match: re.Match[str]) -> str:
            for size, value in self.cases[case].items():
                if plain(size) == plain(match["macro"] or match["constant"]):
                    seen[size] += 1
                    if float(match["value"].replace("'", "")) != self.cases[0][size]:
                        raise ValueError(
                            f"{self.name}/{file}: {match[0].strip()!r}: expected {self.cases[0][size]}, as in the first case."
                        )
                    return f"{match['head']}{value}{match['suffix']}{match['rest']}"
            return match[0]

        text = _SIZE.sub(at_size, self.programs[file])
        if wrong := [size for size in self.cases[case] if seen[size] != 1]:
            raise ValueError(
                f"{self.name}/{file}: {', '.join(wrong)}: expected one definition of each, on a line of its own."
            )
        return text if given else text.replace(GIVEN, "")

    def answer(self, file: str, case: int) -> tuple[str, dict[str, str] | None]:
        """A whole program at the sizes of a case, and the helpers that a prompt hands out with it."""
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
    """The system and user text of a task: in one of the frames that fit. file: the program that answers; None: a model does."""
    fitting = {None: (None,), "own": ("own", None), "floats": ("floats",)}[given["kind"] if given else None]
    frames = [frame for frame in FRAMES["frames"] if frame.get("given") in fitting]
    # the programs of one task answer different wordings
    place = int(share("frame", operation.name, case) * len(frames)) + (*PROGRAMS, "given.cu").index(
        file or PROGRAMS[0]
    )
    frame = frames[place % len(frames)]
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
    # in one pass, as a description may hold braces
    pattern = re.compile("|".join(rf"\{{{name}\}}" for name in values))
    return {
        part: pattern.sub(lambda match: str(values[match[0][1:-1]]), frame[part]).strip()
        for part in ("system", "user")
    }


# ---------------------------------------------------------------------------------------------------- rows of operations


def training_programs(operation: Operation) -> list[tuple[str, int]]:
    """Ten (program, case): given.cu at every size where there is one, the others at as many as are left."""
    if "given.cu" in operation.programs:
        return [(file, case) for case in range(5) for file in ("given.cu", PROGRAMS[case % 2])]
    return [(file, case) for case in range(5) for file in PROGRAMS]


def operation_row(operation: Operation, file: str, case: int) -> dict[str, str]:
    """A training row: the task at one size, and a program as its answer, with the names that names.json.gz has for the row.

    Were a program's names the same in all of its rows, a model would learn them by heart.
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
    """A line of a task set that the judge reads: the operation at one size."""
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


# ---------------------------------------------------------------------------------------- the harder tasks of data/kernels


def read_kernel(folder: Path) -> dict[str, Any]:
    """The texts of a folder of data/kernels, by file name, and what task.json says."""
    texts = {
        file.name: file.read_text(encoding="utf-8")
        for file in sorted(folder.iterdir())
        if file.suffix in (".md", ".cu", ".py")
    }
    return {"name": folder.name, **texts, **json.loads((folder / "task.json").read_text(encoding="utf-8"))}


def mixed(text: str) -> int:
    """A number that is the same every time: for an order, or a choice, without a pattern."""
    return zlib.crc32(text.encode())


def kernel_rows(kernel: dict[str, Any]) -> Iterator[dict[str, str]]:
    """Three rows, one a wording.

    A detailed wording asks for kernel.cu's way; where there is a second program, it answers the bare wording of every other task and the
    plain one of the rest, so that the length of a question says nothing of its answer.
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
    """A line of a task set that the judge reads."""
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
    """The pairs of data/pairs.jsonl as whole responses: `wrong` is another program of the task, or `right` with the text from `start` to
    `end` replaced."""
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


# ------------------------------------------------------------------------------------------------------------- building


def read_operations() -> dict[str, Operation]:
    return {file.parent.name: Operation(file.parent) for file in sorted((DATA / "operations").glob("*/task.json"))}


def read_kernels() -> dict[str, dict[str, Any]]:
    """The harder tasks by name, a family after the other."""
    found = [read_kernel(file.parent) for file in (DATA / "kernels").glob("*/task.json")]
    found.sort(key=lambda kernel: (FAMILIES.index(kernel["family"]), kernel["name"]))
    return {kernel["name"]: kernel for kernel in found}


def build() -> dict[str, str]:
    """The text of every built file, by name."""
    operations, kernels = read_operations(), read_kernels()
    split = splits(list(operations))
    of = {
        name: [operation for operation in operations.values() if split[operation.name] == name]
        for name in ("train", "develop", "mini")
    }
    train = [operation_row(one, *program) for one in of["train"] for program in training_programs(one)]
    hard = [row for kernel in kernels.values() if kernel["split"] == "train" for row in kernel_rows(kernel)]
    held_out = [operation_row(one, PROGRAMS[mixed(one.name) % 2], mixed(one.name) % 5) for one in of["develop"]]
    level_2 = [kernel for kernel in kernels.values() if kernel["split"] == "eval"]
    tasks = [operation_task(one, mixed(one.name) % 5, "train") for one in of["train"]]
    tasks += [kernel_task(kernel) for kernel in kernels.values() if kernel["split"] == "train"]

    def rows(of_split: list[dict[str, str]]) -> str:
        # mixed, so that max_samples takes some of each family
        return (
            json.dumps(
                sorted(of_split, key=lambda row: mixed(row["name"] + row["wording"])), indent=1, ensure_ascii=False
            )
            + "\n"
        )

    def lines(objects: list[dict[str, Any]]) -> str:
        return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in objects)

    return {
        "cuset_kernels.json": rows(train),
        "cuset_kernels_hard.json": rows(hard),
        "cuset_kernels_eval.json": rows(held_out),
        "cuset_train_tasks.jsonl": lines(tasks),
        "cuset_mini.jsonl": lines([kernel_task(kernel) for kernel in level_2]),
        "cuset_mini_2.jsonl": lines(
            [operation_task(one, mixed(one.name) % 5, "level1") for one in of["mini"]]
            + [kernel_task(kernel, "level2") for kernel in level_2]
        ),
        "cuset_pairs.jsonl": lines(list(pairs(kernels))),
    }


def is_current() -> bool:
    """Whether every built file is there and newer than all sources."""
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
