"""What a task asks of a model: the source's own prompt, or one made from a description and the files.

Standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .ctext import functions
from .input_spec import Spec
from .licences import UNKNOWN, of_source
from .stage_rows import Row


def task_prompt(row: Row, spec: Spec, description: str | None, cpu_code: str | None = None) -> str | None:
    """The prompt; None where nothing says what the program computes. A source's own gets the files, which it cannot know.

    Args:
        cpu_code: the reference, where it is C++ for the CPU.
    """
    if row.get("prompt"):
        given = str(row["prompt"]).strip()
        files = (f"data/{each.name}.bin" for each in (*spec.inputs, *spec.outputs))
        return given if all(file in given for file in files) else f"{given}\n\n{files_text(row, spec)}"
    description = description or row.get("description")
    if description:
        head = f"Write a complete CUDA C++ program for this task.\n\n{str(description).strip()}"
    elif cpu_code or row.get("cpu_code"):
        head = (
            "Write a complete CUDA C++ program that computes on the GPU what this C++ function computes on the CPU.\n\n"
            f"```cpp\n{str(row.get('cpu_code') or cpu_code).strip()}\n```"
        )
    else:
        comment = leading_comment(row.get("code") or "", (row.get("signature") or {}).get("function"))
        if not comment:
            return None
        head = f"Write a complete CUDA C++ program for this task.\n\n{comment}"
    return f"{head}\n\n{files_text(row, spec)}"


def files_text(row: Row, spec: Spec) -> str:
    """The files with types and shapes, what sizes.bin holds, and what the harness had in its outputs before."""
    signature = row.get("signature") or {"arrays": []}
    zeroed = {array["name"] for array in signature["arrays"] if array["role"] == "output"}
    lines = ["Files, all raw little-endian and row-major, without a header:"]
    for each in spec.inputs:
        held = _held(each.name, each.values, row.get("signature"))
        lines.append(f"- input `data/{each.name}.bin`: {each.dtype}, {_shape(each.shape)}{held}")
    for out in spec.outputs:
        before = out.name.removesuffix("_out")
        changed = (
            f", the new values of {before}"
            if out.name != before and any(each.name == before for each in spec.inputs)
            else ""
        )
        unwritten = ", 0 where nothing is written" if out.name in zeroed else ""
        lines.append(f"- output `data/{out.name}.bin`: {out.dtype}, {_shape(out.shape)}{changed}{unwritten}")
    tolerance = "; ".join(
        f"{out.name} exactly"
        if out.tolerance == (0.0, 0.0)
        else f"{out.name} within rtol {out.tolerance[0]:g} and atol {out.tolerance[1]:g}"
        for out in spec.outputs
    )
    sizes = (
        "The sizes differ from run to run; read them from the files."
        if spec.sizes
        else "The sizes are the same in every run."
    )
    lines.append(
        f"\n{sizes} Results are compared: {tolerance}. Exit with 0 on success and with another code when a file is missing or CUDA "
        "reports an error."
    )
    return "\n".join(lines)


def _shape(shape: tuple[int | str, ...]) -> str:
    parts = [str(size).strip("()") if re.fullmatch(r"\(?\w+\)?", str(size)) else str(size) for size in shape]
    return f"{parts[0]} values" if len(parts) == 1 else f"shape ({', '.join(parts)})"


def _held(name: str, values: Mapping[str, Any], signature: Mapping[str, Any] | None) -> str:
    if signature is None or name not in ("sizes", "scalars"):
        return ""
    if name == "scalars":
        return ": " + ", ".join(scalar["name"] for scalar in signature["scalars"] if scalar["is_float"])
    names = [scalar["name"] for scalar in signature["scalars"] if not scalar["is_float"]]
    names += [
        f"the number of elements of {array['name']}" for array in signature["arrays"] if array["role"] == "output"
    ]
    return ": " + ", ".join(names)


def leading_comment(code: str, function: str | None) -> str | None:
    """The comment right above a function, without its stars; None when it says too little, or is a licence."""
    found = next((each for each in functions(code) if each.name == function), None)
    if found is None:
        return None
    match = re.search(r"(/\*(?:[^*]|\*(?!/))*\*/|(?:[ \t]*//[^\n]*\n)+)\s*\Z", code[: found.head])
    if not match:
        return None
    lines = [re.sub(r"^\s*(?:/\*+|\*+/?|//+)\s?|\*/\s*$", "", line).rstrip() for line in match[1].splitlines()]
    text = "\n".join(line for line in lines).strip()
    is_licence = "copyright" in text.lower() or of_source(text) != UNKNOWN
    return text if len(text.split()) >= 5 and not is_licence else None


def family_of(row: Row) -> str:
    """The row's family, else one told from words of its name and code; `other` when none fits."""
    if row.get("family"):
        return str(row["family"])
    text = f"{row.get('name', '')} {row.get('description', '')} {(row.get('signature') or {}).get('function', '')}".lower()
    return next((family for family, words in _FAMILIES.items() if re.search(words, text)), "other")


_FAMILIES = {
    "attention": r"attention|flash|\bqkv\b",
    "softmax": r"softmax|logsumexp|cross.?entropy",
    "normalisation": r"norm(?!al\b)|rms|welford|batch.?n",
    "convolution": r"conv",
    "matrix product": r"gemm|mat.?mul|gemv|matrix.?(?:prod|mult|vec)|\bmm\b|\bbmm\b|linear|\bdot_?prod",
    "transpose": r"transpos|permut|layout|nchw|nhwc",
    "stencil": r"stencil|jacobi|laplac|heat|diffus|gauss.?seidel",
    "scan": r"scan|prefix|cumsum|compact",
    "histogram": r"histogram|bin.?count",
    "sort": r"sort|top.?k|merge|bitonic|radix",
    "sparse": r"spmv|spmm|csr|coo\b|sparse|ell\b",
    "random numbers": r"rand|philox|xor.?shift|monte|curand|lcg",
    "image": r"image|pixel|blur|sobel|gray|rgb|yuv|median|filter|bilinear|resize|canny|erode|dilate",
    "reduction": r"reduc|sum|\bmax\b|\bmin\b|mean|argm|dot|pool|norm\b|count|variance",
    "physics": r"body|particle|wave|fluid|force|lattice|molec|md_|lbm|ising",
    "graph": r"\bbfs\b|sssp|graph|pagerank|floyd|dijkstra|label.?prop",
    "element-wise": r"add|sub|mul|div|scale|relu|gelu|sigmoid|tanh|silu|swish|axpy|activation|element|clip|clamp|copy|fill|abs|sqrt|exp|pow",
}
