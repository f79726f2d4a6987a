"""The names of dtypes in task sets that follow no list: NumPy's, torch's, C's and NumPy's codes. Standard library only."""

import re

from .base import DTYPE_BYTES, FILE_BYTES


_LIBRARY = re.compile(r"(np|numpy|torch|ml_dtypes)\.")
_CODE = re.compile(r"[<=|]?(?P<kind>[biufc])(?P<bytes>\d+)")  # ">f4" is not what a program writes: it stays unknown
_KINDS = {"b": "bool", "i": "int", "u": "uint", "f": "float", "c": "complex"}
_SAME = {  # as C and torch mean them, on 64-bit Linux
    "bool_": "bool", "half": "float16", "__half": "float16", "single": "float32", "float": "float32",
    "double": "float64", "bf16": "bfloat16", "__nv_bfloat16": "bfloat16", "cfloat": "complex64", "cdouble": "complex128",
    "char": "int8", "byte": "int8", "signed char": "int8", "ubyte": "uint8", "uchar": "uint8", "unsigned char": "uint8",
    "short": "int16", "ushort": "uint16", "unsigned short": "uint16", "int": "int32", "intc": "int32",
    "uintc": "uint32", "unsigned": "uint32", "unsigned int": "uint32", "long": "int64", "long long": "int64",
    "longlong": "int64", "unsigned long": "uint64", "unsigned long long": "uint64", "ulonglong": "uint64",
    "size_t": "uint64",
}  # fmt: skip
_NUMPY = {  # where NumPy means another type than C by the name
    "float": "float64", "float_": "float64", "complex": "complex128", "complex_": "complex128", "int": "int64",
    "int_": "int64", "uint": "uint64",
}  # fmt: skip


def canonical_dtype(written: str) -> str:
    """The name in DTYPE_BYTES (or "bfloat16") of what a task set wrote: "float", "torch.float32", "np.bool_", "<f4",
    "int32_t". What is not known comes back without its library's prefix."""
    library, name = _LIBRARY.match(written.strip()), _LIBRARY.sub("", written.strip(), count=1)
    if name in FILE_BYTES:
        return name
    if library and library[1] in ("np", "numpy") and name in _NUMPY:
        return _NUMPY[name]
    code = _CODE.fullmatch(name)
    if code:
        bits = 8 * int(code["bytes"])
        found = _KINDS[code["kind"]] + ("" if code["kind"] == "b" else str(bits))
        return found if DTYPE_BYTES.get(found) == int(code["bytes"]) else name
    return _SAME.get(name, name.removesuffix("_t") if name.removesuffix("_t") in DTYPE_BYTES else name)
