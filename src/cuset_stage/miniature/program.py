"""A task's whole program: the kernels, and the host code around them in one program's style."""

import re

from .kernels import (
    ARRAYS,
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
from .style import Style, indented, made_up_word


INCLUDES = {
    "<cuda_runtime.h>": "cudaMalloc",
    "<cstdio>": "FILE",
    "<cstdlib>": "malloc|exit|EXIT_",
    "<algorithm>": r"std::max\(|std::min\(",
    "<cmath>": "std::abs",
}
"""Header -> the names of it that programs use. No C++ streams or containers: they double the time of a compilation."""


def cuda_program(task: Task, style: Style) -> str:
    """The CUDA program as text. It reads data/<input>.bin, writes data/out.bin, and returns 0 when all went well."""
    host = _Host(task, style)
    last = epilogue_kernel(task, style)
    steps = [neighbour_kernel(task, style, step) for step in range(len(task.steps))]
    made = [combine_kernel(task, style), *steps, last.lines]
    if style.flip(0.3):
        style.rng.shuffle(made)
    kernels: Lines = [f"__constant__ {task.cpp} {style['coef']}[2];", ""] if task.memory == "constant" else []
    kernels += [line for kernel in made for line in (*kernel, "")]
    main = host.main(last)
    parts = [host.check(), host.reader(), host.writer()]
    if "ceil" in style:
        start = f"static int {style['ceil']}(int n, int d) {{"
        parts.append([start, f"    return {style.pick('(n + d - 1) / d', 'n / d + (n % d != 0)')};", "}", ""])
    parts.insert(style.rng.randrange(len(parts) + 1), kernels)
    return _whole(style, [*(line for part in parts for line in part), *main, ""])


def cpu_program(task: Task, style: Style) -> str:
    """The same task as a C++ program without a GPU, for the pretraining corpus."""
    host = _Host(task, style, on_cpu=True)
    row, col, rows, cols, z, out = (style[name] for name in ("row", "col", "rows", "cols", "z", "out"))
    value = style["value"]
    x_at, y_at = position(task, style, *source(task, style)), position(task, style, row, col)
    formula = operation(task, style, f"{style['x']}[{x_at}]", f"{style['y']}[{y_at}]", on_cpu=True)
    place = f"{col} * {rows} + {row}" if task.transposed else f"{row} * {cols} + {col}"
    kind = task.cpp
    high, wide = (cols, rows) if task.transposed else (rows, cols)
    finish = {
        "bias_relu": [f"{value} += {style['bias']}[{col}];", f"{value} = {value} > 0 ? {value} : 0;"],
        "clamp": [f"{value} = std::min(std::max({value}, {kind}(-{task.limit})), {kind}({task.limit}));"],
        "row_sum": [f"{out}[{row}] += {value};"],
        "row_max": [f"            if ({col} == 0 || {value} > {out}[{row}]) {out}[{row}] = {value};"],
    }[task.epilogue]
    if not task.epilogue.startswith("row"):
        finish.append(f"{out}[{row} * {wide} + {col}] = {value};")
    loops = _each(style, rows, cols, [f"{z}[{place}] = {formula};"])
    arrays = [style[name] for name in ARRAYS[: len(task.steps) + 1]]
    style["rows"], style["cols"] = high, wide
    for number, step in enumerate(task.steps):
        given, made = arrays[number], arrays[number + 1]
        at = f"{row} * {wide} + {col}"
        lines = [
            f"{kind} {value} = {given}[{at}];",
            *neighbour(task, style, step, value, f"{given}[{at}%s]", style["right"]),
        ]
        loops += [style.say("neighbour"), *_each(style, high, wide, [*lines, f"{made}[{at}] = {value};"])]
    style["rows"], style["cols"] = rows, cols
    loops += [
        style.say("epilogue"),
        *_each(style, high, wide, [f"{kind} {value} = {arrays[-1]}[{row} * {wide} + {col}];", *finish]),
    ]
    count = high if task.epilogue.startswith("row") else f"{rows} * {cols}"
    main = [
        "int main() {",
        *host.read_inputs(),
        *(
            f"    {kind}* {name} = ({kind}*){host.std}calloc({size}, sizeof({kind}));"
            for name, size in (*((name, f"{rows} * {cols}") for name in arrays), (out, count))
        ),
        *loops,
        f'    {style["write"]}("data/out.bin", {out}, {count});',
        "    return 0;",
        "}",
        "",
    ]
    return _whole(style, [*host.reader(), *host.writer(), *main])


def _each(style: Style, rows: str, cols: str, body: Lines) -> Lines:
    """The loops of a CPU program over all elements."""
    row, col = style["row"], style["col"]
    lines = [
        f"    for (int {row} = 0; {row} < {rows}; ++{row}) {{",
        f"        for (int {col} = 0; {col} < {cols}; ++{col}) {{",
    ]
    return [*lines, *indented(indented(indented(body))), "        }", "    }"]


def _whole(style: Style, lines: Lines) -> str:
    """The lines below what has to be included."""
    text = style.layout(lines)
    needed = [header for header, names in INCLUDES.items() if re.search(names, text)]
    if style.flip():
        style.rng.shuffle(needed)
    top: Lines = [style.say("header", 0)]
    if style.flip(0.4):
        rng, mark = style.rng, style.pick("//", "//", " *")
        signs = [
            f"{mark} {style.pick('File', 'Module', 'Name')}: {made_up_word(rng)}.{style.pick('cu', 'cpp', 'h')}",
            f"{mark} {style.pick('Author', 'By', 'Maintainer')}: {made_up_word(rng)} {made_up_word(rng)}",
            f"{mark} {style.pick('Date', 'Changed')}: {rng.randint(2009, 2026)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}",
            f"{mark} Revision {rng.randint(1, 400)}, ticket {rng.randint(1000, 9999)}",
        ]
        signs = rng.sample(signs, rng.randint(1, 4))
        top += ["/*", *signs, " */"] if mark == " *" else signs
    return style.layout([*top, *(f"#include {name}" for name in needed), "", ""]) + text


class _Host:
    """The host code of one program.

    checks: of CUDA calls, a `macro`, a `function` or `none`. memory: where files are read to: `managed` memory; the device, by way of
    a `helper`; or the host, with copies in `main`.
    """

    def __init__(self, task: Task, style: Style, *, on_cpu: bool = False) -> None:
        self.task, self.style = task, style
        self.checks = style.pick("macro", "macro", "function", "none")
        self.memory = "main" if on_cpu else style.pick("managed", "helper", "main")
        self.std = style.pick("std::", "")
        self.inputs = ("x", "y", "bias") if task.epilogue == "bias_relu" else ("x", "y")
        self.device, self.host = "{}", "{}"
        if self.memory == "main" and not on_cpu:
            self.device = style.pick("d_{}", "dev_{}", "{}_dev", "gpu_{}", "{}_d", "device_{}")
            self.host = style.pick("h_{}", "host_{}", "{}_host", "cpu_{}", "{}_h")

    def on_device(self, role: str) -> str:
        return self.device.format(self.style[role])

    def on_host(self, role: str) -> str:
        return self.host.format(self.style[role])

    def call(self, cuda: str) -> str:
        if self.checks == "none":
            return f"{cuda};"
        return f"{self.style['check' if self.checks == 'macro' else 'check_function']}({cuda});"

    def copy(self, to: str, source: str, amount: str, way: str) -> str:
        return self.call(f"cudaMemcpy({to}, {source}, {amount}, cudaMemcpy{way})")

    def check(self) -> Lines:
        """The macro or function that looks at the result of a CUDA call."""
        if self.checks == "none":
            return []
        style, std, code = self.style, self.std, self.style["code"]
        text = f"cudaGetErrorString({code})"
        said = style.pick(
            f'{std}fprintf(stderr, "CUDA error: %s\\n", {text});',
            f'{std}printf("CUDA failed: %s\\n", {text});',
            f'{std}fprintf(stderr, "%s:%d: %s\\n", __FILE__, __LINE__, {text});',
            f"{std}fputs({text}, stderr);",
        )
        end = [said, style.pick(f"{std}exit(1);", f"{std}exit(EXIT_FAILURE);", f"{std}abort();")]
        if self.checks == "function":
            start = f"static void {style['check_function']}(cudaError_t {code}) {{"
            test = f"    if ({code} != cudaSuccess) {{"
            return [style.say("error", 0), start, test, *(f"        {line}" for line in end), "    }", "}", ""]
        test = [f"        cudaError_t {code} = (call);", f"        if ({code} != cudaSuccess) {{"]
        lines = ["    do {", *test, *(f"            {line}" for line in end), "        }", "    } while (0)"]
        lines = [f"#define {style['check']}(call)", *lines]
        return [style.say("error", 0), *(f"{line} \\" for line in lines[:-1]), lines[-1], ""]

    def _file(self, verb: str, start: str, mode: str) -> Lines:
        """Read or write `size` values at `start`; the program ends when that fails."""
        style, std = self.style, self.std
        path, size, file = style["path"], style["size"], style["file"]
        words = ("cannot open", "bad file", "failed on", "no such data:", "I/O error:") if style.flip(0.7) else ()
        said = [f'        {std}fprintf(stderr, "{style.pick(*words)} %s\\n", {path});'] if words else []
        return [
            f'    FILE* {file} = {std}fopen({path}, "{mode}");',
            f"    if ({style.pick(f'!{file}', f'{file} == nullptr')} || {std}f{verb}({start}, sizeof(T), {size}, {file}) != {size}) {{",
            *said,
            f"        {style.pick(f'{std}exit(1);', f'{std}exit(EXIT_FAILURE);', f'{std}exit(2);')}",
            "    }",
            f"    {std}fclose({file});",
        ]

    def reader(self) -> Lines:
        """template<T> T* read(path, count)."""
        style, std = self.style, self.std
        values, size = style["values"], style["size"]
        made = [f"    T* {values} = (T*){std}malloc({size} * sizeof(T));"]
        result, copied = values, []
        if self.memory == "managed":
            made = [
                f"    T* {values} = nullptr;",
                f"    {self.call(f'cudaMallocManaged(&{values}, {size} * sizeof(T))')}",
            ]
        elif self.memory == "helper":
            result = style["ptr"]
            copied = [
                f"    T* {result} = nullptr;",
                f"    {self.call(f'cudaMalloc(&{result}, {size} * sizeof(T))')}",
                f"    {self.copy(result, values, f'{size} * sizeof(T)', 'HostToDevice')}",
                f"    {std}free({values});",
            ]
        head = f"{style.pick('static ', '')}T* {style['read']}(const char* {style['path']}, size_t {size}) {{"
        body = [*made, *self._file("read", values, "rb"), *copied, f"    return {result};"]
        said, template = style.say("helper", 0), style.pick("template <typename T>", "template <class T>")
        return [said, template, head, *body, "}", ""]

    def writer(self) -> Lines:
        """template<T> void write(path, values, count)."""
        style = self.style
        values, size = style["values"], style["size"]
        given = style["ptr"] if self.memory == "helper" else values
        fetched, freed = [], []
        if self.memory == "helper":
            fetched = [
                f"    T* {values} = (T*){self.std}malloc({size} * sizeof(T));",
                f"    {self.copy(values, given, f'{size} * sizeof(T)', 'DeviceToHost')}",
            ]
            freed = [f"    {self.std}free({values});"]
        head = f"{style.pick('static ', '')}void {style['write']}(const char* {style['path']}, const T* {given}, size_t {size}) {{"
        template = style.pick("template <typename T>", "template <class T>")
        return [template, head, *fetched, *self._file("write", values, "wb"), *freed, "}", ""]

    def read_inputs(self) -> Lines:
        """The lines of main that read the sizes and the inputs."""
        task, style, kind = self.task, self.style, self.task.cpp
        rows, cols, sizes, file = (style[name] for name in ("rows", "cols", "sizes", "file"))
        names = [rows, cols, *([style["pitch"]] if task.layout == "padded" else [])]
        lines: Lines = [
            style.say("sizes"),
            f"    int {sizes}[{len(names)}];",
            f'    FILE* {file} = {self.std}fopen("data/sizes.bin", "rb");',
            f"    if (!{file} || {self.std}fread({sizes}, sizeof(int), {len(names)}, {file}) != {len(names)}) return {style.pick(1, 2, -1)};",
            f"    {self.std}fclose({file});",
            *(f"    const int {name} = {sizes}[{number}];" for number, name in enumerate(names)),
        ]
        count = f"{rows} * {names[2] if task.layout == 'padded' else cols}"
        if style.flip(0.4) and task.layout != "padded":
            count = style["total"]
            lines.append(f"    const int {count} = {rows} * {cols};")
        lines.append(style.say("read"))
        auto = style.pick("auto", f"{kind}*")
        for name in self.inputs:
            size = count if name != "bias" else (rows if task.transposed else cols)
            lines.append(f'    {auto} {self.on_host(name)} = {style["read"]}<{kind}>("data/{name}.bin", {size});')
        return lines

    def main(self, last: Epilogue) -> Lines:
        """The whole function, which launches the kernels."""
        task, style, kind = self.task, self.style, self.task.cpp
        rows, cols = style["rows"], style["cols"]
        high, wide = (cols, rows) if task.transposed else (rows, cols)
        area = f"{rows} * {cols}"
        length = high if last.threads else area
        x, y, z, out = (self.on_device(role) for role in ("x", "y", "z", "out"))
        between = ARRAYS[: len(task.steps) + 1]
        allocate = "cudaMallocManaged" if self.memory == "managed" else "cudaMalloc"
        body: Lines = [*self.read_inputs(), "", style.say("copy_in")]
        stored = f"{rows} * {style['pitch']}" if task.layout == "padded" else area
        inputs = {"x": stored, "y": stored, "bias": wide}
        sizes = {role: inputs[role] for role in self.inputs if self.memory == "main"}
        for role, size in (sizes | dict.fromkeys(between, area) | {"out": length}).items():
            device = self.on_device(role)
            body += [
                f"    {kind}* {device} = nullptr;",
                f"    {self.call(f'{allocate}(&{device}, {size} * sizeof({kind}))')}",
            ]
            if role in self.inputs:
                body.append(f"    {self.copy(device, self.on_host(role), f'{size} * sizeof({kind})', 'HostToDevice')}")
        if task.memory == "constant":
            values = ", ".join(literal(task, value) for value in (task.a, task.b))
            own = f"host_{style['coef']}"
            copied = f"cudaMemcpyToSymbol({style['coef']}, {own}, sizeof({own}))"
            body += [f"    const {kind} {own}[2] = {{{values}}};", f"    {self.call(copied)}"]
        pitch = f", {style['pitch']}" if task.layout == "padded" else ""
        bias = f"{self.on_device('bias')}, " if "bias" in self.inputs else ""
        body += ["", style.say("launch"), *self._launch_combine(f"{x}, {y}, {z}, {rows}, {cols}{pitch}")]
        for step in range(len(task.steps)):
            given, made = map(self.on_device, ARRAYS[step : step + 2])
            body += [style.say("neighbour"), *self._launch_neighbour(step, f"{given}, {made}, {high}, {wide}")]
        given = self.on_device(between[-1])
        body += [style.say("launch_two"), *self._launch_last(last, f"{given}, {bias}{out}, {high}, {wide}", high), ""]
        if self.memory == "managed" or style.flip():
            body.append(f"    {self.call('cudaDeviceSynchronize()')}")
        result = out
        if self.memory == "main":
            result = self.on_host("out")
            body += [
                style.say("copy_out"),
                f"    {kind}* {result} = ({kind}*){self.std}malloc({length} * sizeof({kind}));",
                f"    {self.copy(result, out, f'{length} * sizeof({kind})', 'DeviceToHost')}",
            ]
        body += [style.say("write"), f'    {style["write"]}("data/out.bin", {result}, {length});']
        if style.flip(0.4):
            freed = [self.on_device(role) for role in (*self.inputs, *between, "out")]
            body += [style.say("free"), *(f"    cudaFree({name});" for name in freed)]
        return ["int main() {", *body, f"    return {style.pick('0', 'EXIT_SUCCESS')};", "}"]

    def _blocks(self, count: str, threads: str) -> str:
        """How many blocks of so many threads cover a count, as an expression."""
        if self.style.flip(0.4):
            return f"{self.style['ceil']}({count}, {threads})"
        if threads.isdecimal() and self.style.flip():
            return f"({count} + {int(threads) - 1}) / {threads}"
        return f"({count} + {threads} - 1) / {threads}"

    def _launch_combine(self, arguments: str) -> Lines:
        style = self.style
        block, grid, rows, cols = (style[name] for name in ("block", "grid", "rows", "cols"))
        if self.task.block == "256":
            shape = [
                f"    const int {block} = 256;",
                f"    const int {grid} = {self._blocks(f'{rows} * {cols}', block)};",
            ]
        else:
            shape = [f"    dim3 {block}({', '.join(self.task.block.split('x'))});", self._grid(grid, cols, rows)]
        return [*shape, *self._launch("combine", grid, block, arguments)]

    def _launch_neighbour(self, step: int, arguments: str) -> Lines:
        """With the grid of the first kernel, unless the map transposes: the matrix has another shape then."""
        style, grid, lines = self.style, self.style["grid"], []
        if self.task.transposed:
            grid = style["grid two"]
            lines = [self._grid(grid, style["rows"], style["cols"])] if step == 0 else []
        return [*lines, *self._launch(f"neighbour {step}", grid, style["block"], arguments)]

    def _launch_last(self, last: Epilogue, arguments: str, high: str) -> Lines:
        if last.threads:
            return self._launch(self.task.epilogue, high, str(last.threads), arguments)
        threads = self.style.pick("128", "256", "256", "512")
        blocks = self._blocks(f"{self.style['rows']} * {self.style['cols']}", threads)
        return self._launch(self.task.epilogue, blocks, threads, arguments)

    def _launch(self, kernel: str, grid: str, block: str, arguments: str) -> Lines:
        """The launch, and in some programs a look at its result."""
        launch = f"    {self.style[kernel]}<<<{grid}, {block}>>>({arguments});"
        checked = self.checks != "none" and self.style.flip()
        return [launch, f"    {self.call('cudaGetLastError()')}" if checked else None]

    def _grid(self, grid: str, wide: str, high: str) -> str:
        """The line that makes a two-dimensional grid."""
        block = self.style["block"]
        sides = (f"{block}.x", f"{block}.y") if self.style.flip() else self.task.block.split("x")
        return f"    dim3 {grid}({self._blocks(wide, sides[0])}, {self._blocks(high, sides[1])});"
