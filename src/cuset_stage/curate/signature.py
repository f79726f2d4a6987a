"""What a kernel or its wrapper takes and gives: arrays with a role and a type, scalars, and how many threads it wants.

Read from the source alone. What is not clear is an `AdaptError` with a reason, never a guess: a wrong role would make a wrong
reference look right.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ..spans.scrub import scrub
from .ctext import Function, blank_directives, functions, matching, pointer_use, split_list
from .reachable import without_unused


class AdaptError(ValueError):
    """A source cannot be given a harness. `reason` is one of a few words, the message is for people."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


class Role(StrEnum):
    """What a program does with an array: `inout` has a value before and another one after."""

    INPUT = "input"
    OUTPUT = "output"
    INOUT = "inout"


class Call(StrEnum):
    """How the harness reaches the code."""

    KERNEL = "kernel"  # <<<grid, block>>> with device pointers
    DEVICE_WRAPPER = "device_wrapper"  # a host function that takes device pointers
    HOST_WRAPPER = "host_wrapper"  # a host function that takes host pointers and copies by itself


@dataclass(frozen=True)
class Array:
    """A pointer parameter: the file data/<name>.bin, of `lanes` values of `dtype` an element."""

    name: str
    ctype: str
    dtype: str
    lanes: int
    role: Role

    @property
    def output_name(self) -> str:
        """The file that takes the result; an array with a value before keeps that in a file of its own."""
        return f"{self.name}_out" if self.role is Role.INOUT else self.name


@dataclass(frozen=True)
class Scalar:
    """A parameter by value: an entry of data/sizes.bin (int64) or data/scalars.bin (float64)."""

    name: str
    ctype: str
    is_float: bool


@dataclass(frozen=True)
class Launch:
    """Execution configuration as C++ expressions over the scalars."""

    grid: tuple[str, ...]
    block: tuple[str, ...]
    shared: str = "0"


@dataclass(frozen=True)
class Signature:
    """What is called, and with what, in the order of the parameters."""

    function: str
    call: Call
    template: str  # "<float>" where the function is a template, else ""
    order: tuple[str, ...]
    arrays: tuple[Array, ...]
    scalars: tuple[Scalar, ...]
    launch: Launch | None = None
    namespace: str = ""  # "a::b" where the function lies in one

    @property
    def called(self) -> str:
        """The function from the outermost scope on: a parameter or another scope may have its name as well."""
        return "::" + "::".join(filter(None, (self.namespace, self.function)))

    @property
    def inputs(self) -> tuple[Array, ...]:
        return tuple(array for array in self.arrays if array.role is not Role.OUTPUT)

    @property
    def outputs(self) -> tuple[Array, ...]:
        return tuple(array for array in self.arrays if array.role is not Role.INPUT)

    @property
    def counted(self) -> tuple[Array, ...]:
        """Arrays whose length the program cannot take from a file."""
        return tuple(array for array in self.arrays if array.role is Role.OUTPUT)

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Signature:
        """What `dataclasses.asdict` made of a signature, read back."""
        launch = record["launch"]
        return cls(
            record["function"],
            Call(record["call"]),
            record["template"],
            tuple(record["order"]),
            tuple(Array(**{**array, "role": Role(array["role"])}) for array in record["arrays"]),
            tuple(Scalar(**scalar) for scalar in record["scalars"]),
            None if launch is None else Launch(tuple(launch["grid"]), tuple(launch["block"]), launch["shared"]),
            record.get("namespace", ""),
        )


_DTYPES = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "__half": "float16",
    "char": "int8",
    "signed char": "int8",
    "int8_t": "int8",
    "unsigned char": "uint8",
    "uint8_t": "uint8",
    "uchar": "uint8",
    "short": "int16",
    "int16_t": "int16",
    "unsigned short": "uint16",
    "uint16_t": "uint16",
    "bool": "uint8",
    "int": "int32",
    "int32_t": "int32",
    "signed": "int32",
    "unsigned": "uint32",
    "unsigned int": "uint32",
    "uint": "uint32",
    "uint32_t": "uint32",
    "long": "int64",
    "long int": "int64",
    "long long": "int64",
    "long long int": "int64",
    "int64_t": "int64",
    "unsigned long": "uint64",
    "unsigned long long": "uint64",
    "uint64_t": "uint64",
    "size_t": "uint64",
    "unsigned long long int": "uint64",
    "unsigned long int": "uint64",
    "std::size_t": "uint64",
    "std::int32_t": "int32",
}
_VECTORS = {
    f"{base}{lanes}": (dtype, lanes)
    for base, dtype in (
        ("float", "float32"),
        ("double", "float64"),
        ("int", "int32"),
        ("uint", "uint32"),
        ("uchar", "uint8"),
    )
    for lanes in (2, 3, 4)
}
_BLOCK = {1: ("256",), 2: ("16", "16"), 3: ("8", "8", "4")}


def choose_function(code: str, wrapper: str | None, name: str | None = None) -> tuple[Function, Call]:
    """What the harness calls: the wrapper when there is one, else the only host function that launches, else the only kernel.

    Args:
        name: the kernel to take of several.

    Raises:
        AdaptError: nothing to call, or several things.
    """
    if wrapper:
        hosts = [
            each for each in functions(wrapper) if not each.is_kernel and not each.is_device and each.name != "main"
        ]
        if len(hosts) != 1:
            raise AdaptError(
                "several_functions" if hosts else "no_function", f"the wrapper defines {len(hosts)} host functions"
            )
        return hosts[0], _call_of(hosts[0].body_text(wrapper))
    found = functions(code)
    kernels = [each for each in found if each.is_kernel]
    if not kernels:
        raise AdaptError("no_kernel", "the source defines no __global__ function")
    if name is not None:
        named = [each for each in kernels if each.name == name]
        if len(named) != 1:
            raise AdaptError("no_function", f"the source defines {len(named)} kernels called {name}")
        return named[0], Call.KERNEL
    hosts = [
        each
        for each in found
        if not each.is_kernel and not each.is_device and each.name != "main" and "<<<" in scrub(each.body_text(code))
    ]
    if len(hosts) == 1:
        return hosts[0], _call_of(hosts[0].body_text(code))
    if hosts:
        raise AdaptError(
            "several_functions", "several host functions launch kernels: " + ", ".join(each.name for each in hosts)
        )
    if len(kernels) > 1:
        raise AdaptError(
            "several_kernels",
            "several kernels and no function that launches them: " + ", ".join(k.name for k in kernels),
        )
    return kernels[0], Call.KERNEL


def _call_of(body: str) -> Call:
    # A function that copies between host and device by itself was given host pointers.
    return Call.HOST_WRAPPER if re.search(r"\bcudaMemcpy\w*\s*\(", scrub(body)) else Call.DEVICE_WRAPPER


def read_signature(
    function: Function, call: Call, code: str, launch: Launch | None, template: tuple[str, ...] = ()
) -> Signature:
    """The signature of a function that was chosen in `code`.

    Args:
        launch: where the source declares it, or its own call says it.
        template: the template arguments of its own call; empty: not known.

    Raises:
        AdaptError: a parameter of a type that no file can hold, nothing to write, a launch that cannot be read.
    """
    arguments, types = _template(function, template)
    types = {**aliases(code), **types}
    body = function.body_text(code)
    arrays: list[Array] = []
    scalars: list[Scalar] = []
    for parameter in function.parameters:
        ctype = types.get(parameter.type, parameter.type)
        if not parameter.name:
            raise AdaptError("unsupported_parameter", f"a parameter without a name: {parameter.text!r}")
        if parameter.stars > 1 or (parameter.stars and ctype == "void"):
            raise AdaptError(
                "unsupported_parameter", f"{parameter.text!r}: a file cannot hold a {ctype}{'*' * parameter.stars}"
            )
        dtype, lanes = _VECTORS.get(ctype, (_DTYPES.get(ctype, ""), 1))
        if parameter.stars:
            if not dtype:
                raise AdaptError(
                    "unsupported_parameter", f"{parameter.text!r}: no NumPy type has the values of {ctype}"
                )
            arrays.append(
                Array(parameter.name, ctype, dtype, lanes, _role(parameter.is_const, call, body, parameter.name, code))
            )
        elif ctype in ("cudaStream_t",):
            continue
        elif not dtype or lanes > 1 or "&" in parameter.text:
            raise AdaptError(
                "unsupported_parameter", f"{parameter.text!r}: only arrays and numbers can come from files"
            )
        else:
            scalars.append(Scalar(parameter.name, ctype, dtype.startswith("float")))
    clash = sorted({array.name for array in arrays} & {"sizes", "scalars"})
    if clash:
        raise AdaptError("unsupported_parameter", f"an array is called {clash[0]!r}, which is the harness's own file")
    if not any(array.role is not Role.INPUT for array in arrays):
        raise AdaptError("no_output", f"{function.name} writes no array")
    if call is Call.KERNEL and launch is None:
        needed = without_unused(code, [function.name])
        helpers = "".join(each.source(needed) for each in functions(needed) if each.is_device)
        launch = guess_launch(
            function.source(code), [scalar.name for scalar in scalars if not scalar.is_float], helpers
        )
    order = tuple("0" if parameter.type == "cudaStream_t" else parameter.name for parameter in function.parameters)
    return Signature(
        function.name,
        call,
        arguments,
        order,
        tuple(arrays),
        tuple(scalars),
        launch if call is Call.KERNEL else None,
        namespace_of(code, function),
    )


def namespace_of(code: str, function: Function) -> str:
    """`a::b` for a function in `namespace a { namespace b {`; one without a name is reached as if it were not there."""
    text = blank_directives(scrub(code))
    names = []
    for match in re.finditer(r"\bnamespace\b\s*([\w:\s]*?)\s*(?:\[\[.*?\]\]\s*)?\{", text[: function.head]):
        if match[1] and matching(text, match.end() - 1) > function.head:
            names.append(re.sub(r"\binline\b|\s", "", match[1]))
    return "::".join(names)


def aliases(code: str) -> dict[str, str]:
    """Names that the source gives to number types: `typedef float real;`, `using real = float;`, `#define real float`."""
    text = scrub(code)
    found: dict[str, str] = {}
    for pattern in (
        r"\btypedef\s+([\w\s]+?)\s+(\w+)\s*;",
        r"\busing\s+(?P<name>\w+)\s*=\s*(?P<type>[\w\s:]+?)\s*;",
        r"^[ \t]*#[ \t]*define[ \t]+(?P<name>\w+)[ \t]+(?P<type>[\w \t]+?)[ \t]*$",
    ):
        for match in re.finditer(pattern, text, re.MULTILINE):
            kind, name = (match["type"], match["name"]) if "name" in match.re.groupindex else (match[1], match[2])
            kind = " ".join(kind.split())
            kind = found.get(kind, kind)
            if kind in _DTYPES or kind in _VECTORS:
                found.setdefault(name, kind)
    return found


def _template(function: Function, given: tuple[str, ...]) -> tuple[str, dict[str, str]]:
    """The template arguments, and what the names of types stand for: those of a call, else float where all are types."""
    if not function.is_template:
        return "", {}
    opening = function.returns.index("<")
    depth, end = 1, opening + 1
    while depth and end < len(function.returns):
        depth += {"<": 1, ">": -1}.get(function.returns[end], 0)
        end += 1
    end -= 1
    names: list[str] = []
    arguments: list[str] = []
    for index, part in enumerate(split_list(function.returns[opening + 1 : end])):
        match = re.fullmatch(r"(?:typename|class)\s+(\w+)(?:\s*=.*)?", part)
        known = given[index] if index < len(given) else None
        if match:
            names.append(match[1])
            arguments.append(known if known in _DTYPES else "float")
        elif known is not None and re.fullmatch(r"\d+|true|false", known):
            arguments.append(known)
        else:
            raise AdaptError("unsupported_template", f"template parameter {part!r}: which value to take is not known")
    kinds = [argument for argument in arguments if not re.fullmatch(r"\d+|true|false", argument)]
    return f"<{', '.join(arguments)}>", dict(zip(names, kinds, strict=True))


def _role(is_const: bool, call: Call, body: str, name: str, code: str) -> Role:
    if is_const:
        return Role.INPUT
    if call is not Call.KERNEL:
        return _wrapper_role(call, body, name, code)
    use = pointer_use(body, name)
    if use.unknown:
        return Role.INOUT  # the value before is given, the value after is compared: right in every case
    if not use.writes:
        return Role.INPUT
    # A kernel may leave elements of an output alone: they keep the harness's zeros, and the prompt says so (`prompts.files_text`).
    return Role.INOUT if use.reads else Role.OUTPUT


def _wrapper_role(call: Call, body: str, name: str, code: str) -> Role:
    """Host wrappers show by their copies what comes in and goes out; device wrappers hand pointers on to a kernel."""
    text = scrub(body)
    if call is Call.HOST_WRAPPER:
        copies = list(re.finditer(r"\bcudaMemcpy(?:Async)?\s*\(", text))
        comes_in = goes_out = False
        for copy in copies:
            arguments = split_list(text[copy.end() : matching(text, copy.end() - 1) - 1])
            if len(arguments) >= 4:
                goes_out |= bool(re.match(rf"\(?\s*(?:\(\s*void\s*\*\s*\))?\s*&?{re.escape(name)}\b", arguments[0]))
                comes_in |= bool(re.match(rf"\(?\s*(?:\(\s*void\s*\*\s*\))?\s*&?{re.escape(name)}\b", arguments[1]))
        if goes_out or comes_in:
            return Role.INOUT if goes_out and comes_in else Role.OUTPUT if goes_out else Role.INPUT
        return Role.INOUT
    for launch in re.finditer(r"\b(\w+)\s*(?:<[^<>;]*>)?\s*<<<", text):
        kernel = next((each for each in functions(code) if each.is_kernel and each.name == launch[1]), None)
        closing = text.find(">>>", launch.end())
        opening = text.find("(", closing)
        if kernel is None or closing < 0 or opening < 0:
            continue
        given = split_list(text[opening + 1 : matching(text, opening) - 1])
        for parameter, argument in zip(kernel.parameters, given, strict=False):
            if argument == name:
                return _role(parameter.is_const, Call.KERNEL, kernel.body_text(code), parameter.name, code)
    return Role.INOUT


def guess_launch(kernel: str, sizes: list[str], helpers: str = "") -> Launch:
    """One thread an element, as many as the kernel's own bounds test lets through.

    A kernel that computes `i = blockIdx.x * blockDim.x + threadIdx.x` and compares i with an expression of its sizes says how
    many threads it wants along x; y and z are read in the same way. Any block does, as long as nothing else depends on it.

    Args:
        helpers: the device functions that the kernel calls.

    Raises:
        AdaptError: it uses threads in another way.
    """
    text = " ".join(scrub(kernel).split())
    axes = [axis for axis in "xyz" if re.search(rf"\b(?:threadIdx|blockIdx)\s*\.\s*{axis}\b", text)]
    if not axes or axes != list("xyz"[: len(axes)]):
        raise AdaptError(
            "launch_unknown",
            'the kernel\'s use of threads says no grid; declare `launch`: {"grid": [...], "block": [...]}',
        )
    if re.search(r"\bextern\s+__shared__", text):
        raise AdaptError("launch_unknown", 'dynamic shared memory of unknown size; declare `launch` with "shared"')
    rest = f"{text} {' '.join(scrub(helpers).split())}"
    most = re.search(r"__launch_bounds__ ?\( ?(\w+)", text)
    is_small = most is not None and not (most[1].isdecimal() and int(most[1]) >= 256)  # threads of every _BLOCK
    tied = "`__launch_bounds__`" if is_small else "`__shared__`" if "__shared__" in rest else None
    if tied:
        raise AdaptError("launch_unknown", f"{tied} goes with a block that nothing says; declare `launch`")
    extents = []
    for axis in axes:
        index = rf"blockIdx ?\. ?{axis} ?\* ?blockDim ?\. ?{axis} ?\+ ?threadIdx ?\. ?{axis}"
        other = rf"blockDim ?\. ?{axis} ?\* ?blockIdx ?\. ?{axis} ?\+ ?threadIdx ?\. ?{axis}"
        third = rf"threadIdx ?\. ?{axis} ?\+ ?(?:blockIdx ?\. ?{axis} ?\* ?blockDim ?\. ?{axis}|blockDim ?\. ?{axis} ?\* ?blockIdx ?\. ?{axis})"
        assigned = re.search(rf"(\w+) ?= ?(?:\( ?)*(?:{index}|{other}|{third})", text)
        if not assigned:
            raise AdaptError(
                "launch_unknown",
                f"no variable is blockIdx.{axis} * blockDim.{axis} + threadIdx.{axis}; declare `launch`",
            )
        rest = re.sub(f"{index}|{other}|{third}", "", rest)
        stride = rf"(?:gridDim ?\. ?{axis} ?\* ?blockDim|blockDim ?\. ?{axis} ?\* ?gridDim) ?\. ?{axis}"
        rest = re.sub(rf"{stride}|threadIdx ?\. ?{axis} ?(?:% ?(?:32|warpSize)|& ?(?:31|0x1f))\b", "", rest)
        name = assigned[1]
        bound = re.search(
            rf"(?<![\w.]){name} ?(?:<|>=) ?((?:\( ?)*[\w]+(?: ?[-+*/] ?[\w]+)*(?: ?\))*) ?(?=[);&|?])",
            text[assigned.end() :],
        )
        extent = _balanced(bound[1]) if bound else ""
        words = set(re.findall(r"[A-Za-z_]\w*", extent))
        if not bound or not words or not words <= set(sizes):
            raise AdaptError(
                "launch_unknown",
                f"{name} is not compared with the kernel's own sizes ({', '.join(sizes)}); declare `launch`",
            )
        extents.append(extent)
    left = re.search(r"\b(?:threadIdx|blockIdx|blockDim|gridDim) ?\. ?[xyz]", rest)
    if left:
        raise AdaptError(
            "launch_unknown", f"{left[0]} by itself ties the result to a block that nothing says; declare `launch`"
        )
    block = _BLOCK[len(axes)]
    grid = tuple(f"({extent} + {threads} - 1) / {threads}" for extent, threads in zip(extents, block, strict=True))
    return Launch(grid, block)


def _balanced(text: str) -> str:
    text = text.strip()
    while text.count(")") > text.count("(") and text.endswith(")"):
        text = text[:-1].strip()
    return text if text.count("(") == text.count(")") else ""


def declared_launch(value: dict[str, object] | None) -> Launch | None:
    """`{"grid": ["(n + 255) / 256"], "block": [256], "shared": "0"}` from a row.

    Raises:
        AdaptError: another form, or characters that are no arithmetic.
    """
    if value is None:
        return None
    parts = {}
    for key in ("grid", "block"):
        entries = value.get(key)
        entries = entries if isinstance(entries, list) else [entries]
        if not 1 <= len(entries) <= 3 or not all(_is_arithmetic(entry) for entry in entries):
            raise AdaptError(
                "launch_unknown", f"launch.{key}={value.get(key)!r}: one to three numbers or expressions of the sizes"
            )
        parts[key] = tuple(str(entry) for entry in entries)
    shared = value.get("shared", "0")
    if not _is_arithmetic(shared):
        raise AdaptError("launch_unknown", f"launch.shared={shared!r}: bytes, a number or an expression of the sizes")
    return Launch(parts["grid"], parts["block"], str(shared))


def _is_arithmetic(value: object) -> bool:
    return isinstance(value, int) or (isinstance(value, str) and bool(re.fullmatch(r"[\w\s()+\-*/%]{1,200}", value)))
