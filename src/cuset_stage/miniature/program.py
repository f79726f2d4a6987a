"""A task's whole program: the three kernels, and the host code around them in one program's style."""

from collections.abc import Callable

from .kernels import (
    Epilogue,
    Lines,
    combine_kernel,
    epilogue_kernel,
    literal,
    neighbour,
    neighbour_kernel,
    operation,
    position,
    source,
)
from .space import Task
from .style import Style, indented


INCLUDES = ("<cstdio>", "<cstdlib>", "<fstream>", "<iostream>")


def cuda_program(task: Task, style: Style) -> str:
    """The CUDA program as text. It reads data/<input>.bin, writes data/out.bin, and returns 0 when all went well."""
    host = _Host(task, style)
    last = epilogue_kernel(task, style)
    three = [combine_kernel(task, style), neighbour_kernel(task, style), last.lines]
    if style.flip(0.3):
        style.rng.shuffle(three)
    kernels: Lines = [f"__constant__ {task.cpp} {style['coef']}[2];", ""] if task.memory == "constant" else []
    kernels += [line for kernel in three for line in (*kernel, "")]
    main = host.main(last)
    parts = [host.check(), host.reader(), host.writer()]
    if host.memory == "owns":
        parts.insert(1, host.owner())
    if "ceil" in style:
        start = f"static int {style['ceil']}(int n, int d) {{"
        parts.append([start, f"    return {style.pick('(n + d - 1) / d', 'n / d + (n % d != 0)')};", "}", ""])
    parts.insert(style.rng.randrange(len(parts) + 1), kernels)
    return style.layout([*_top(style, host.includes()), *(line for part in parts for line in part), *main, ""])


def cpu_program(task: Task, style: Style) -> str:
    """The same task as a C++ program without a GPU, for the pretraining corpus."""
    host = _Host(task, style, on_cpu=True)
    row, col, rows, cols, z, out = (style[name] for name in ("row", "col", "rows", "cols", "z", "out"))
    value = style["value"]
    x_at, y_at = position(task, style, *source(task, style)), position(task, style, row, col)
    formula = operation(task, style, f"{style['x']}[{x_at}]", f"{style['y']}[{y_at}]", namespace="std::")
    place = f"{col} * {rows} + {row}" if task.transposed else f"{row} * {cols} + {col}"
    kind = task.cpp
    high, wide = (cols, rows) if task.transposed else (rows, cols)
    finish = {
        "bias_relu": [
            f"            {value} += {style['bias']}[{col}];",
            f"            {value} = {value} > 0 ? {value} : 0;",
        ],
        "clamp": [f"            {value} = std::min(std::max({value}, {kind}(-{task.limit})), {kind}({task.limit}));"],
        "row_sum": [f"            {out}[{row}] += {value};"],
        "row_max": [f"            if ({col} == 0 || {value} > {out}[{row}]) {out}[{row}] = {value};"],
    }[task.epilogue]
    if not task.epilogue.startswith("row"):
        finish.append(f"            {out}[{row} * {wide} + {col}] = {value};")
    style["rows"], style["cols"] = high, wide
    beside = neighbour(task, style, value, f"{z}[{row} * {wide} + {col}%s]", style["right"])
    style["rows"], style["cols"] = rows, cols
    loops = [
        f"    for (int {row} = 0; {row} < {rows}; ++{row}) {{",
        f"        for (int {col} = 0; {col} < {cols}; ++{col}) {{",
        f"            {z}[{place}] = {formula};",
        "        }",
        "    }",
        style.say("neighbour"),
        f"    for (int {row} = 0; {row} < {high}; ++{row}) {{",
        f"        for (int {col} = 0; {col} < {wide}; ++{col}) {{",
        f"            {kind} {value} = {z}[{row} * {wide} + {col}];",
        *indented(indented(indented(beside))),
        style.say("epilogue", 3),
        *finish,
        "        }",
        "    }",
    ]
    count = high if task.epilogue.startswith("row") else f"{rows} * {cols}"
    main = [
        "int main() {",
        *host.read_inputs(lambda name: style[name]),
        f"    std::vector<{kind}> {z}({rows} * {cols}), {out}({count});",
        *loops,
        f'    {style["write"]}("data/out.bin", {out});',
        "    return 0;",
        "}",
        "",
    ]
    return style.layout(
        [
            *_top(style, ("<algorithm>", "<cmath>", "<iostream>", *host.includes()[1:])),
            *host.reader(),
            *host.writer(),
            *main,
        ]
    )


def _top(style: Style, includes: tuple[str, ...]) -> Lines:
    order = style.rng.sample(includes, len(includes)) if style.flip() else includes
    return [style.say("header", 0), *(f"#include {name}" for name in order), ""]


class _Host:
    """The host code of one program.

    throws: errors are exceptions. checks: of CUDA calls, a `macro`, a `function` or `none`. memory: `managed`, with the files read into it; `raw` pointers and
    copies; or a class that `owns` it and copies when it is made.
    """

    def __init__(self, task: Task, style: Style, *, on_cpu: bool = False) -> None:
        self.task, self.style = task, style
        self.throws, self.checks = style.flip(0.2), style.pick("macro", "macro", "function", "none")
        self.memory = "none" if on_cpu else style.pick("managed", "managed", "managed", "raw", "owns", "owns")
        self.device = (
            "{}" if self.memory == "managed" else style.pick("d_{}", "dev_{}", "{}_dev", "gpu_{}", "{}_d", "device_{}")
        )
        self.host = "{}" if self.memory == "managed" else style.pick("h_{}", "host_{}", "{}_host", "cpu_{}", "{}_h")
        self.inputs = ("x", "y", "bias") if task.epilogue == "bias_relu" else ("x", "y")

    def includes(self) -> tuple[str, ...]:
        found = ["<cuda_runtime.h>", *INCLUDES]
        found += ["<vector>"] if self.memory != "managed" else []
        return (*found, *(("<string>", "<stdexcept>") if self.throws else ()))

    def call(self, cuda: str) -> str:
        if self.checks == "none":
            return f"{cuda};"
        return f"{self.style['check' if self.checks == 'macro' else 'check_function']}({cuda});"

    def check(self) -> Lines:
        """The macro or function that looks at the result of a CUDA call."""
        if self.checks == "none":
            return []
        style, code = self.style, self.style["code"]
        text = f"cudaGetErrorString({code})"
        said = style.pick(
            f'std::fprintf(stderr, "CUDA error: %s\\n", {text});',
            f'std::cerr << "CUDA: " << {text} << std::endl;',
            f'std::fprintf(stderr, "%s:%d: %s\\n", __FILE__, __LINE__, {text});',
        )
        end = (
            [f"throw std::runtime_error({text});"]
            if self.throws
            else [said, style.pick("std::exit(1);", "std::exit(EXIT_FAILURE);")]
        )
        if self.checks == "function":
            start = f"static void {style['check_function']}(cudaError_t {code}) {{"
            test = f"    if ({code} != cudaSuccess) {{"
            return [style.say("error", 0), start, test, *(f"        {line}" for line in end), "    }", "}", ""]
        test = [f"        cudaError_t {code} = (call);", f"        if ({code} != cudaSuccess) {{"]
        lines = ["    do {", *test, *(f"            {line}" for line in end), "        }", "    } while (0)"]
        lines = [f"#define {style['check']}(call)", *lines]
        return [style.say("error", 0), *(f"{line} \\" for line in lines[:-1]), lines[-1], ""]

    def _file_failure(self, path: str, *words: str) -> Lines:
        what = self.style.pick(*words)
        if self.style.flip(0.4):
            return [f"        {'std::abort()' if self.throws else self.style.pick('std::exit(1)', 'std::abort()')};"]
        if self.throws:
            return [f'        throw std::runtime_error(std::string("{what} ") + {path});']
        said = self.style.pick(
            f'std::fprintf(stderr, "{what} %s\\n", {path});', f'std::cerr << "{what} " << {path} << "\\n";'
        )
        return [f"        {said}", f"        {self.style.pick('std::exit(1);', 'std::exit(EXIT_FAILURE);')}"]

    def reader(self) -> Lines:
        """template<T> read(path, count), which gives a vector or managed memory."""
        style, managed = self.style, self.memory == "managed"
        path, values, size = style["path"], style["values"], style["size"]
        start, made = (
            (values, f"T* {values} = nullptr;")
            if managed
            else (f"{values}.data()", f"std::vector<T> {values}({size});")
        )
        failure = self._file_failure(path, "cannot read", "failed to read", "could not load", "bad input file")
        return [
            style.say("helper", 0),
            style.pick("template <typename T>", "template <class T>"),
            f"{style.pick('static ', '')}{'T*' if managed else 'std::vector<T>'} {style['read']}(const char* {path}, size_t {size}) {{",
            f"    {made}",
            f"    {self.call(f'cudaMallocManaged(&{values}, {size} * sizeof(T))')}" if managed else None,
            *self._transfer("read", start, size, failure),
            f"    return {values};",
            "}",
            "",
        ]

    def writer(self) -> Lines:
        """template<T> void write(path, values), with the count where the values are a pointer."""
        style, managed = self.style, self.memory == "managed"
        path, values, size = style["path"], style["values"], style["size"]
        start, count = (values, size) if managed else (f"{values}.data()", f"{values}.size()")
        given = f"const T* {values}, size_t {size}" if managed else f"const std::vector<T>& {values}"
        failure = self._file_failure(path, "cannot write", "failed to write", "could not save", "output failed:")
        return [
            style.pick("template <typename T>", "template <class T>"),
            f"{style.pick('static ', '')}void {style['write']}(const char* {path}, {given}) {{",
            *self._transfer("write", start, count, failure),
            "}",
            "",
        ]

    def _transfer(self, verb: str, start: str, count: str, failure: Lines) -> Lines:
        """Read or write `count` values at `start`, by a stream or by C's functions."""
        path, file = self.style["path"], self.style["file"]
        if self.style.flip():
            stream, cast = ("std::ifstream", "char*") if verb == "read" else ("std::ofstream", "const char*")
            opened = f"    {stream} {file}({path}, std::ios::binary);"
            return [
                opened,
                f"    {file}.{verb}(reinterpret_cast<{cast}>({start}), {count} * sizeof(T));",
                f"    if (!{file}) {{",
                *failure,
                "    }",
            ]
        return [
            f'    FILE* {file} = std::fopen({path}, "{verb[0]}b");',
            f"    if (!{file} || std::f{verb}({start}, sizeof(T), {count}, {file}) != {count}) {{",
            *failure,
            "    }",
            f"    std::fclose({file});",
        ]

    def owner(self) -> Lines:
        """A class that owns device memory, empty or a copy of a vector."""
        name = self.style["buffer"]
        copied = "cudaMemcpy(ptr, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice)"
        return [
            "template <typename T>",
            f"struct {name} {{",
            "    T* ptr = nullptr;",
            f"    explicit {name}(size_t n) {{ {self.call('cudaMalloc(&ptr, n * sizeof(T))')} }}",
            f"    explicit {name}(const std::vector<T>& host) : {name}(host.size()) {{",
            f"        {self.call(copied)}",
            "    }",
            f"    ~{name}() {{ cudaFree(ptr); }}",
            "};",
            "",
        ]

    def read_inputs(self, name_of: Callable[[str], str]) -> Lines:
        """The lines of main that read the sizes and the inputs. name_of: role of an input -> its variable."""
        task, style, kind = self.task, self.style, self.task.cpp
        rows, cols, sizes, read = (style[name] for name in ("rows", "cols", "sizes", "read"))
        names = [rows, cols, *([style["pitch"]] if task.layout == "padded" else [])]
        kept = "{}*" if self.memory == "managed" else "std::vector<{}>"
        auto = style.pick(
            f"{kept} {{}} = {read}<{{}}>", f"auto {{1}} = {read}<{{2}}>", f"const auto {{1}} = {read}<{{2}}>"
        )
        lines: Lines = [style.say("sizes"), f'    {auto.format("int", sizes, "int")}("data/sizes.bin", {len(names)});']
        lines += [f"    const int {name} = {sizes}[{number}];" for number, name in enumerate(names)]
        if style.flip(0.3):
            said = style.pick('std::fprintf(stderr, "bad sizes\\n");', 'std::cerr << "sizes must be positive\\n";')
            lines += [f"    if ({rows} < 1 || {cols} < 1) {{", f"        {said}", "        return 1;", "    }"]
        count = f"{rows} * {names[2] if task.layout == 'padded' else cols}"
        if style.flip(0.4) and task.layout != "padded":
            count = style["total"]
            lines.append(f"    const int {count} = {rows} * {cols};")
        lines.append(style.say("read"))
        for name in self.inputs:
            size = count if name != "bias" else (rows if task.transposed else cols)
            lines.append(f'    {auto.format(kind, name_of(name), kind)}("data/{name}.bin", {size});')
        return lines

    def main(self, last: Epilogue) -> Lines:
        task, style, kind = self.task, self.style, self.task.cpp
        rows, cols = style["rows"], style["cols"]
        high, wide = (cols, rows) if task.transposed else (rows, cols)
        length = high if last.by_row else f"{rows} * {cols}"

        def pointer(name: str) -> str:
            return f"{self.device.format(style[name])}{'.ptr' if self.memory == 'owns' else ''}"

        def host(name: str) -> str:
            return self.host.format(style[name])

        body: Lines = [*self.read_inputs(host), "", style.say("copy_in")]
        area = f"{rows} * {cols}"
        sizes = dict.fromkeys(self.inputs, "") | {"z": area, "near": area, "out": length}
        for name, size in sizes.items():
            body += self._allocate(name, kind, size)
        if task.memory == "constant":
            values = ", ".join(literal(task, value) for value in (task.a, task.b))
            own = f"host_{style['coef']}"
            body.append(f"    const {kind} {own}[2] = {{{values}}};")
            copied = f"{style['coef']}, {own}, sizeof({own})"
            body.append(f"    {self.call(f'cudaMemcpyToSymbol({copied})')}")
        pitch = f", {style['pitch']}" if task.layout == "padded" else ""
        body += ["", style.say("launch")]
        body += self._launch_one(f"({pointer('x')}, {pointer('y')}, {pointer('z')}, {rows}, {cols}{pitch});")
        body += [
            style.say("neighbour"),
            *self._launch_neighbour(f"({pointer('z')}, {pointer('near')}, {high}, {wide});"),
        ]
        bias = f"{pointer('bias')}, " if task.epilogue == "bias_relu" else ""
        arguments = f"({pointer('near')}, {bias}{pointer('out')}, {high}, {wide});"
        body += [style.say("launch_two"), *self._launch_last(last, arguments, high), ""]
        body += self._save(kind, pointer, host, length)
        if self.memory != "owns" and style.flip():
            free = self.call if style.flip() else "{};".format
            body += [style.say("free"), *(f"    {free(f'cudaFree({pointer(name)})')}" for name in sizes)]
        if not self.throws:
            return ["int main() {", *body, f"    return {style.pick('0', 'EXIT_SUCCESS')};", "}"]
        caught = [
            "    } catch (const std::exception& error) {",
            '        std::fprintf(stderr, "%s\\n", error.what());',
            "        return 1;",
            "    }",
        ]
        return ["int main() {", "    try {", *indented(body), *caught, "    return 0;", "}"]

    def _allocate(self, name: str, kind: str, size: str) -> Lines:
        """Device memory of one array. size: of one that the kernels fill; "" copies an input."""
        variable, host = self.device.format(self.style[name]), self.host.format(self.style[name])
        if self.memory == "owns":
            return [f"    {self.style['buffer']}<{kind}> {variable}({size or host});"]
        if self.memory == "managed":
            if not size:
                return []
            return [
                f"    {kind}* {variable} = nullptr;",
                f"    {self.call(f'cudaMallocManaged(&{variable}, {size} * sizeof({kind}))')}",
            ]
        amount = f"{size or f'{host}.size()'} * sizeof({kind})"
        lines: Lines = [f"    {kind}* {variable} = nullptr;", f"    {self.call(f'cudaMalloc(&{variable}, {amount})')}"]
        if not size:
            lines.append(
                f"    {self.call(f'cudaMemcpy({variable}, {host}.data(), {amount}, cudaMemcpyHostToDevice)')}"
            )
        return lines

    def _save(self, kind: str, pointer: Callable[[str], str], host: Callable[[str], str], length: str) -> Lines:
        """Wait for the kernels, copy the result where it has to be copied, and write it."""
        style, managed = self.style, self.memory == "managed"
        waits = f"    {self.call('cudaDeviceSynchronize()')}" if managed or style.flip() else None
        result = host("out")
        if managed:
            return [waits, style.say("write"), f'    {style["write"]}("data/out.bin", {result}, {length});']
        copied = f"{result}.data(), {pointer('out')}, {result}.size() * sizeof({kind}), cudaMemcpyDeviceToHost"
        return [
            waits,
            style.say("copy_out"),
            f"    std::vector<{kind}> {result}({length});",
            f"    {self.call(f'cudaMemcpy({copied})')}",
            style.say("write"),
            f'    {style["write"]}("data/out.bin", {result});',
        ]

    def _blocks(self, count: str, threads: str) -> str:
        """How many blocks of so many threads cover a count, as an expression."""
        if self.style.flip(0.4):
            return f"{self.style['ceil']}({count}, {threads})"
        if threads.isdecimal() and self.style.flip():
            return f"({count} + {int(threads) - 1}) / {threads}"
        return f"({count} + {threads} - 1) / {threads}"

    def _launch_one(self, arguments: str) -> Lines:
        """Both kernels with the task's blocks share them, unless the map transposes: the grid is then another one."""
        lines = self._shape("block", "grid", self.style["rows"], self.style["cols"])
        return [
            *lines,
            f"    {self.style['combine']}<<<{self.style['grid']}, {self.style['block']}>>>{arguments}",
            self._after_launch(),
        ]

    def _launch_neighbour(self, arguments: str) -> Lines:
        style, grid, lines = self.style, self.style["grid"], []
        if self.task.transposed:
            grid = style["grid two"]
            over = self._cover(style["rows"], style["cols"])
            lines = [f"    dim3 {grid}({over[0]}, {over[1]});"]
        return [*lines, f"    {style['neighbour']}<<<{grid}, {style['block']}>>>{arguments}", self._after_launch()]

    def _shape(self, block: str, grid: str, high: str, wide: str) -> Lines:
        block, grid = self.style[block], self.style[grid]
        if self.task.block == "256":
            return [
                f"    const int {block} = 256;",
                f"    const int {grid} = {self._blocks(f'{high} * {wide}', block)};",
            ]
        over = self._cover(wide, high)
        return [
            f"    dim3 {block}({', '.join(self.task.block.split('x'))});",
            f"    dim3 {grid}({over[0]}, {over[1]});",
        ]

    def _cover(self, wide: str, high: str) -> tuple[str, str]:
        """The blocks of a two-dimensional grid along x and y."""
        block = self.style["block"]
        sides = (f"{block}.x", f"{block}.y") if self.style.flip() else tuple(self.task.block.split("x"))
        return self._blocks(wide, sides[0]), self._blocks(high, sides[1])

    def _after_launch(self) -> str | None:
        return f"    {self.call('cudaGetLastError()')}" if self.checks != "none" and self.style.flip() else None

    def _launch_last(self, last: Epilogue, arguments: str, high: str) -> Lines:
        style, name = self.style, self.style[self.task.epilogue]
        if last.per_row:
            return [f"    {name}<<<{high}, {last.per_row}>>>{arguments}", self._after_launch()]
        count = high if last.by_row else f"{style['rows']} * {style['cols']}"
        threads = style.pick("64", "128") if last.by_row else style.pick("128", "256", "256", "512")
        return [f"    {name}<<<{self._blocks(count, threads)}, {threads}>>>{arguments}", self._after_launch()]
