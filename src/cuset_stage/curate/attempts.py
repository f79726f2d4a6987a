"""What can be tried for a program before a model is asked: specifications and references that the source itself offers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .ctext import functions
from .input_spec import Spec, SpecError, harness_spec, parse_spec, shapes_from_wrapper
from .reachable import called_by_kernels, host_part
from .reference import cpu_reference, numpy_reference, same_parameters
from .signature import Call, Signature
from .stage_rows import Row


_HOST_NAMES = re.compile(r"cpu|host|ref|serial|gold|seq|naive|verify|expected", re.IGNORECASE)


@dataclass(frozen=True)
class Attempt:
    """A specification with a reference: (where it comes from, its source)."""

    spec: Spec
    reference: tuple[str, str]
    signature: Signature | None
    description: str | None = None
    family: str | None = None
    cases: list[dict[str, Any]] | None = None

    @property
    def by_model(self) -> bool:
        return self.description is not None

    def source(self) -> str:
        kind, code = self.reference
        if kind in ("numpy_code", "the model's NumPy code"):
            return numpy_reference(self.spec, code)
        if self.signature is None:
            raise SpecError(
                "C++ for the CPU can be a reference of a kernel or a wrapper, not of a whole program; give numpy_code"
            )
        return cpu_reference(self.spec, self.signature, code)


def attempts(row: Row, signature: Signature | None, problems: list[str]) -> Iterator[Attempt]:
    """What can be tried without a model: as declared, or as the source itself says."""
    reference = reference_source(row, signature)
    declared = row.get("spec")
    shapes = None if signature is None or declared else array_lengths(row, signature)
    if declared is None and shapes is None:
        return
    if reference is None:
        problems.append(
            "no_reference: there is no implementation to compare with but the kernel itself: give numpy_code or cpu_code, or --endpoint"
        )
        return
    flat = reference[0] != "numpy_code"
    # Whole numbers in arrays may be indices, which the CPU code's bounds checks show: then they stay under a size. Real numbers may
    # be probabilities or what a root is taken of: a result that is not finite shows it, and they stay above 0.
    trials: list[tuple[str | None, bool]] = [(None, False)]
    if shapes is not None and signature is not None:
        trials += [(name, False) for name in _size_names(signature, shapes)]
        trials += [(None, True)] if any("float" in array.dtype for array in signature.inputs) else []
    for below, positive in trials:
        if positive and not any("not finite" in problem for problem in problems):
            continue
        try:
            spec = spec_of(signature, declared, declared, shapes=shapes, below=below, positive=positive, flat=flat)
        except SpecError as error:
            problems.append(f"bad_specification: {error}")
            return
        yield Attempt(spec, reference, signature)


def spec_of(
    signature: Signature | None,
    declared: Any,
    whole: Any,
    *,
    shapes=None,
    below=None,
    positive: bool = False,
    flat: bool = False,
) -> Spec:
    return (
        parse_spec(whole)
        if signature is None
        else harness_spec(signature, declared, shapes, below=below, positive=positive, flat=flat)
    )


def _size_names(signature: Signature | None, shapes: dict[str, str] | None) -> list[str]:
    if signature is None or shapes is None or not any("int" in array.dtype for array in signature.inputs):
        return []
    words = set(re.findall(r"[A-Za-z_]\w*", " ".join(shapes.values())))
    return [scalar.name for scalar in signature.scalars if scalar.name in words]


def array_lengths(row: Row, signature: Signature) -> dict[str, str] | None:
    """Element counts of all arrays, from a wrapper's copies, or from a launch of one thread an element.

    The second is a guess that the CPU code's bounds checks put to the test; it is made only where every whole-number parameter is
    an extent of the launch.
    """
    source = row.get("wrapper") or row.get("code") or ""
    lengths = row.get("lengths") or {}
    if all(array.name in lengths for array in signature.arrays):
        return {array.name: lengths[array.name] for array in signature.arrays}
    if signature.call is Call.HOST_WRAPPER:
        return shapes_from_wrapper(signature, source)
    if signature.call is not Call.KERNEL or signature.launch is None:
        return None
    integers = [scalar.name for scalar in signature.scalars if not scalar.is_float]
    used = set(re.findall(r"[A-Za-z_]\w*", " ".join(signature.launch.grid)))
    if not integers or used != set(integers):
        return None
    return {array.name: " * ".join(integers) for array in signature.arrays}


def reference_source(row: Row, signature: Signature | None) -> tuple[str, str] | None:
    """(where it comes from, source) of the implementation that gives right results; None when the row has none."""
    for key in ("numpy_code", "cpu_code"):
        if row.get(key):
            return key, row[key]
    found = None if signature is None else embedded_function(row.get("code") or "", signature)
    return None if found is None else ("a CPU function of the source", found)


def embedded_function(code: str, signature: Signature) -> str | None:
    """A host function of the source with the kernel's parameters, such as the `..._cpu` that samples check against.

    It comes with the helpers and constants that it needs. A `__host__ __device__` function that a kernel calls is the kernel itself
    under another name, and no reference.
    """
    found = []
    in_kernels = called_by_kernels(code)
    for each in functions(code):
        body = each.body_text(code)
        for_both = each.is_device and "__host__" in each.source(code) and each.name not in in_kernels
        is_host = not each.is_kernel and (not each.is_device or for_both) and each.name != "main"
        if is_host and each.name != signature.function and "<<<" not in body and not re.search(r"\bcuda[A-Z]", body):
            found.append(each)
    same = same_parameters(signature, found)
    named = [each for each in same if _HOST_NAMES.search(each.name)]
    chosen = named if len(named) == 1 else same if len(same) == 1 else []
    return host_part(code, chosen[0]) if chosen else None
