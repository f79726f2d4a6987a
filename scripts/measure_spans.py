"""Compare find_spans with clang's syntax tree on real CUDA files: character precision and recall.

    PYTHONPATH=src python scripts/measure_spans.py CHECKOUT... --cuda-path DIR --json benchmarks/spans.json

Each CHECKOUT is a folder of .cu and .cuh files, counted under its own name. Needs `pip install libclang`, clang's own
headers (--resource-dir) and those of a CUDA toolkit (--cuda-path).

What clang does not see is left out of the comparison: inactive preprocessor branches, macro bodies, and launches that
are the argument of a macro. Recall is over every file; precision over the files in which clang reports no error and
finds every include, since after an error it drops kernels. The same files are then measured in the forms that answers
have: a fenced block between prose, bare code, Python string literals, and answers that were cut off.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import platform
import random
import re
import statistics
import time
import timeit
from collections import Counter, defaultdict
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from tqdm import tqdm

from cuset_stage.spans import LABEL_VERSION, find_spans


KINDS = ("kernel_body", "launch_config")
Extents = dict[str, list[tuple[int, int]]]


class Truth(NamedTuple):
    """What clang says of one file; `unseen` are the ranges it does not see, `errors` the errors it reports."""

    spans: Extents
    unseen: list[tuple[int, int]]
    errors: int


def find_truth(path: Path, root: Path, options: argparse.Namespace) -> Truth:
    """Kernel bodies and launch configurations in clang's tree, in str indices."""
    cindex = load_clang(options)
    data = path.read_bytes()
    includes = [parent for parent in path.parents if parent == root or root in parent.parents]
    includes += [root / name for name in ("include", "cpp/include", "Common", "csrc", "tools/util/include", "src")]
    arguments = ["-x", "cuda", "--cuda-host-only", "-std=c++17", "-nocudalib", "--cuda-gpu-arch=sm_80"]
    arguments += ["-Wno-everything", "-ferror-limit=0"]
    arguments += [f"--cuda-path={options.cuda_path}"] if options.cuda_path else []
    arguments += ["-resource-dir", options.resource_dir] if options.resource_dir else []
    arguments += [f"-I{folder}" for folder in includes]
    unit = cindex.Index.create().parse(str(path), args=arguments, options=1)
    # The headers bring tens of thousands of cursors; asking the location this way is what makes skipping them cheap.
    from_file = cindex.conf.lib.clang_Location_isFromMainFile
    from_file.argtypes = [cindex.SourceLocation]
    spans: Extents = {kind: [] for kind in KINDS}
    unseen = _skipped_ranges(cindex, unit, path)
    stack = [cursor for cursor in unit.cursor.get_children() if from_file(cursor.location)]
    while stack:
        cursor = stack.pop()
        children = list(cursor.get_children())
        start, end = cursor.extent.start.offset, cursor.extent.end.offset
        kind = cursor.kind.name
        if kind == "MACRO_DEFINITION" or (kind == "MACRO_INSTANTIATION" and b"<<<" in data[start:end]):
            unseen.append((start, end))
        elif kind == "CALL_EXPR" and data[start : start + 3] == b"<<<" and data[end - 3 : end] == b">>>":
            spans["launch_config"].append((start, end))
        if any(child.kind.name == "CUDAGLOBAL_ATTR" for child in children):
            for child in children:
                begin, finish = child.extent.start.offset, child.extent.end.offset
                if (
                    child.kind.name == "COMPOUND_STMT"
                    and data[begin : begin + 1] == b"{"
                    and data[finish - 1 : finish] == b"}"
                ):
                    spans["kernel_body"].append((begin, finish))
        stack += [child for child in children if from_file(child.location)]
    # 3 is an error, 4 a fatal one, such as an include that is not there: clang then drops what depends on it.
    errors = sum(
        diagnostic.severity >= 4 or (diagnostic.severity == 3 and from_file(diagnostic.location))
        for diagnostic in unit.diagnostics
    )
    if not data.isascii():
        widths = [0]
        for char in data.decode():
            widths += [widths[-1] + (step == len(char.encode()) - 1) for step in range(len(char.encode()))]
        spans = {kind: [(widths[a], widths[b]) for a, b in extents] for kind, extents in spans.items()}
        unseen = [(widths[a], widths[b]) for a, b in unseen]
    return Truth({kind: sorted(set(extents)) for kind, extents in spans.items()}, sorted(unseen), errors)


def load_clang(options: argparse.Namespace) -> ModuleType:
    from clang import cindex

    if options.libclang and not cindex.Config.loaded:
        cindex.Config.set_library_file(options.libclang)
    return cindex


def clang_version(options: argparse.Namespace) -> str:
    cindex = load_clang(options)
    function = cindex.conf.lib.clang_getClangVersion
    function.restype = cindex._CXString
    function.errcheck = cindex._CXString.from_result
    return re.search(r"\d+(?:\.\d+)+", function())[0]


def _skipped_ranges(cindex: ModuleType, unit: object, path: Path) -> list[tuple[int, int]]:
    """Inactive branches; the C function has no wrapper in clang's Python bindings."""

    class Ranges(ctypes.Structure):
        _fields_ = (("count", ctypes.c_uint), ("ranges", ctypes.POINTER(cindex.SourceRange)))

    function = cindex.conf.lib.clang_getSkippedRanges
    function.restype = ctypes.POINTER(Ranges)
    function.argtypes = [cindex.TranslationUnit, cindex.c_object_p]
    found = function(unit, unit.get_file(str(path))).contents
    return [(found.ranges[i].start.offset, found.ranges[i].end.offset) for i in range(found.count)]


class Tally:
    """Characters and spans, counted over many texts; `examples` are the differences with file and line."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.differences: Counter[str] = Counter()
        self.examples: list[str] = []

    def add(self, text: str, truth: Truth, name: str) -> None:
        """Compare find_spans with the truth; without clang's errors also for what find_spans has too much."""
        found = find_spans(text)
        seen = bytearray(b"\1") * len(text)
        for start, end in truth.unseen:
            seen[start:end] = bytes(end - start)
        for kind in KINDS:
            given = {(span.start, span.end) for span in found if span.kind == kind}
            wanted = {extent for extent in truth.spans[kind] if any(seen[slice(*extent)])}
            said, true = (_paint(len(text), extents, seen) for extents in (given, truth.spans[kind]))
            hits = (int.from_bytes(said, "big") & int.from_bytes(true, "big")).bit_count()
            counts = {"true": sum(true), "hit": hits, "spans": len(truth.spans[kind])}
            differences = [
                ("other extent" if any(said[start:end]) else "missed", start) for start, end in sorted(wanted - given)
            ]
            if truth.errors == 0:
                counts |= {"said": sum(said), "said_hit": hits}
                extra = sorted(given - wanted)
                differences += [("extra", a) for a, b in extra if all(seen[a:b]) and not any(true[a:b])]
            self.counts.update({f"{kind}.{key}": count for key, count in counts.items()})
            for what, start in differences:
                self.differences[f"{kind}: {what}"] += 1
                self.examples.append(f"{name}:{text.count(chr(10), 0, start) + 1} {kind} {what}")

    def scores(self) -> dict[str, object]:
        result: dict[str, object] = {}
        for kind in KINDS:
            true, hit, said, said_hit = (self.counts[f"{kind}.{key}"] for key in ("true", "hit", "said", "said_hit"))
            result[kind] = {
                "spans": self.counts[f"{kind}.spans"],
                "precision": round(said_hit / said, 5) if said else None,
                "recall": round(hit / true, 5) if true else None,
            }
        return result


def _paint(length: int, extents: Iterable[tuple[int, int]], seen: bytearray) -> bytes:
    paint = bytearray(length)
    for start, end in extents:
        paint[start:end] = seen[start:end]
    return bytes(paint)


def shapes(text: str, truth: Truth, rng: random.Random) -> Iterable[tuple[str, str, Truth]]:
    """The file as a language model would answer with it: shape, text, truth."""
    prose = "Here's the kernel: it isn't launched as `k<<<1, 2>>>(x)` but {see below}.\n\n"
    yield (
        "fenced",
        f"{prose}```cuda\n{text}\n```\n\nDon't forget `__global__ void k() {{}}`.",
        _shift(truth, len(prose) + 8),
    )
    yield "bare", text + "<|im_end|>\n", truth
    if '"""' not in text and "\\" not in text:
        head = (
            '```python\nimport torch\n\n\ndef build():\n    """Calls kernel<<<1, 2>>>(x); once."""\n    source = """\n'
        )
        yield (
            "python literal",
            f'{head}{text}"""\n    return load_inline(cuda_sources=source)\n```\n',
            _shift(truth, len(head)),
        )
    pieces, places = ["import torch\nsource = (\n"], []
    length = len(pieces[0])
    for line in text.splitlines(keepends=True):
        written = ['    "']
        length += 5
        for char in line:
            places.append(length)
            written.append({"\n": "\\n", '"': '\\"', "\\": "\\\\", "\t": "\\t", "\r": "\\r"}.get(char, char))
            length += len(written[-1])
        written.append('"\n')
        length += 2
        pieces.append("".join(written))
    places.append(length)
    yield "escaped literals", "".join([*pieces, ")\n"]), _map(truth, places)
    for _ in range(3):
        cut = rng.randrange(1, len(text) + 1)
        yield "cut", f"{prose}```cuda\n{text[:cut]}", _shift(_clip(truth, cut), len(prose) + 8)


def _each(truth: Truth, change) -> Truth:
    spans = {kind: [new for old in extents if (new := change(*old))] for kind, extents in truth.spans.items()}
    return Truth(spans, [new for old in truth.unseen if (new := change(*old))], truth.errors)


def _shift(truth: Truth, by: int) -> Truth:
    return _each(truth, lambda start, end: (start + by, end + by))


def _clip(truth: Truth, cut: int) -> Truth:
    clipped = _each(truth, lambda start, end: (start, min(end, cut)) if start < cut else None)
    launches = [extent for extent in clipped.spans["launch_config"] if extent[1] - extent[0] > 2]  # `<<` is no launch
    return clipped._replace(spans={**clipped.spans, "launch_config": launches})


def _map(truth: Truth, places: list[int]) -> Truth:
    return _each(truth, lambda start, end: (places[start], places[end - 1] + 1) if start < end else None)


def speed(texts: list[str]) -> dict[str, float]:
    """Median over files of the best of five runs, on fenced answers."""
    milliseconds = []
    for text in texts:
        answer = f"The kernel:\n\n```cuda\n{text}\n```\n"
        best = min(timeit.repeat(lambda answer=answer: find_spans(answer), number=1))
        milliseconds.append(best / len(answer) * 4096 * 1e3)
    middle = statistics.median(milliseconds)
    return {"files": len(texts), "ms_per_4kB": round(middle, 3), "MB_per_s": round(4.096 / middle, 2)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", nargs="+", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--limit", type=int, default=150, help="files a checkout, drawn at random (default 150)")
    parser.add_argument(
        "--seconds", type=float, default=600, help="time a checkout; templates are slow in clang (default 600)"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--libclang", help="the shared library, when the bindings do not find theirs")
    parser.add_argument("--resource-dir", help="clang's own headers, for example lib/clang/19")
    parser.add_argument("--cuda-path", help="a CUDA toolkit that this clang knows")
    parser.add_argument("--examples", type=int, default=40, help="differences to print")
    options = parser.parse_args()

    rng = random.Random(options.seed)
    repositories: dict[str, object] = {}
    total, by_shape, small = Tally(), defaultdict(Tally), []
    pool = ProcessPoolExecutor(1)
    for root in options.checkouts:
        root = root.resolve()
        files = []
        for path in sorted(root.rglob("*.cu*")):
            data = path.read_bytes() if path.is_file() and path.suffix in (".cu", ".cuh") else b""
            if (b"_global__" in data or b"_KERNEL" in data or b"<<<" in data) and len(data) < 400_000:
                files.append(path)
        candidates = len(files)
        files = rng.sample(files, min(options.limit, candidates))
        tally, clean, used = Tally(), 0, 0
        deadline = time.monotonic() + options.seconds
        for path in tqdm(files, desc=root.name):
            if time.monotonic() > deadline:
                break
            try:
                text = path.read_bytes().decode()
                truth = pool.submit(find_truth, path, root, options).result(timeout=60)
            except (UnicodeDecodeError, TimeoutError):
                continue
            except BrokenProcessPool:  # clang crashed on this file
                pool = ProcessPoolExecutor(1)
                continue
            used += 1
            clean += truth.errors == 0
            name = f"{root.name}/{path.relative_to(root)}"
            for each in (tally, total):
                each.add(text, truth, name)
            if truth.errors == 0 and truth.spans["kernel_body"] and len(text) < 60_000:
                for shape, answer, expected in shapes(text, truth, rng):
                    by_shape[shape].add(answer, expected, f"{name} [{shape}]")
            if 3000 < len(text) < 6000:
                small.append(text)
        repositories[root.name] = {"candidates": candidates, "files": used, "without_error": clean, **tally.scores()}
    pool.shutdown(cancel_futures=True)
    report = {
        "date": datetime.now(UTC).date().isoformat(),
        "reference": "libclang",
        "versions": {
            "python": platform.python_version(),
            "tree-sitter": version("tree-sitter"),
            "tree-sitter-cuda": version("tree-sitter-cuda"),
            "label_version": LABEL_VERSION,
            "clang": clang_version(options),
        },
        "files": sum(entry["files"] for entry in repositories.values()),
        "all": total.scores(),
        "differences": dict(total.differences.most_common()),
        "repositories": repositories,
        "shapes": {
            shape: {**tally.scores(), "differences": dict(tally.differences.most_common())}
            for shape, tally in by_shape.items()
        },
        "speed": speed(small[:60]) if small else None,
    }
    examples = [line for tally in (total, *by_shape.values()) for line in tally.examples]
    print("\n".join(examples[: options.examples]))
    print(json.dumps(report, indent=2))
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
