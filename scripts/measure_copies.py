"""How many copies of a benchmark's kernels `cuset curate deduplicate` finds, and how many kernels it takes for copies that are none.

    python scripts/measure_copies.py CUDABench-Set.jsonl --trees HeCBench cuda-samples llm.c --json benchmarks/copies.json

Each kernel of the benchmark's programs is changed in one way, put into another program, and held against the benchmark, without a prompt
and with the task's first prompt in other letters and punctuation. Kernels that every course has are written down here, in other forms than
in common_kernels.cu. Kernels of the trees, none of which is known to be copied, are counted when they are found. Nothing of the benchmark
or the trees is kept but counts and names.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from cuset_stage.cuda_source import Source, chosen_names, excerpts, tokens
from cuset_stage.cuda_source.tree import child, declared, text_of, walk
from cuset_stage.curate.contamination import Benchmarks
from cuset_stage.tasks import load_tasks


AROUND = """#include <cstdio>
#include <fstream>
#include <vector>
%s
int main(int count, char** words) {
    std::ifstream in(words[1], std::ios::binary);
    std::vector<char> bytes((std::istreambuf_iterator<char>(in)), {});
    for (char each : bytes) std::printf("%%d\\n", each);
    return count;
}
"""
_INDEX = "int i = blockIdx.x * blockDim.x + threadIdx.x;"
COMMON = {
    "vector add, early return": f"(const double* u, const double* v, double* w, size_t m) {{ {_INDEX} if (i >= m) return; w[i] = v[i] + u[i]; }}",
    "vector add, strided": "(int* a, int* b, int* c, int n) { int t = threadIdx.x + blockIdx.x * blockDim.x, s = gridDim.x * blockDim.x; "
    "while (t < n) { c[t] = a[t] + b[t]; t += s; } }",
    "vector add, one thread each": "(float* a, float* b, float* c) { c[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x]; }",
    "vector product": f"(float* a, float* b, float* c, int n) {{ {_INDEX} if (n > i) {{ float p = a[i] * b[i]; c[i] = p; }} }}",
    "saxpy, in place": f"(int n, float k, float* x, float* y) {{ {_INDEX} if (i < n) y[i] += k * x[i]; }}",
    "saxpy, fma": f"(int n, float k, float* x, float* y) {{ {_INDEX} if (i < n) y[i] = fmaf(k, x[i], y[i]); }}",
    "scale": f"(float* x, float* y, float k, int n) {{ {_INDEX} if (i < n) y[i] = k * x[i]; }}",
    "transpose": "(float* o, const float* a, int n) { int r = blockIdx.y * blockDim.y + threadIdx.y, c = blockIdx.x * blockDim.x + "
    "threadIdx.x; if (r < n && c < n) o[c * n + r] = a[r * n + c]; }",
    "transpose, tiled": "(float* o, float* a, int n) { __shared__ float t[16][17]; int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 "
    "+ threadIdx.y; t[threadIdx.y][threadIdx.x] = a[r * n + c]; __syncthreads(); c = blockIdx.y * 16 + threadIdx.x; r = blockIdx.x * 16 + "
    "threadIdx.y; o[r * n + c] = t[threadIdx.x][threadIdx.y]; }",
    "matrix product": "(double* A, double* B, double* C, int n) { int r = threadIdx.y + blockIdx.y * blockDim.y; int c = threadIdx.x + "
    "blockIdx.x * blockDim.x; if (r >= n || c >= n) return; double s = 0; for (int k = 0; k < n; k++) s = s + A[r * n + k] * B[k * n + c]; "
    "C[r * n + c] = s; }",
    "matrix product, strided": "(float* A, float* B, float* C, int M, int N, int K, float alpha, float beta) { int y = blockIdx.y * blockDim.y "
    "+ threadIdx.y, x = blockIdx.x * blockDim.x + threadIdx.x; if (y < M && x < N) { float acc = 0; for (int k = 0; k < K; ++k) acc += "
    "A[y * K + k] * B[k * N + x]; C[y * N + x] = alpha * acc + beta * C[y * N + x]; } }",
    "matrix times vector": f"(float* A, float* x, float* y, int m, int n) {{ {_INDEX} if (i >= m) return; float s = 0; int j = 0; "
    "while (j < n) { s += x[j] * A[i * n + j]; j++; } y[i] = s; }",
    "sum, atomic": f"(float* x, float* s, int n) {{ {_INDEX} if (i < n) atomicAdd(s, x[i]); }}",
    "sum, shared": f"(float* x, float* s, int n) {{ __shared__ float b[512]; {_INDEX} int t = threadIdx.x; b[t] = (i < n) ? x[i] : 0; "
    "__syncthreads(); for (int k = blockDim.x >> 1; k; k >>= 1) { if (t < k) b[t] += b[t + k]; __syncthreads(); } if (!t) s[blockIdx.x] = b[0]; }",
    "maximum, shared": f"(float* x, float* s, int n) {{ extern __shared__ float b[]; {_INDEX} b[threadIdx.x] = i < n ? x[i] : -1e30f; "
    "__syncthreads(); for (int k = blockDim.x / 2; k > 0; k /= 2) { if (threadIdx.x < k) b[threadIdx.x] = fmaxf(b[threadIdx.x], "
    "b[threadIdx.x + k]); __syncthreads(); } if (threadIdx.x == 0) s[blockIdx.x] = b[0]; }",
    "dot product, atomic": f"(float* a, float* b, float* s, int n) {{ {_INDEX} if (i < n) atomicAdd(s, b[i] * a[i]); }}",
    "relu": f"(const float* x, float* y, int n) {{ {_INDEX} if (i < n) y[i] = max(0.0f, x[i]); }}",
    "relu, in place": f"(float* x, int n) {{ {_INDEX} if (i < n && x[i] < 0) x[i] = 0; }}",
    "sigmoid": f"(const float* x, float* y, int n) {{ {_INDEX} if (i < n) y[i] = 1.0 / (1.0 + exp(-x[i])); }}",
    "copy": f"(const float* x, float* y, int n) {{ {_INDEX} if (i < n) y[i] = x[i]; }}",
    "histogram": f"(unsigned char* x, unsigned* h, int n) {{ {_INDEX} if (i < n) atomicAdd(h + x[i], 1u); }}",
    "square": f"(float* x, int n) {{ {_INDEX} if (i < n) x[i] = x[i] * x[i]; }}",
}  # fmt: skip


# -------------------------------------------------------------------------------------------------------------- changes


def rewritten(code: str, rule: Callable[[object, list[str], str], str | None]) -> str:
    """The code with every node's text as `rule` gives it from those of its children; None: as they are."""
    source = Source(code)

    def text(node) -> str:
        parts, at = [], node.start_byte
        inner = [text(each) for each in node.children]
        for each, given in zip(node.children, inner, strict=True):
            parts += [code[at : each.start_byte], given]
            at = each.end_byte
        plain = "".join([*parts, code[at : node.end_byte]])
        changed = rule(node, inner, plain)
        return plain if changed is None else changed

    root = source.root
    return code[: root.start_byte] + text(root) + code[root.end_byte :]


def renamed(code: str) -> str:
    words = tokens(code)
    made, at, names = [], 0, {}
    for word, own in zip(words, chosen_names(words), strict=True):
        made.append(code[at : word.start])
        inside = code[code.rfind("\n", 0, word.start) + 1 : word.start].lstrip().startswith("#include")
        made.append(names.setdefault(word.text, f"name{len(names)}") if own and not inside else word.text)
        at = word.start + len(word.text)
    return "".join([*made, code[at:]])


def swapped(code: str) -> str:
    turned = {"<": ">", ">": "<", "<=": ">=", ">=": "<="} | {
        each: each for each in ("+", "*", "==", "!=", "&&", "||", "&", "|", "^")
    }

    def rule(node, inner, _):
        if node.type == "binary_expression" and (operator := text_of(code, child(node, "operator"))) in turned:
            return f"({inner[2]}) {turned[operator]} ({inner[0]})"
        return None

    return rewritten(code, rule)


def spelled_out(code: str) -> str:
    def rule(node, inner, _):
        if node.type == "assignment_expression" and (operator := text_of(code, child(node, "operator"))) != "=":
            return f"{inner[0]} = {inner[0]} {operator[:-1]} ({inner[2]})"
        if node.type == "update_expression" and node.parent.type in ("expression_statement", "for_statement"):
            name = text_of(code, child(node, "argument"))
            return f"{name} = {name} {text_of(code, child(node, 'operator'))[0]} 1"
        return None

    return rewritten(code, rule)


def loops(code: str) -> str:
    def rule(node, inner, plain):
        if node.type != "for_statement" or re.search(r"\bcontinue\b", plain):
            return None
        parts = {}
        for field in ("initializer", "condition", "update", "body"):
            at = child(node, field)
            parts[field] = inner[node.children.index(at)] if at is not None else ""
        start = parts["initializer"].rstrip(";")
        return f"{{ {start}; while ({parts['condition'] or 'true'}) {{ {parts['body']} {parts['update']}; }} }}"

    return rewritten(code, rule)


def constants(code: str) -> str:
    def rule(node, _, plain):
        if node.type != "number_literal":
            return None
        return (
            re.sub(r"\d+", lambda match: str(3 * int(match[0]) + 1), plain, count=1)
            if plain[:2].lower() != "0x"
            else plain + "0"
        )

    return rewritten(code, rule)


def reordered(code: str) -> str:
    """Neighbours that have nothing to do with each other change places."""

    def rule(node, inner, _):
        if node.type != "compound_statement":
            return None
        children, texts, index = node.children, list(inner), 1
        while index + 2 < len(children):
            pair = children[index : index + 2]
            words = [set(re.findall(r"[A-Za-z_]\w*", text_of(code, each))) for each in pair]
            simple = all(each.type == "declaration" or each.type == "expression_statement" for each in pair)
            written = [_written(code, each) for each in pair]
            if simple and all(written) and not (written[0] & words[1] or written[1] & words[0]):
                texts[index], texts[index + 1] = texts[index + 1], texts[index]
                index += 1
            index += 1
        return "\n".join(texts)

    return rewritten(code, rule)


def _written(code: str, node) -> set[str]:
    """The names that a declaration or an assignment writes; empty: it cannot be told."""
    if node.type == "declaration":
        found = {text_of(code, declared(each)) for each in node.children_by_field_name("declarator") if declared(each)}
        return set() if any(each.type == "call_expression" for each in walk(node)) else found
    if any(each.type in ("call_expression", "update_expression") for each in walk(node)):
        return set()
    targets = [child(each, "left") for each in walk(node) if each.type == "assignment_expression"]
    return {word for each in targets for word in re.findall(r"[A-Za-z_]\w*", text_of(code, each))[:1]}


def everything(code: str) -> str:
    for change in (reordered, loops, spelled_out, swapped, constants, renamed):
        code = change(code)
    return code


CHANGES = {
    "none, in another program": lambda code: code,
    "renamed": renamed,
    "operands swapped": swapped,
    "`+=` and `++` spelled out": spelled_out,
    "`for` as `while`": loops,
    "constants changed": constants,
    "statements reordered": reordered,
    "all of these": everything,
}


# ---------------------------------------------------------------------------------------------------------- measurement


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("benchmark", type=Path, help="your copy of CUDABench")
    parser.add_argument("--trees", type=Path, nargs="*", default=[], help="checkouts with .cu files")
    parser.add_argument("--json", type=Path, required=True)
    args = parser.parse_args()
    found = Benchmarks({"cudabench": args.benchmark})
    kernels: dict[str, tuple[str, str]] = {}
    for task in load_tasks(args.benchmark):
        for kernel, text in excerpts(Source(task.solution or "")):
            kernels.setdefault(f"{task.name}: {kernel.name}", (text, task.prompts[1]))
    record = {"date": datetime.now(UTC).isoformat(timespec="seconds"), "kernels": len(kernels), "changes": {}}
    for name, change in CHANGES.items():
        made = {key: (AROUND % change(text), prompt) for key, (text, prompt) in kernels.items()}
        missed = [key for key, (code, _) in made.items() if found.find({"id": key, "code": code}) is None]
        asked = {key: prompt.upper().replace(",", ";") for key, (_, prompt) in made.items()}
        alone = [key for key in made if found.find({"id": key, "code": made[key][0], "prompt": asked[key]}) is None]
        changed = sum(
            "".join((AROUND % text).split()) != "".join(made[key][0].split()) for key, (text, _) in kernels.items()
        )
        record["changes"][name] = {
            "changed": changed,
            "found": len(kernels) - len(missed),
            "found_with_prompt": len(kernels) - len(alone),
            "missed": missed,
        }
        print(name, record["changes"][name])
    wrong = [
        name
        for name, code in COMMON.items()
        if found.find({"id": name, "code": AROUND % f"__global__ void kernel{code}"})
    ]
    record["common"] = {"kernels": len(COMMON), "dropped": wrong}
    record["trees"] = {}
    for tree in args.trees:
        count, taken = 0, []
        for path in sorted(tree.rglob("*.cu")):
            for kernel, text in excerpts(Source(path.read_text(encoding="utf-8", errors="replace"))):
                count += 1
                if hit := found.find({"id": kernel.name, "code": text}):
                    taken.append(f"{path.relative_to(tree)}: {kernel.name}: {hit}")
        record["trees"][tree.name] = {"kernels": count, "dropped": taken}
    print(json.dumps({key: record[key] for key in ("common", "trees")}, indent=2))
    args.json.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
