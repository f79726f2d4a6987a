"""Compare find_spans in other languages than CUDA with parsers that know nothing of it: characters of real repositories.

    PYTHONPATH=src python scripts/measure_languages.py FOLDER --opencl-headers DIR --json benchmarks/spans_languages.json

FOLDER holds checkouts under the names that REPOSITORIES lists. Needs `pip install libclang`. The other opinion is Python's `ast` and
`tokenize` for Triton, the CuTe DSL and TileLang (python_oracle.py), clang's syntax tree for kernels of OpenCL and Metal (address
spaces and Metal's attributes are defined away), and tree-sitter's CUDA grammar for launches in their C and C++ host programs.

A file is read as a whole in a fenced block, as bare code, under `auto`, and cut off at three random places; OpenCL's and Metal's also
in a string literal of a host program. Recall is over every file, precision of OpenCL over those in which clang finds no error (it
needs its own opencl-c-base.h: --opencl-headers). What clang does not see (inactive branches, macro bodies) is left out, and so are
subscripts of which nobody can tell from names whether they launch. Under `auto`, kernels of another language in the same file count
as too much. Then random inputs, of which none may raise.
"""

from __future__ import annotations

import argparse
import ast
import json
import platform
import random
import re
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import python_oracle
from measure_spans import _skipped_ranges as skipped_ranges
from tqdm import tqdm

from cuset_stage.cuda_source.tree import parse_tree, walk
from cuset_stage.spans import DEFAULT_KINDS, KINDS, LABEL_VERSION, LANGUAGES, find_spans


REPOSITORIES = {
    "triton": ("flash-linear-attention", "Liger-Kernel", "TritonBench", "unsloth"),
    "cute": ("cutlass", "quack"),
    "tilelang": ("tilelang", "flash-linear-attention"),
    "opencl": ("clBLAS", "hashcat", "arrayfire", "pocl", "Darknet-On-OpenCL"),
    "metal": ("mlx", "ggml", "candle", "mistral.rs"),
}
SUFFIXES = {"opencl": (".cl", ".c", ".cpp"), "metal": (".metal", ".h", ".cpp")}
HINTS = {
    "triton": re.compile(r"\btriton\b"),
    "cute": re.compile(r"\bcute\b"),
    "tilelang": re.compile(r"prim_func|\bT\.\w*Kernel"),
    "opencl": re.compile(r"kernel\s+(?:void|__attribute__)|KERNEL_FQ|clEnqueueNDRangeKernel\s*\("),
    "metal": re.compile(r"kernel\s+void|\[\[\s*kernel\s*\]\]|(?:\.|->)dispatch_?[tT]hread\w*\s*\("),
}
LAUNCHES = {
    "opencl": re.compile(r"clEnqueueNDRangeKernel|.*(?:\.|->)enqueueNDRangeKernel", re.DOTALL),
    "metal": re.compile(r".*(?:\.|->)dispatch_?[tT]hread\w*", re.DOTALL),
}
CLANG = {
    "opencl": ["-x", "cl", "-cl-std=CL2.0", "-DKERNEL_FQ=__kernel", "-DKERNEL_FA="],
    "metal": [
        "-x", "c++", "-std=c++17", '-Dkernel=__attribute__((annotate("kernel")))', "-Ddevice=", "-Dthreadgroup=", "-Dconstant=const",
        "-Dthread=",
    ],
}  # fmt: skip
HEADERS: list[Path] = []
ATTRIBUTE = re.compile(r"\[\[[^\[\]]*\]\]")
PROSE = "Here's the kernel: it isn't launched as `k[g](x)` but {see below}.\n\n"
PIECES = (
    "@triton.jit\n", "@cute.kernel\n", "@cute.jit\n", "@T.prim_func\n", "def k(x):\n", "    f(x)\n", "k[grid](x)\n", "k(x).launch(grid=1, ",
    "with T.Kernel(1) as b:\n", "__kernel void k(", "kernel void k(", "[[kernel]] void ", "clEnqueueNDRangeKernel(q", "e.dispatchThreads(",
    "[e dispatchThreads:", "#define K __kernel\n", "#if A\n", "#else\n", "#endif\n", "{", "}", "(", ")", "[", "]", ":", ";", ",", "\n", "\r\n",
    " ", "\t", "    ", "#", "'", '"', '"""', "'''", 'R"x(', ')x"', "\\", "```", "```python\n", "```metal\n", "~~~\n", "<think>", "</think>",
    "<|im_end|>", "é", "\0", "\ud800", "\u2028", "lambda", "->", "import triton\n", "K", "//", "/*", "*/", "> ", "- ",
)  # fmt: skip
Extents = dict[str, list[tuple[int, int]]]


class Truth(NamedTuple):
    """What the other opinion says of one file; `unseen` are the ranges it does not see, `sure` whether it found no error."""

    spans: Extents
    unseen: list[tuple[int, int]]
    sure: bool = True


def python_files(root: Path, language: str, limit: int, rng: random.Random) -> Iterator[tuple[Path, str, Truth]]:
    parsed = []
    for path in sorted(root.rglob("*.py")):
        text = path.read_bytes().decode(errors="replace")
        if HINTS[language].search(text):
            try:
                parsed.append((path, text, ast.parse(text)))
            except SyntaxError:
                continue
    kernels = python_oracle.triton_names(tree for _, _, tree in parsed) if language == "triton" else set()
    for path, text, tree in rng.sample(parsed, min(limit, len(parsed))):
        found = python_oracle.find(text, tree, language, kernels)
        yield path, text, Truth({"kernel_body": found.bodies, "launch_config": found.launches}, found.unknown)


def c_files(root: Path, language: str, limit: int, rng: random.Random) -> Iterator[tuple[Path, str, Truth]]:
    pool = ProcessPoolExecutor(1)
    paths = [path for path in sorted(root.rglob("*")) if path.suffix in SUFFIXES[language] and path.is_file()]
    # One byte a character: clang's and tree-sitter's offsets are str indices.
    texts = {path: path.read_bytes().decode("latin-1") for path in paths}
    candidates = [path for path, text in texts.items() if HINTS[language].search(text)]
    for path in rng.sample(candidates, min(limit, len(candidates))):
        text = texts[path]
        if path.suffix in (".c", ".cpp"):
            # Kernels in string literals are not for a C parser to see: bodies are not compared here.
            yield path, text, Truth({"launch_config": launches(text, language)}, [])
            continue
        try:
            found, unseen, sure = pool.submit(bodies, path, text, root, language).result(timeout=60)
        except (BrokenProcessPool, TimeoutError):  # clang crashed on this file
            pool = ProcessPoolExecutor(1)
            continue
        yield path, text, Truth({"kernel_body": found, "launch_config": []}, unseen, sure)
    pool.shutdown()


def launches(text: str, language: str) -> list[tuple[int, int]]:
    """Argument lists of calls whose callee launches, by tree-sitter."""
    found = []
    tree = parse_tree(text)
    for node in walk(tree) if tree else ():
        if node.type == "call_expression":
            callee, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
            if arguments and LAUNCHES[language].fullmatch(text[callee.start_byte : callee.end_byte]):
                found.append((arguments.start_byte, arguments.end_byte))
    return sorted(found)


def bodies(
    path: Path, text: str, root: Path, language: str
) -> tuple[list[tuple[int, int]], list[tuple[int, int]], bool]:
    """Bodies of kernels, what clang does not see of a file, and whether it found no error, after which it may drop kernels.

    Metal's types are unknown to it, so that there errors say nothing.
    """
    from clang import cindex

    text = text.encode("ascii", "replace").decode()  # one byte a character
    if language == "metal":  # what C++ has no word for, away; offsets stay
        text = ATTRIBUTE.sub(_without_attribute, text)
    includes = [f"-I{folder}" for folder in (path.parent, root, root / "OpenCL", *HEADERS)]
    unit = cindex.Index.create().parse(
        str(path),
        args=[*CLANG[language], "-ferror-limit=0", "-Wno-everything", *includes],
        unsaved_files=[(str(path), text)],
        options=1,
    )
    found, unseen = [], skipped_ranges(cindex, unit, path)
    stack = list(unit.cursor.get_children())
    while stack:
        cursor = stack.pop()
        if cursor.location.file is None or cursor.location.file.name != str(path):
            continue
        kind, extent = cursor.kind.name, (cursor.extent.start.offset, cursor.extent.end.offset)
        if kind == "MACRO_DEFINITION":
            unseen.append(extent)
        children = list(cursor.get_children())
        if kind in ("FUNCTION_DECL", "FUNCTION_TEMPLATE", "CXX_METHOD"):
            if any(is_kernel(child, text, language) for child in children):
                pairs = [
                    (each.extent.start.offset, each.extent.end.offset)
                    for each in children
                    if each.kind.name == "COMPOUND_STMT"
                ]
                found += [
                    (start, end)
                    for start, end in pairs
                    if text[start : start + 1] == "{" and text[end - 1 : end] == "}"
                ]
        else:
            stack += children
    sure = language == "metal" or not any(diagnostic.severity >= 3 for diagnostic in unit.diagnostics)
    return sorted(set(found)), sorted(unseen), sure


def _without_attribute(match: re.Match[str]) -> str:
    return ("kernel" if re.search(r"\bkernel\b", match[0]) else "").ljust(len(match[0]))


def is_kernel(child, text: str, language: str) -> bool:
    if language == "metal":
        return child.kind.name == "ANNOTATE_ATTR" and child.spelling == "kernel"
    word = text[child.extent.start.offset : child.extent.end.offset]
    return child.kind.name == "UNEXPOSED_ATTR" and word in ("kernel", "__kernel", "KERNEL_FQ")


def shapes(text: str, truth: Truth, language: str, rng: random.Random) -> Iterator[tuple[str, str, str, Truth]]:
    """(shape, language asked for, answer, truth) of a file."""
    fence = "`" * 10
    tag = "python" if LANGUAGES[language].python else "cpp"
    head = f"{PROSE}{fence}{tag}\n"
    answer = f"{head}{text}\n{fence}\n\nDon't run `k[g](x)`."
    yield "fenced", language, answer, shifted(truth, len(head))
    yield "auto", "auto", answer, shifted(truth, len(head))
    if "`" not in text:  # in bare text, backticks are Markdown's
        yield "bare", language, text, truth
    if not LANGUAGES[language].python and ')CLC"' not in text and "clEnqueue" not in text:
        head = 'int main() {\n  const char *source = R"CLC('
        yield "string literal", language, f'{head}{text})CLC";\n  build(source);\n}}\n', shifted(truth, len(head))
    for _ in range(3):
        cut = rng.randrange(1, len(text) + 1)
        # Of Python nobody can tell what white space behind the last statement belongs to.
        kept = len(text[:cut].rstrip()) if LANGUAGES[language].python else cut
        clipped = {kind: [(a, min(b, kept)) for a, b in extents if a < kept] for kind, extents in truth.spans.items()}
        head = f"{PROSE}{fence}{tag}\n"
        yield (
            "cut",
            language,
            f"{head}{text[:cut]}",
            shifted(Truth(clipped, [(a, min(b, cut)) for a, b in truth.unseen if a < cut], truth.sure), len(head)),
        )


def shifted(truth: Truth, by: int) -> Truth:
    spans = {kind: [(a + by, b + by) for a, b in extents] for kind, extents in truth.spans.items()}
    return Truth(spans, [(a + by, b + by) for a, b in truth.unseen], truth.sure)


class Tally:
    """Characters and spans, counted over many texts."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.examples: list[str] = []

    def add(self, text: str, truth: Truth, language: str, name: str) -> None:
        found = find_spans(text, language=language)
        self.counts.update(files=1, without_error=int(truth.sure))
        for kind in truth.spans:
            said, true = (
                paint(len(text), extents, truth.unseen)
                for extents in ([(span.start, span.end) for span in found if span.kind == kind], truth.spans[kind])
            )
            hits = int.from_bytes(said, "big") & int.from_bytes(true, "big")
            counts = {"true": sum(true), "hit": hits.bit_count(), "spans": len(truth.spans[kind])}
            if truth.sure:
                counts |= {"said": sum(said), "said_hit": hits.bit_count()}
            self.counts.update({f"{kind}.{key}": count for key, count in counts.items()})
            if said != true and (truth.sure or hits.bit_count() < sum(true)):
                at = next(index for index in range(len(text)) if said[index] != true[index])
                what = "extra" if said[at] else "missed"
                self.examples.append(
                    f"{name}:{text.count(chr(10), 0, at) + 1} {kind} {what} {text[max(0, at - 30) : at + 30]!r}"
                )

    def scores(self) -> dict[str, object]:
        result: dict[str, object] = {"files": self.counts["files"], "without_error": self.counts["without_error"]}
        for kind in DEFAULT_KINDS:
            keys = ("spans", "true", "hit", "said", "said_hit")
            spans, true, hit, said, said_hit = (self.counts[f"{kind}.{key}"] for key in keys)
            result[kind] = {
                "spans": spans,
                "precision": round(said_hit / said, 5) if said else None,
                "recall": round(hit / true, 5) if true else None,
            }
        return result


def paint(length: int, extents: Iterable[tuple[int, int]], unseen: list[tuple[int, int]]) -> bytes:
    painted = bytearray(length)
    for start, end in extents:
        painted[start:end] = b"\1" * (end - start)
    for start, end in unseen:
        painted[start:end] = bytes(end - start)
    return bytes(painted)


def try_random(language: str, texts: list[str], number: int, rng: random.Random) -> dict[str, object]:
    """Random pieces, and real files with pieces cut out and put in; an exception ends the measurement."""
    slowest = 0.0
    for _ in tqdm(range(number), desc=f"{language}, random"):
        if texts and rng.random() < 0.3:
            text = rng.choice(texts)
            start = rng.randrange(len(text))
            text = text[start : start + rng.randrange(1, 1500)]
            at = rng.randrange(len(text))
            text = text[:at] + "".join(rng.choices(PIECES, k=rng.randrange(4))) + text[at + rng.randrange(40) :]
        else:
            text = "".join(rng.choices(PIECES, k=rng.randrange(1, 40)))
        begin = time.process_time()
        found = find_spans(text, tuple(KINDS), language=language)
        slowest = max(slowest, time.process_time() - begin)
        if found != sorted(found) or any(not 0 <= start < end <= len(text) for start, end, _ in found):
            raise SystemExit(f"{language}: spans that are no spans of {text!r}")
    return {"inputs": number, "exceptions": 0, "slowest_ms": round(slowest * 1e3, 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--languages", nargs="+", default=list(REPOSITORIES), choices=list(REPOSITORIES))
    parser.add_argument("--opencl-headers", type=Path, help="the folder of clang's opencl-c-base.h")
    parser.add_argument("--limit", type=int, default=150, help="files a checkout, drawn at random (default 150)")
    parser.add_argument("--random", type=int, default=100_000, help="random inputs a language")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--examples", type=int, default=20, help="differences to print for each language")
    options = parser.parse_args()
    HEADERS[:] = [options.opencl_headers] if options.opencl_headers else []
    warnings.simplefilter("ignore")  # of the files' own escapes

    report: dict[str, object] = {
        "date": datetime.now(UTC).date().isoformat(),
        "versions": {
            "python": platform.python_version(),
            "libclang": version("libclang"),
            "tree-sitter-cuda": version("tree-sitter-cuda"),
            "label_version": LABEL_VERSION,
        },
        "languages": {},
    }
    for language in options.languages:
        rng = random.Random(options.seed)
        total, repositories, by_shape = Tally(), {}, defaultdict(Tally)
        texts: list[str] = []
        for name in REPOSITORIES[language]:
            root = (options.folder / name).resolve()
            if not root.is_dir():
                raise SystemExit(f"{root} is not there: check {name} out below {options.folder}")
            tally = Tally()
            read = python_files if LANGUAGES[language].python else c_files
            files = [file for file in read(root, language, options.limit, rng) if any(file[2].spans.values())]
            for path, text, truth in tqdm(files, desc=f"{language}, {name}"):
                where = f"{name}/{path.relative_to(root)}"
                for shape, asked, answer, expected in shapes(text, truth, language, rng):
                    by_shape[shape].add(answer, expected, asked, f"{where} [{shape}]")
                    if shape == "fenced":
                        for each in (tally, total):
                            each.add(answer, expected, asked, where)
                if len(text) < 20_000:
                    texts.append(text)
            repositories[name] = tally.scores()
        print("\n".join([each for tally in by_shape.values() for each in tally.examples][: options.examples]))
        report["languages"][language] = {
            "reference": "ast" if LANGUAGES[language].python else "libclang; launches: tree-sitter",
            "all": total.scores(),
            "repositories": repositories,
            "shapes": {shape: tally.scores() for shape, tally in by_shape.items()},
            "random": try_random(language, texts, options.random, rng),
        }
        write(report, options.json)
    report["random_auto"] = try_random("auto", [], options.random, random.Random(options.seed))
    write(report, options.json)
    print(json.dumps(report, indent=2))


def write(report: dict[str, object], path: Path | None) -> None:
    if path:
        path.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
