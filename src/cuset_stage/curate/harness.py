"""The program around a kernel: a `main` that reads data/*.bin, calls the code and writes what came out.

The same text serves the reference: a CPU function with the same parameters is called in place of the kernel, without CUDA.
Standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ..spans.scrub import scrub
from .ctext import functions
from .signature import Array, Call, Role, Signature, namespace_of


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
    # math.h brings every overload of abs and the like to where C code looks for them.
    head = "#include <math.h>\n#include <algorithm>\n#include <cfloat>\n#include <climits>\n#include <cmath>\n#include <cstring>\n"
    namespace = next((namespace_of(code, each) for each in functions(code) if each.name == function), "")
    called = "::" + "::".join(filter(None, (namespace, function)))
    return "".join(
        (
            head,
            _HEAD,
            "" if _stands_alone(code) else "using namespace std;\n",
            "\n",
            code.strip("\n"),
            "\n",
            _FILES,
            _END,
            "\n",
            _cpu_main(called, order, signature),
        )
    )


# Names of std that C-like code uses without `std::`: functions and templates before `(` or `<`, others as they stand.
_OF_STD = re.compile(
    r"(?<![\w.:>])(?:(?:min|max|minmax|clamp|swap|exchange|move|forward|fill|fill_n|copy|copy_n|copy_if|sort|stable_sort|reverse|rotate"
    r"|accumulate|inner_product|iota|partial_sum|lower_bound|upper_bound|binary_search|nth_element|find|find_if|count|count_if|transform"
    r"|generate|unique|remove|remove_if|for_each|all_of|any_of|none_of|equal|max_element|min_element|begin|end|distance|advance|next|prev"
    r"|make_pair|make_tuple|make_unique|tie|get|to_string|vector|array|pair|tuple|map|set|unordered_map|unordered_set|queue|priority_queue"
    r"|deque|list|stack|complex|numeric_limits|function|unique_ptr|shared_ptr|less|greater|plus|minus|multiplies|atomic|bitset)\s*[<(]"
    r"|(?:string|cout|cerr|endl|runtime_error|invalid_argument|mt19937|stringstream|thread|mutex)\b)"
)


def _stands_alone(code: str) -> bool:
    """Whether C code that calls its own functions can do without `using namespace std`: that makes negate, minus, rank ambiguous."""
    text = scrub(code)
    own = {each.name for each in functions(code)}
    if not any(len(re.findall(rf"\b{re.escape(name)}\s*\(", text)) > 1 for name in own):
        return False
    used = (re.match(r"\w+", match[0]) for match in _OF_STD.finditer(text))
    return all(name is not None and name[0] in own for name in used)


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
    sizes, values = _free("sizes_", signature), _free("scalars_", signature)
    count = len(integers) + len(signature.counted)
    if count:
        lines.append(f'const std::vector<std::int64_t> {sizes} = harness::load<std::int64_t>("data/sizes.bin");')
        lines.append(f'if ({sizes}.size() != {count}) harness::fail("data/sizes.bin: {count} values expected");')
    if floats:
        lines.append(f'const std::vector<double> {values} = harness::load<double>("data/scalars.bin");')
        lines.append(
            f'if ({values}.size() != {len(floats)}) harness::fail("data/scalars.bin: {len(floats)} values expected");'
        )
    for index, scalar in enumerate(integers):
        lines.append(f"const {scalar.ctype} {scalar.name} = static_cast<{scalar.ctype}>({sizes}[{index}]);")
    for index, scalar in enumerate(floats):
        lines.append(f"const {scalar.ctype} {scalar.name} = static_cast<{scalar.ctype}>({values}[{index}]);")
    position = len(integers)
    for array in signature.arrays:
        kind = _element(array)
        if array.role is Role.OUTPUT:
            lines.append(f"std::vector<{kind}> {array.name}(static_cast<std::size_t>({sizes}[{position}]));")
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
        lines.append(f"{signature.called}{signature.template}({', '.join(arguments)});")
        lines.append('harness::check(cudaGetLastError(), "launch");')
        lines.append('harness::check(cudaDeviceSynchronize(), "kernel");')
    else:
        device = _device_names(signature)
        lines += [f"{_element(array)}* {device[name]} = harness::upload({name});" for name, array in arrays.items()]
        pointers = {
            name: f"reinterpret_cast<bool*>({device[name]})" if array.ctype == "bool" else device[name]
            for name, array in arrays.items()
        }
        arguments = ", ".join(pointers.get(name, name) for name in signature.order)
        if signature.call is Call.KERNEL and signature.launch is not None:
            launch = signature.launch
            grid, block = _free("grid_", signature), _free("block_", signature)
            lines.append(f"const dim3 {grid}({', '.join(launch.grid)});")
            lines.append(f"const dim3 {block}({', '.join(launch.block)});")
            shared = "" if launch.shared == "0" else f", {launch.shared}"
            lines.append(f"{signature.called}{signature.template}<<<{grid}, {block}{shared}>>>({arguments});")
        else:
            lines.append(f"{signature.called}{signature.template}({arguments});")
        lines.append('harness::check(cudaGetLastError(), "launch");')
        lines.append('harness::check(cudaDeviceSynchronize(), "kernel");')
        lines += [f"harness::download({array.name}, {device[array.name]});" for array in signature.outputs]
        lines += [f'harness::check(cudaFree({pointer}), "cudaFree");' for pointer in device.values()]
    return _as_main([*lines, *_writing(signature)])


def _device_names(signature: Signature) -> dict[str, str]:
    """A variable for each array on the device, called as no parameter is: a kernel may well have x and d_x."""
    names: dict[str, str] = {}
    for array in signature.arrays:
        names[array.name] = _free(f"dev_{array.name}_", signature, names.values())
    return names


def _free(name: str, signature: Signature, taken: Iterable[str] = ()) -> str:
    """`name`, longer where a parameter or one of `taken` is called so."""
    taken = {*taken, *signature.order, *(each.name for each in (*signature.arrays, *signature.scalars))}
    while name in taken:
        name += "_"
    return name


def _cpu_main(function: str, order: Sequence[str], signature: Signature) -> str:
    arrays = {array.name: array for array in signature.arrays}
    arguments = [_host_pointer(arrays[name]) if name in arrays else name for name in order]
    return _as_main([*_reading(signature), f"{function}({', '.join(arguments)});", *_writing(signature)])


def _as_main(lines: list[str]) -> str:
    body = "".join(f"    {line}\n" for line in lines)
    return f"int main() {{\n{body}    return EXIT_SUCCESS;\n}}\n"
