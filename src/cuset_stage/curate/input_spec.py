"""An input specification: which files a program reads and writes, of which shapes, with which values, over which sizes.

    {"sizes": {"n": {"min": 1, "max": 1048576, "multiple_of": 1}},
     "inputs": {"x": {"dtype": "float32", "shape": ["n"], "values": {"kind": "normal", "mean": 0, "std": 1}}},
     "outputs": {"y": {"dtype": "float32", "shape": ["n"], "tolerance": [1e-4, 1e-5]}},
     "scalars": {"alpha": 0.5, "offset": "n // 2"}}

Shapes and bounds may be arithmetic over the sizes (`evaluation.tasks.shapes`). Kinds of values: normal (mean, std), uniform (low,
high), integers (low, high: both included), indices (below), permutation, sorted (low, high), list (of). `scalars` gives the
values of a harness's parameters that are no size. The cases differ in their sizes (`sizes.five_cases`); a task that has one size
only writes it into its shapes and scalars, and declares no sizes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..spans.scrub import scrub
from ..tasks.base import DTYPE_BYTES
from ..tasks.shapes import MAX_SIZE, ShapeError, evaluate_shape, shape_names
from .ctext import functions, matching, split_list
from .signature import Array, Role, Scalar, Signature


class SpecError(ValueError):
    """A specification cannot be used; the message names the key and what was expected."""


Size = int | str
KINDS = {
    "normal": {"mean": 0.0, "std": 1.0},
    "uniform": {"low": 0.0, "high": 1.0},
    "integers": {"low": -100, "high": 100},
    "indices": {"below": None},
    "permutation": {},
    "sorted": {"low": 0.0, "high": 1.0},
    "list": {"of": None},
}
_NAME = re.compile(r"[A-Za-z_]\w*\Z", re.ASCII)
# rtol and atol where nothing is declared: a kernel sums in another order than the reference.
TOLERANCES = {"float16": (2e-2, 2e-3), "float32": (1e-3, 1e-4), "float64": (1e-7, 1e-8)}


@dataclass(frozen=True)
class SizeRange:
    """The values a size may take."""

    least: int = 1
    most: int = 1 << 24
    multiple_of: int = 1


@dataclass(frozen=True)
class InputSpec:
    name: str
    dtype: str
    shape: tuple[Size, ...]
    values: Mapping[str, Any]


@dataclass(frozen=True)
class OutputSpec:
    name: str
    dtype: str
    shape: tuple[Size, ...]
    tolerance: tuple[float, float]


@dataclass(frozen=True)
class Spec:
    """A checked specification."""

    sizes: Mapping[str, SizeRange]
    inputs: tuple[InputSpec, ...]
    outputs: tuple[OutputSpec, ...]
    notes: Mapping[str, Any] = field(default_factory=dict)

    def check(self, parameters: Mapping[str, int]) -> int:
        """Bytes of all files of a case. Raises SpecError when a shape does not work out."""
        total = 0
        for tensor in (*self.inputs, *self.outputs):
            try:
                shape = evaluate_shape(list(tensor.shape), parameters)
            except ShapeError as error:
                raise SpecError(f"{tensor.name}.shape with {dict(parameters)}: {error}") from None
            count = 1
            for size in shape:
                count *= size
            total += count * DTYPE_BYTES[tensor.dtype]
        return total


def parse_spec(value: Any) -> Spec:
    """A specification as it was declared.

    Raises:
        SpecError: a key is missing, unknown or of another type; a shape uses a name that is no size.
    """
    record = _object(value, "spec")
    for key in ("inputs", "outputs"):
        if key not in record:
            raise SpecError(f"spec.{key} is missing")
    unknown = sorted(set(record) - {"sizes", "inputs", "outputs", "scalars", "notes"})
    if unknown:
        raise SpecError(f"spec has no key {unknown[0]!r}; it has sizes, inputs, outputs, scalars")
    sizes = {
        _name(name, "spec.sizes"): _size_range(entry, f"spec.sizes.{name}")
        for name, entry in _object(record.get("sizes", {}), "spec.sizes").items()
    }
    inputs = tuple(_input(name, entry, sizes) for name, entry in _object(record["inputs"], "spec.inputs").items())
    outputs = tuple(_output(name, entry, sizes) for name, entry in _object(record["outputs"], "spec.outputs").items())
    if not outputs:
        raise SpecError("spec.outputs is empty: a program writes at least one file")
    both = {each.name for each in inputs} & {each.name for each in outputs}
    if both:
        raise SpecError(f"{sorted(both)[0]!r} is an input and an output: they are files of one folder")
    return Spec(sizes, inputs, outputs)


def _object(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise SpecError(f"{where}: an object was expected, this is {type(value).__name__}")
    return value


def _arrays(value: Any, where: str) -> dict[str, dict[str, Any]]:
    return {name: _object(entry, f"{where}.{name}") for name, entry in _object(value, where).items()}


def _name(name: str, where: str) -> str:
    if not _NAME.match(str(name)):
        raise SpecError(f"{where}: {name!r} is no identifier")
    return name


def _size_range(value: Any, where: str) -> SizeRange:
    entry = {"min": value, "max": value} if isinstance(value, int) else _object(value, where)
    numbers = {key: entry.get(key, default) for key, default in (("min", 1), ("max", 1 << 24), ("multiple_of", 1))}
    for key, number in numbers.items():
        if type(number) is not int or not 1 <= number <= MAX_SIZE:
            raise SpecError(f"{where}.{key}={_shown(number)}: a whole number in [1, {MAX_SIZE}]")
    found = SizeRange(numbers["min"], numbers["max"], numbers["multiple_of"])
    first = -(-found.least // found.multiple_of) * found.multiple_of
    if first > found.most:
        raise SpecError(f"{where}: no multiple of {found.multiple_of} lies in [{found.least}, {found.most}]")
    return found


def _shape(value: Any, where: str, sizes: Mapping[str, SizeRange]) -> tuple[Size, ...]:
    shape = _shape_list(value, where)
    unknown = sorted(_names_in(shape, f"{where}.shape") - set(sizes))
    if unknown:
        raise SpecError(f"{where}.shape: {unknown[0]!r} is none of the sizes ({', '.join(sizes) or 'there are none'})")
    return tuple(shape)


def _shape_list(value: Any, where: str) -> list[Size]:
    """A shape as a list; a single size stands for a shape of one dimension."""
    shape = value if isinstance(value, list) else [value]
    if not shape or not all(isinstance(size, str) or (type(size) is int and 1 <= size <= MAX_SIZE) for size in shape):
        raise SpecError(f"{where}.shape={_shown(value)}: a list of whole numbers, sizes, or arithmetic over the sizes")
    return shape


def _names_in(expressions: list[Size], where: str) -> set[str]:
    try:
        return shape_names(expressions)
    except ShapeError as error:
        raise SpecError(f"{where}: {error}") from None


def _shown(value: Any) -> str:
    """A value in a message: whoever wrote it knows it from its beginning."""
    text = repr(value) if not isinstance(value, int) or abs(value) < 1 << 64 else "a number of more than 64 bits"
    return text if len(text) <= 100 else f"{text[:100]}..."


def _dtype(entry: Mapping[str, Any], where: str) -> str:
    dtype = entry.get("dtype")
    if not isinstance(dtype, str) or dtype not in DTYPE_BYTES:  # a list cannot even be looked up
        raise SpecError(f"{where}.dtype={_shown(dtype)}: one of {', '.join(DTYPE_BYTES)}")
    return dtype


def _input(name: str, value: Any, sizes: Mapping[str, SizeRange]) -> InputSpec:
    where = f"spec.inputs.{_name(name, 'spec.inputs')}"
    entry = _object(value, where)
    dtype = _dtype(entry, where)
    return InputSpec(
        name, dtype, _shape(entry.get("shape"), where, sizes), _values(entry.get("values"), dtype, where, sizes)
    )


def _values(value: Any, dtype: str, where: str, sizes: Mapping[str, SizeRange]) -> dict[str, Any]:
    if value is None:
        return default_values(dtype)
    entry = {"kind": value} if isinstance(value, str) else dict(_object(value, f"{where}.values"))
    kind = entry.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise SpecError(f"{where}.values.kind={_shown(kind)}: one of {', '.join(KINDS)}")
    unknown = sorted(set(entry) - {"kind"} - set(KINDS[kind]))
    if unknown:
        raise SpecError(
            f"{where}.values: {kind} has no {unknown[0]!r}; it has {', '.join(KINDS[kind]) or 'no options'}"
        )
    full = {**KINDS[kind], **entry}
    for key, option in full.items():
        if key == "kind":
            continue
        for each in option if key == "of" and isinstance(option, list) else [option]:
            if isinstance(each, str):
                unknown = sorted(_names_in([each], f"{where}.values.{key}") - set(sizes))
                if unknown:
                    raise SpecError(f"{where}.values.{key}: {unknown[0]!r} is none of the sizes")
            elif isinstance(each, bool) or not isinstance(each, (int, float)) or not _finite(each):
                raise SpecError(f"{where}.values.{key}={_shown(option)}: a number, or arithmetic over the sizes")
    if dtype.startswith("uint") and kind == "integers" and isinstance(full["low"], (int, float)) and full["low"] < 0:
        full["low"] = 0
    return full


def _finite(number: float) -> bool:
    """Whether a double can hold it: JSON as Python reads it has NaN, Infinity and whole numbers of any length."""
    try:
        return math.isfinite(number)
    except OverflowError:
        return False


def default_values(dtype: str) -> dict[str, Any]:
    if dtype.startswith(("float", "complex")):
        return {"kind": "normal", "mean": 0.0, "std": 1.0}
    if dtype == "bool":
        return {"kind": "integers", "low": 0, "high": 1}
    return {"kind": "integers", "low": 0 if dtype.startswith("u") else -100, "high": 100}


def _output(name: str, value: Any, sizes: Mapping[str, SizeRange]) -> OutputSpec:
    where = f"spec.outputs.{_name(name, 'spec.outputs')}"
    entry = _object(value, where)
    dtype = _dtype(entry, where)
    pair = entry.get("tolerance", list(TOLERANCES.get(dtype, (0.0, 0.0))))
    if (
        not isinstance(pair, list)
        or len(pair) != 2
        or not all(isinstance(each, (int, float)) and 0 <= each < 1 for each in pair)
    ):
        raise SpecError(f"{where}.tolerance={_shown(pair)}: [rtol, atol], both in [0, 1)")
    return OutputSpec(name, dtype, _shape(entry.get("shape"), where, sizes), (float(pair[0]), float(pair[1])))


# ------------------------------------------------------------------------------------------------ for a harness


def shapes_from_wrapper(signature: Signature, wrapper: str) -> dict[str, str] | None:
    """How many elements each array has, as a host wrapper's own copies say: `cudaMemcpy(d_x, x, n * m * sizeof(float), ...)`.

    None where an array is not copied, or its size is no arithmetic over the whole-number parameters.
    """
    names = {scalar.name for scalar in signature.scalars if not scalar.is_float}
    text = scrub(wrapper)
    local = dict(re.findall(r"\b(?:const\s+)?(?:size_t|int|long|auto|unsigned)\s+(\w+)\s*=\s*([^;,]+);", text))
    found: dict[str, str] = {}
    for copy in re.finditer(r"\bcudaMemcpy(?:Async)?\s*\(", text):
        arguments = split_list(text[copy.end() : matching(text, copy.end() - 1) - 1])
        if len(arguments) < 4:
            continue
        for array in signature.arrays:
            if array.name in (arguments[0], arguments[1]):
                count = _elements(arguments[2], names, local)
                if count is None or (array.name in found and found[array.name] != count):
                    return None
                found[array.name] = count
    return found if set(found) == {array.name for array in signature.arrays} else None


def _elements(bytes_expression: str, names: set[str], local: Mapping[str, str]) -> str | None:
    text = bytes_expression
    for _ in range(3):
        text = re.sub(
            r"\b([A-Za-z_]\w*)\b", lambda match: f"({local[match[1]]})" if match[1] in local else match[0], text
        )
    if "sizeof" not in text:
        return None
    text = re.sub(r"sizeof\s*\([^()]*\)", "1", text)
    text = re.sub(r"\(\s*(?:size_t|int|long|unsigned)\s*\)", "", text)
    text = re.sub(r"\b1\s*\*\s*|\s*\*\s*1\b", "", text).strip()
    text = text.replace("/", "//")
    try:
        used = shape_names([text])
    except ShapeError:
        return None
    return text if used and used <= names else None


def harness_spec(
    signature: Signature,
    declared: Any,
    shapes: Mapping[str, str] | None,
    *,
    free: Size = 1,
    below: Size | None = None,
    positive: bool = False,
    flat: bool = False,
) -> Spec:
    """The specification of a harness's files: what is declared for its arrays, or their element counts, and sizes.bin by our rule.

    Args:
        declared: a specification whose inputs and outputs are the arrays by name (inout arrays stand among the inputs, and
            among the outputs with their tolerance); None: counts alone are known.
        shapes: element counts by array.
        free: the value of whole-number parameters that are in no shape.
        below: what integer arrays stay under, where they are indices; None: our default values.
        positive: real numbers lie between 0 and 1, for roots, logarithms and probabilities, where nothing else is declared.
        flat: outputs are declared with one dimension, as a C++ reference that knows pointers only leaves them.

    Raises:
        SpecError: an array that is not declared, or what `parse_spec` refuses.
    """
    record = dict(_object(declared or {}, "spec"))
    arrays = {array.name: array for array in signature.arrays}
    given_in, given_out = (_arrays(record.get(key, {}), f"spec.{key}") for key in ("inputs", "outputs"))
    scalars = _object(record.get("scalars", {}), "spec.scalars")
    integers = [scalar for scalar in signature.scalars if not scalar.is_float]
    described = dict((*given_in.items(), *given_out.items()))
    counts: dict[str, list[Size]] = {}
    for name, array in arrays.items():
        entry = described.get(name, {})
        shape = entry.get("shape") or ([shapes[name]] if shapes and name in shapes else None)
        if shape is None:
            raise SpecError(f"spec says no shape for {name!r}")
        counts[name] = [*_shape_list(shape, f"spec: {name}"), *([array.lanes] if array.lanes > 1 else [])]
    used = set().union(*(_names_in(shape, f"spec: {name}.shape") for name, shape in counts.items()))
    sizes = dict(_object(record.get("sizes", {}), "spec.sizes"))
    for name in sorted(used):  # sizes differ by their place: the same ones in every run
        sizes.setdefault(name, {})
    inputs: dict[str, Any] = {}
    entries = [scalars.get(scalar.name, scalar.name if scalar.name in sizes else free) for scalar in integers]
    entries += [
        " * ".join(f"({size})" for size in counts[array.name][: None if array.lanes == 1 else -1])
        for array in signature.counted
    ]
    if entries:
        inputs["sizes"] = {"dtype": "int64", "shape": [len(entries)], "values": {"kind": "list", "of": entries}}
    floats = [scalar for scalar in signature.scalars if scalar.is_float]
    if floats:
        values = [scalars.get(scalar.name, 0.5) for scalar in floats]
        inputs["scalars"] = {"dtype": "float64", "shape": [len(floats)], "values": {"kind": "list", "of": values}}
    outputs: dict[str, Any] = {}
    for array in signature.arrays:
        if array.role is not Role.OUTPUT:
            values = given_in.get(array.name, {}).get("values", _array_values(array, below, positive))
            inputs[array.name] = {"dtype": array.dtype, "shape": counts[array.name], "values": values}
        if array.role is not Role.INPUT:
            declared_out = given_out.get(array.output_name, given_out.get(array.name, {}))
            shape = counts[array.name]
            if flat and array.role is Role.OUTPUT:
                shape = [" * ".join(f"({size})" for size in shape)] if len(shape) > 1 else shape
            outputs[array.output_name] = {"dtype": array.dtype, "shape": shape}
            if "tolerance" in declared_out:
                outputs[array.output_name]["tolerance"] = declared_out["tolerance"]
    return parse_spec({"sizes": sizes, "inputs": inputs, "outputs": outputs})


def _array_values(array: Array, below: Size | None, positive: bool) -> dict[str, Any]:
    if positive and "float" in array.dtype:
        return {"kind": "uniform", "low": 0.05, "high": 1.0}
    if below is not None and "int" in array.dtype:
        return {"kind": "indices", "below": below}
    return default_values(array.dtype)


def free_scalars(signature: Signature, spec_sizes: Mapping[str, Any]) -> list[Scalar]:
    """Whole-number parameters that no shape speaks of."""
    return [scalar for scalar in signature.scalars if not scalar.is_float and scalar.name not in spec_sizes]


def parameter_names(source: str, name: str) -> list[str]:
    """The parameter names of a C++ function in `source`; empty when it is not defined there."""
    function = next((each for each in functions(source) if each.name == name), None)
    return [parameter.name for parameter in function.parameters] if function else []
