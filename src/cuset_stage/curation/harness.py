"""The program around a kernel: a `main` that reads data/*.bin, calls the code and writes what came out.

The same text serves the reference: a CPU function with the same parameters is called in place of the kernel, without CUDA.
Standard library only.
"""

from __future__ import annotations

from collections.abc import Sequence

from .ctext import functions
from .signature import Array, Call, Role, Signature


_HEAD = """#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
"""

# A namespace of its own: the code around which this stands may have a `load` or a `check` as well.
_FILES = """
namespace harness {

static void fail(const std::string& what) {
    std::fprintf(stderr, "%s\\n", what.c_str());
    std::exit(EXIT_FAILURE);
}

template <typename T>
static std::vector<T> load(const std::string& path) {
    std::FILE* file = std::fopen(path.c_str(), "rb");
    if (!file) fail("cannot open " + path);
    std::fseek(file, 0, SEEK_END);
    const long bytes = std::ftell(file);
    std::rewind(file);
    if (bytes < 0 || bytes % static_cast<long>(sizeof(T)) != 0) fail(path + " has a wrong size");
    std::vector<T> values(static_cast<std::size_t>(bytes) / sizeof(T));
    if (std::fread(values.data(), sizeof(T), values.size(), file) != values.size()) fail("cannot read " + path);
    std::fclose(file);
    return values;
}

template <typename T>
static void store(const std::string& path, const std::vector<T>& values) {
    std::FILE* file = std::fopen(path.c_str(), "wb");
    if (!file) fail("cannot create " + path);
    if (std::fwrite(values.data(), sizeof(T), values.size(), file) != values.size()) fail("cannot write " + path);
    if (std::fclose(file) != 0) fail("cannot write " + path);
}
"""
_END = """
}  // namespace harness
"""

_DEVICE = """
static void check(cudaError_t status, const char* what) {
    if (status != cudaSuccess) fail(std::string(what) + ": " + cudaGetErrorString(status));
}

template <typename T>
static T* upload(const std::vector<T>& values) {
    T* device = nullptr;
    check(cudaMalloc(&device, values.size() * sizeof(T)), "cudaMalloc");
    check(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "copy to the device");
    return device;
}

template <typename T>
static void download(std::vector<T>& values, T* device) {
    check(cudaMemcpy(values.data(), device, values.size() * sizeof(T), cudaMemcpyDeviceToHost), "copy to the host");
}
"""


def whole_program(code: str, signature: Signature) -> str:
    """`code`, its own `main` taken out, with the harness around it."""
    parts = ["#include <cuda_runtime.h>\n"]
    if "half" in {array.ctype.strip("_") for array in signature.arrays}:
        parts.append("#include <cuda_fp16.h>\n")
    parts += [_HEAD, "\n", without_main(code).strip("\n"), "\n", _FILES, _DEVICE, _END, "\n", _main(signature)]
    return "".join(parts)


def cpu_program(code: str, function: str, order: Sequence[str], signature: Signature) -> str:
    """A CPU function that takes the signature's parameters in `order` in the same harness, without CUDA."""
    head = "#include <algorithm>\n#include <cfloat>\n#include <climits>\n#include <cmath>\n#include <cstring>\n"
    return "".join(
        (
            head,
            _HEAD,
            "using namespace std;\n\n",
            code.strip("\n"),
            "\n",
            _FILES,
            _END,
            "\n",
            _cpu_main(function, order, signature),
        )
    )


def without_main(code: str) -> str:
    """The source without its `main`, whose place the harness takes."""
    for function in reversed(functions(code)):
        if function.name == "main":
            code = code[: function.head] + code[function.body[1] :]
    return code


def _reading(signature: Signature) -> list[str]:
    integers = [scalar for scalar in signature.scalars if not scalar.is_float]
    floats = [scalar for scalar in signature.scalars if scalar.is_float]
    lines = []
    count = len(integers) + len(signature.counted)
    if count:
        lines.append('const std::vector<std::int64_t> sizes_ = harness::load<std::int64_t>("data/sizes.bin");')
        lines.append(f'if (sizes_.size() != {count}) harness::fail("data/sizes.bin: {count} values expected");')
    if floats:
        lines.append('const std::vector<double> scalars_ = harness::load<double>("data/scalars.bin");')
        lines.append(
            f'if (scalars_.size() != {len(floats)}) harness::fail("data/scalars.bin: {len(floats)} values expected");'
        )
    for index, scalar in enumerate(integers):
        lines.append(f"const {scalar.ctype} {scalar.name} = static_cast<{scalar.ctype}>(sizes_[{index}]);")
    for index, scalar in enumerate(floats):
        lines.append(f"const {scalar.ctype} {scalar.name} = static_cast<{scalar.ctype}>(scalars_[{index}]);")
    position = len(integers)
    for array in signature.arrays:
        kind = _element(array)
        if array.role is Role.OUTPUT:
            lines.append(f"std::vector<{kind}> {array.name}(static_cast<std::size_t>(sizes_[{position}]));")
            position += 1
        else:
            lines.append(f'std::vector<{kind}> {array.name} = harness::load<{kind}>("data/{array.name}.bin");')
    return lines


def _element(array: Array) -> str:
    return "unsigned char" if array.ctype == "bool" else array.ctype  # std::vector<bool> has no data()


def _host_pointer(array: Array) -> str:
    pointer = f"{array.name}.data()"
    return f"reinterpret_cast<bool*>({pointer})" if array.ctype == "bool" else pointer


def _writing(signature: Signature) -> list[str]:
    return [f'harness::store("data/{array.output_name}.bin", {array.name});' for array in signature.outputs]


def _main(signature: Signature) -> str:
    lines = _reading(signature)
    arrays = {array.name: array for array in signature.arrays}
    if signature.call is Call.HOST_WRAPPER:
        arguments = [_host_pointer(arrays[name]) if name in arrays else name for name in signature.order]
        lines.append(f"{signature.function}{signature.template}({', '.join(arguments)});")
        lines.append('harness::check(cudaGetLastError(), "launch");')
        lines.append('harness::check(cudaDeviceSynchronize(), "kernel");')
    else:
        lines += [f"{_element(array)}* d_{name} = harness::upload({name});" for name, array in arrays.items()]
        pointers = {
            name: f"reinterpret_cast<bool*>(d_{name})" if array.ctype == "bool" else f"d_{name}"
            for name, array in arrays.items()
        }
        arguments = ", ".join(pointers.get(name, name) for name in signature.order)
        if signature.call is Call.KERNEL and signature.launch is not None:
            launch = signature.launch
            lines.append(f"const dim3 grid_({', '.join(launch.grid)});")
            lines.append(f"const dim3 block_({', '.join(launch.block)});")
            shared = "" if launch.shared == "0" else f", {launch.shared}"
            lines.append(f"{signature.function}{signature.template}<<<grid_, block_{shared}>>>({arguments});")
        else:
            lines.append(f"{signature.function}{signature.template}({arguments});")
        lines.append('harness::check(cudaGetLastError(), "launch");')
        lines.append('harness::check(cudaDeviceSynchronize(), "kernel");')
        lines += [f"harness::download({array.name}, d_{array.name});" for array in signature.outputs]
        lines += [f'harness::check(cudaFree(d_{name}), "cudaFree");' for name in arrays]
    return _as_main([*lines, *_writing(signature)])


def _cpu_main(function: str, order: Sequence[str], signature: Signature) -> str:
    arrays = {array.name: array for array in signature.arrays}
    arguments = [_host_pointer(arrays[name]) if name in arrays else name for name in order]
    return _as_main([*_reading(signature), f"{function}({', '.join(arguments)});", *_writing(signature)])


def _as_main(lines: list[str]) -> str:
    body = "".join(f"    {line}\n" for line in lines)
    return f"int main() {{\n{body}    return EXIT_SUCCESS;\n}}\n"
