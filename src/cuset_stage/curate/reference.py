"""The Python source of a task's reference: `make_inputs`, `reference` and TOLERANCE, from a specification and an implementation.

The implementation is another one than the kernel's: NumPy or PyTorch source, or a C++ function for the CPU, which the reference
compiles with bounds checks and runs on the same files.
"""

from __future__ import annotations

import json
import re

from .ctext import Function, functions
from .harness import cpu_program
from .input_spec import InputSpec, Spec
from .signature import AdaptError, Signature


_VALUES = '''import numpy as np


def draw(rng, shape, dtype, kind, special, **options):
    """One input; with special, values that trip up a careless program take the place of a third of it."""
    count = int(np.prod(shape))
    if kind == "list":
        return np.array(options["of"], dtype=dtype).reshape(shape)
    if kind == "permutation":
        return rng.permutation(count).astype(dtype).reshape(shape)
    if kind == "indices":
        values = rng.integers(0, options["below"], count)
        if special and count > 1:
            values[: count // 3] = values[0]
        return values.astype(dtype).reshape(shape)
    if kind == "integers":
        low, high = int(options["low"]), int(options["high"])
        values = rng.integers(low, high, count, endpoint=True)
        edges = [low, high, min(max(0, low), high)]
    else:
        if kind == "normal":
            values = rng.normal(options["mean"], options["std"], count)
            edges = [0.0, -0.0, options["mean"] + 4 * options["std"], options["mean"] - 4 * options["std"], 1e-30]
        else:
            values = rng.uniform(options["low"], options["high"], count)
            low, high = options["low"], options["high"]
            edges = [low, high, 0.5 * (low + high)] + ([0.0, -0.0] if low <= 0 <= high else [])
        values = np.sort(values) if kind == "sorted" else values
    if special and count > 1 and kind != "sorted":
        places = rng.permutation(count)[: max(1, count // 3)]
        values[places] = np.array(edges, dtype=values.dtype)[np.arange(len(places)) % len(edges)]
    return values.astype(dtype).reshape(shape)
'''
_CPU = '''

import os
import subprocess
import tempfile

_SOURCE = {source}
_INPUTS = {inputs}
_OUTPUTS = {outputs}


def reference(inputs):
    """The C++ implementation for the CPU, with bounds checks, on the files of the case."""
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "data"))
        with open(os.path.join(folder, "reference.cpp"), "w", encoding="utf-8") as file:
            file.write(_SOURCE)
        built = subprocess.run(
            ["c++", "-std=c++17", "-O1", "-fpermissive", "-w", "-fsanitize=address,undefined", "-fno-sanitize=float-divide-by-zero",
             "-fno-sanitize-recover=all", "-o", "reference", "reference.cpp"],
            cwd=folder, capture_output=True, text=True)
        if built.returncode:
            raise RuntimeError("the CPU code does not compile: " + first_error(built.stderr))
        for name in _INPUTS:
            inputs[name].tofile(os.path.join(folder, "data", name + ".bin"))
        ran = subprocess.run(["./reference"], cwd=folder, capture_output=True, text=True,
                             env={{**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}})
        if ran.returncode:
            raise RuntimeError("the CPU code fails on these inputs: " + first_error(ran.stderr))
        return {{name: np.fromfile(os.path.join(folder, "data", name + ".bin"), dtype=dtype).reshape(shape(inputs))
                for name, (dtype, shape) in _OUTPUTS.items()}}


def first_error(text):
    lines = text.strip().splitlines()
    return next((line for line in lines if "error" in line.lower()), lines[0] if lines else "it printed nothing")[:300]
'''


def make_inputs_source(spec: Spec) -> str:
    """`draw` and `make_inputs(rng, <sizes>, special=0)`."""
    arguments = ", ".join(["rng", *spec.sizes, "special=0"])
    lines = [f"    {json.dumps(each.name)}: {_drawn(each)},\n" for each in spec.inputs]
    indented = "".join("    " + line for line in lines)
    return f"{_VALUES}\n\ndef make_inputs({arguments}):\n    return {{\n{indented}    }}\n"


def _drawn(each: InputSpec) -> str:
    shape = "(" + ", ".join(map(str, each.shape)) + ",)"
    options = "".join(f", {key}={_literal(value)}" for key, value in each.values.items() if key != "kind")
    return f'draw(rng, {shape}, "{each.dtype}", "{each.values["kind"]}", special{options})'


def _literal(value: object) -> str:
    # Text is arithmetic over the sizes, checked on its syntax tree when the specification was read.
    if isinstance(value, list):
        return "[" + ", ".join(_literal(each) for each in value) + "]"
    return f"({value})" if isinstance(value, str) else repr(value)


def tolerance_source(spec: Spec) -> str:
    return f"\n\nTOLERANCE = { ({each.name: each.tolerance for each in spec.outputs})!r}\n"


def numpy_reference(spec: Spec, source: str) -> str:
    """The whole source around Python that defines `reference(inputs)` with NumPy, or PyTorch on the CPU."""
    return f"{make_inputs_source(spec)}{tolerance_source(spec)}\n\n{source.strip()}\n"


def cpu_reference(spec: Spec, signature: Signature, cpu_code: str) -> str:
    """The whole source around a C++ function for the CPU that has the kernel's parameters.

    Raises:
        AdaptError: no function in `cpu_code` has them.
    """
    function, order = cpu_function(signature, cpu_code)
    program = cpu_program(cpu_code, function, order, signature)
    sizes = {name: index for index, name in enumerate(_harness_sizes(signature))}
    outputs = ", ".join(
        f"{json.dumps(array.output_name)}: ({array.dtype!r}, {_shape_of(array.name, signature, sizes)})"
        for array in signature.outputs
    )
    filled = _CPU.format(source=repr(program), inputs=[each.name for each in spec.inputs], outputs=f"{{{outputs}}}")
    return f"{make_inputs_source(spec)}{tolerance_source(spec)}{filled}"


def _harness_sizes(signature: Signature) -> list[str]:
    integers = [scalar.name for scalar in signature.scalars if not scalar.is_float]
    return integers + [array.name for array in signature.counted]


def _shape_of(name: str, signature: Signature, sizes: dict[str, int]) -> str:
    """Python that gives an output's shape from the inputs: an array with a value before has its shape."""
    return f"lambda inputs: inputs[{name!r}].shape" if name not in sizes else "lambda inputs: (-1,)"


def same_parameters(signature: Signature, found: list[Function]) -> list[Function]:
    """The functions that take the signature's parameters: by their names, in any order; else by their number and kinds, in its order.

    Of several, those whose types are the signature's, where there are such.
    """
    wanted = [name for name in signature.order if name != "0"]
    arrays = {array.name for array in signature.arrays}
    same = [each for each in found if sorted(parameter.name for parameter in each.parameters) == sorted(wanted)]
    if not same:
        kinds = [name in arrays for name in wanted]
        same = [each for each in found if [parameter.stars > 0 for parameter in each.parameters] == kinds]
    if len(same) < 2:
        return same
    ctypes = {each.name: each.ctype for each in (*signature.arrays, *signature.scalars)}
    types = sorted(ctypes[name] for name in wanted)
    return [each for each in same if sorted(parameter.type for parameter in each.parameters) == types] or same


def cpu_function(signature: Signature, cpu_code: str) -> tuple[str, list[str]]:
    """The name of the function that takes the signature's parameters, and what to give it, in its order.

    Raises:
        AdaptError: there is none, or several.
    """
    wanted = [name for name in signature.order if name != "0"]
    same = same_parameters(signature, [each for each in functions(cpu_code) if each.name != "main"])
    if len(same) > 1:  # a helper may take the same as the function that calls it
        same = [
            each
            for each in same
            if not any(
                other.name != each.name and re.search(rf"\b{re.escape(each.name)}\s*\(", other.body_text(cpu_code))
                for other in same
            )
        ]
    if len(same) != 1:
        raise AdaptError(
            "no_reference", f"{len(same)} functions of the CPU code take the kernel's parameters ({', '.join(wanted)})"
        )
    names = [parameter.name for parameter in same[0].parameters]
    return same[0].name, names if sorted(names) == sorted(wanted) else wanted
