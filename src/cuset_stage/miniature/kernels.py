"""The kernels of a task's program, in one program's style."""

from typing import NamedTuple

from .space import Task
from .style import Style, indented


Lines = list[str | None]


class Epilogue(NamedTuple):
    """The last kernel. threads: of the block that takes a row; 0 where each thread takes an element."""

    lines: Lines
    threads: int


def literal(task: Task, value: int) -> str:
    return {"float32": f"{value}.0f", "float64": f"{value}.0", "int32": str(value)}[task.type]


def position(task: Task, style: Style, row: str, col: str) -> str:
    """The index of an input's element (row, col) in its file."""
    rows, cols = style["rows"], style["cols"]
    if style.flaw == "index":
        rows, cols = cols, rows
    row, col = (f"({name})" if " " in name else name for name in (row, col))
    if task.layout == "column":
        return f"{col} * {rows} + {row}"
    return f"{row} * {style['pitch'] if task.layout == 'padded' else cols} + {col}"


def source(task: Task, style: Style) -> tuple[str, str]:
    """(row, col) of the element of x that belongs to the thread's own row and column."""
    row, col, rows, cols = (style[name] for name in ("row", "col", "rows", "cols"))
    return {
        "reverse": (row, f"{cols} - 1 - {col}"),
        "flip": (f"{rows} - 1 - {row}", col),
        "shift": (row, f"({col} + {task.shift}) % {cols}"),
    }.get(task.map, (row, col))


def operation(task: Task, style: Style, a: str, b: str, *, coefficients: bool = False, on_cpu: bool = False) -> str:
    """The operation on two operands, as an expression. coefficients: they lie in a constant array."""
    first, second = (literal(task, value) for value in (task.a, task.b))
    if coefficients:
        first, second = f"{style['coef']}[0]", f"{style['coef']}[1]"
    absolute = {"float32": "fabsf", "float64": "fabs", "int32": "abs"}[task.type]
    larger = {"float32": "fmaxf", "float64": "fmax", "int32": "max"}[task.type]
    if on_cpu:
        absolute, larger = "std::abs", "std::max"
    return {
        "weighted": style.pick(f"{first} * {a} + {second} * {b}", f"{second} * {b} + {first} * {a}"),
        "axpy": style.pick(f"{first} * {a} + {b}", f"{b} + {first} * {a}"),
        "absdiff": style.pick(f"{a} > {b} ? {a} - {b} : {b} - {a}", f"{absolute}({a} - {b})"),
        "product": style.pick(f"{a} * {b}", f"{b} * {a}"),
        "maximum": style.pick(f"{a} > {b} ? {a} : {b}", f"{larger}({a}, {b})"),
        "sqdiff": f"({a} - {b}) * ({a} - {b})",
    }[task.operation]


def combine_kernel(task: Task, style: Style) -> Lines:
    """z = operation(x[map], y); z is dense and row-major, with cols rows when the map transposes."""
    x, y, z, row, col, rows, cols = (style[name] for name in ("x", "y", "z", "row", "col", "rows", "cols"))
    value, const, kind = style["value"], style.const, task.cpp
    restrict = " __restrict__" if task.memory == "readonly" or style.flip(0.4) else ""
    parameters = (
        f"const {kind}*{restrict} {x}, const {kind}*{restrict} {y}, {kind}*{restrict} {z}, int {rows}, int {cols}"
    )
    if task.layout == "padded":
        parameters += f", int {style['pitch']}"
    flat = task.block == "256"
    inside, outside = _bounds(task, style, flawed=style.flaw == "bound")
    lines: Lines = [f"__global__ void {style['combine']}({parameters}) {{"]
    if task.memory == "shared":
        lines.append(f"    __shared__ {kind} {style['tile']}{_tile_shape(task)};")
    lines += [style.say("position"), *_thread_position(task, style)]
    from_row, from_col = source(task, style)
    x_row, x_col = style["x_row"], style["x_col"]
    load_source = [
        style.say("source"),
        f"    {const}int {x_row} = {from_row};",
        f"    {const}int {x_col} = {from_col};",
        f"    {const}int {style['source']} = {position(task, style, x_row, x_col)};",
    ]
    own = [f"    {const}int {style['place']} = {position(task, style, row, col)};"]
    one, other = (_element(task, style, *at) for at in ((x, style["source"]), (y, style["place"])))
    result = f"{col} * {rows} + {row}" if task.transposed else f"{row} * {cols} + {col}"
    formula = operation(task, style, style["left"], style["right"], coefficients=task.memory == "constant")
    said = style.say("load")

    def loads(first: str) -> Lines:
        return [f"    {const}{kind} {style['left']} = {first};", f"    {const}{kind} {style['right']} = {other};"]

    compute = [f"    {const}{kind} {value} = {formula};"]
    store = [style.say("store"), f"    {z}[{result}] = {value};"]

    if task.memory != "shared":
        body = [*load_source, *own, said, *loads(one), *compute, *store]
        return [*lines, style.say("guard"), *_guarded(style, inside, outside, body), "}"]
    slot = f"{style['tile']}[threadIdx.x]" if flat else f"{style['tile']}[threadIdx.y][threadIdx.x]"
    barrier = [] if style.flaw == "sync" else [style.say("sync"), "    __syncthreads();"]
    if not task.transposed:
        test = inside
        if style.flip():
            lines.append(f"    {const}bool {style['inside']} = {inside};")
            test = style["inside"]
        stage = [*load_source, f"    {slot} = {one};"]
        lines += [style.say("staged"), *_block(test, stage, style), *barrier]
        return [*lines, style.say("guard"), *_block(test, [*own, *loads(slot), *compute, *store], style), "}"]
    # the block of the result is the mirrored one, so that neighbouring threads write neighbouring elements
    stage = [*load_source, *own, said, *loads(one), *compute, f"    {slot} = {value};"]
    new_row, new_col = f"{row}{style.pick('T', '2', '_t', 'Out')}", f"{col}{style.pick('T', '2', '_t', 'Out')}"
    after = [
        f"    {const}int {new_row} = blockIdx.x * 16 + threadIdx.y;",
        f"    {const}int {new_col} = blockIdx.y * 16 + threadIdx.x;",
        style.say("store"),
        *_block(
            f"{new_row} < {cols} && {new_col} < {rows}",
            [f"    {z}[{new_row} * {rows} + {new_col}] = {style['tile']}[threadIdx.x][threadIdx.y];"],
            style,
        ),
    ]
    return [*lines, style.say("staged"), *_block(inside, stage, style), *barrier, *after, "}"]


def _element(task: Task, style: Style, array: str, at: str) -> str:
    if task.memory != "readonly":
        return f"{array}[{at}]"
    return f"__ldg(&{array}[{at}])" if style.flip() else f"__ldg({array} + {at})"


def _tile_shape(task: Task) -> str:
    return {"256": "[256]", "16x16": "[16][17]", "32x8": "[8][33]"}[task.block]


def _thread_position(task: Task, style: Style) -> Lines:
    """Row and column of a thread, which the blocks of 256 threads take from a flat index."""
    row, col, const = style["row"], style["col"], style.const
    if task.block == "256":
        flat = style["i"]
        return [
            *_global_index(style, flat, "x"),
            f"    {const}int {row} = {flat} / {style['cols']};",
            f"    {const}int {col} = {flat} % {style['cols']};",
        ]
    lines = [_global_index(style, col, "x"), _global_index(style, row, "y")]
    return [line for part in (lines if style.flip() else lines[::-1]) for line in part]


def _global_index(style: Style, name: str, axis: str) -> Lines:
    """The thread's index along an axis of the grid, in one step or in two."""
    first = f"blockIdx.{axis} * blockDim.{axis}"
    if not style.two_steps:
        return [f"    {style.const}int {name} = {first} + threadIdx.{axis};"]
    start = f"{name}{style.pick('0', 'Start', '_base')}"
    return [f"    {style.const}int {start} = {first};", f"    {style.const}int {name} = {start} + threadIdx.{axis};"]


def _bounds(task: Task, style: Style, *, flawed: bool = False) -> tuple[str, str]:
    """The conditions that a thread has an element, and that it has none. flawed: one too many."""
    rows, cols = style["rows"], style["cols"]
    pairs = [(style["i"], f"{rows} * {cols}")] if task.block == "256" else [(style["row"], rows), (style["col"], cols)]
    within, beyond = ("<=", ">") if flawed else ("<", ">=")
    inside, outside = ([f"{at} {sign} {end}" for at, end in pairs] for sign in (within, beyond))
    return " && ".join(inside), " || ".join(outside)


def _block(condition: str, body: Lines, style: Style) -> Lines:
    if style.flaw == "guard":
        return [*body]
    return [f"    if ({condition}) {{", *indented(body), "    }"]


def _guarded(style: Style, inside: str, outside: str, body: Lines) -> Lines:
    """The body for threads inside of the matrix; only for bodies without a barrier."""
    if style.returns and style.flaw != "guard":
        return [f"    if ({outside}) return;" if style.flip() else f"    if (!({inside})) return;", *body]
    return _block(inside, body, style)


ARRAYS = ("z", "near", "far")
"""Names of the arrays between the kernels: step n reads ARRAYS[n] and writes ARRAYS[n + 1]."""


def neighbour_kernel(task: Task, style: Style, step: int) -> Lines:
    """The step of that number, from one dense row-major array to the next: each element with its neighbours."""
    z, near = style[ARRAYS[step]], style[ARRAYS[step + 1]]
    rows, cols, row, col = (style[name] for name in ("rows", "cols", "row", "col"))
    at, value, other, const, kind = style["place"], style["value"], style["right"], style.const, task.cpp
    lines: Lines = [
        f"__global__ void {style[f'neighbour {step}']}(const {kind}* {z}, {kind}* {near}, int {rows}, int {cols}) {{",
        style.say("position"),
        *_thread_position(task, style),
    ]
    inside, outside = _bounds(task, style)
    body: Lines = [
        f"    {const}int {at} = {row} * {cols} + {col};",
        style.say("load"),
        f"    {kind} {value} = {z}[{at}];",
        style.say("neighbour"),
        *indented(neighbour(task, style, task.steps[step], value, f"{z}[{at}%s]", other)),
        style.say("store"),
        f"    {near}[{at}] = {value};",
    ]
    return [*lines, style.say("guard"), *_guarded(style, inside, outside, body), "}"]


def neighbour(task: Task, style: Style, step: str, value: str, element: str, other: str) -> Lines:
    """Statements that add the neighbours to `value`. step: of Task.steps. element: the thread's own, with %s behind its index; other: a name that is free."""
    rows, cols, row, col, kind = style["rows"], style["cols"], style["row"], style["col"], task.cpp
    sides = [(f"{col} > 0", element % " - 1"), (f"{col} + 1 < {cols}", element % " + 1")]
    if step == "weighted":
        add = f"{value} += {other};" if style.flip() else f"{value} = {value} + {other};"
        if style.flip():
            before, after = (f"{test} ? {beside} : {literal(task, 0)}" for test, beside in sides)
            doubled = f"{value} = {literal(task, 2)} * {value};"
            return [doubled, f"{kind} {other} = {before};", add, f"{other} = {after};", add]
        ifs = [f"if ({test}) {value} += {beside};" for test, beside in sides]
        return [f"{value} *= {literal(task, 2)};", *(ifs if style.flip() else ifs[::-1])]
    if step == "absdiff":
        if style.flip():
            return [f"if ({test} && {beside} > {value}) {value} = {beside};" for test, beside in sides]
        return [
            line
            for test, beside in sides
            for line in (
                f"if ({test}) {{",
                f"    {style.const}{kind} {other} = {beside};",
                f"    {value} = {other} > {value} ? {other} : {value};",
                "}",
            )
        ]
    if step == "product":
        wrapped = f"{col} + 1 == {cols} ? {element % f' - {col}'} : {element % ' + 1'}"
        return [f"{style.const}{kind} {other} = {wrapped};", f"{value} += {other};"]
    test, sign, beside = {
        "axpy": (f"{col} > 0", "-", element % " - 1"),
        "maximum": (f"{row} > 0", "-", element % f" - {cols}"),
        "sqdiff": (f"{row} + 1 < {rows}", "+", element % f" + {cols}"),
    }[step]
    if style.flip():
        return [f"if ({test}) {value} {sign}= {beside};"]
    return [f"{style.const}{kind} {other} = {test} ? {beside} : {literal(task, 0)};", f"{value} {sign}= {other};"]


def epilogue_kernel(task: Task, style: Style) -> Epilogue:
    """out from the last array before it [rows, cols], dense and row-major; the launch passes the sizes that it has."""
    z, out, rows, cols, kind = style[ARRAYS[len(task.steps)]], style["out"], style["rows"], style["cols"], task.cpp
    name, parameters = style[task.epilogue], f"{kind}* {out}, int {rows}, int {cols}"
    if task.epilogue in ("row_sum", "row_max"):
        head = f"__global__ void {name}(const {kind}* {z}, {parameters}) {{"
        threads = style.pick(32, 64, 128, 256)
        return Epilogue([head, *(_row_warp if threads == 32 else _row_tree)(task, style, threads), "}"], threads)
    i, value, const = style["i"], style["value"], style.const
    bias = f"const {kind}* {style['bias']}, " if task.epilogue == "bias_relu" else ""
    lines: Lines = [f"__global__ void {name}(const {kind}* {z}, {bias}{parameters}) {{"]
    if task.epilogue == "bias_relu":
        column = style["k"]
        zero = literal(task, 0)
        body: Lines = [
            f"    {const}int {column} = {i} % {cols};",
            f"    {const}{kind} {value} = {z}[{i}] + {style['bias']}[{column}];",
            style.say("epilogue"),
            f"    {out}[{i}] = {style.pick(f'{value} > {zero} ? {value} : {zero}', f'{value} < {zero} ? {zero} : {value}')};",
        ]
    else:
        limit = literal(task, task.limit)
        body = [
            f"    {kind} {value} = {z}[{i}];",
            style.say("epilogue"),
            f"    if ({value} > {limit}) {value} = {limit};",
            f"    if ({value} < -{limit}) {value} = -{limit};",
            f"    {out}[{i}] = {value};",
        ]
    if style.flip(0.4):
        start, step = "blockIdx.x * blockDim.x + threadIdx.x", "gridDim.x * blockDim.x"
        loop = f"    for (int {i} = {start}; {i} < {rows} * {cols}; {i} += {step}) {{"
        lines += [loop, *indented(body), "    }"]
    else:
        inside, outside = f"{i} < {rows} * {cols}", f"{i} >= {rows} * {cols}"
        lines += [*_global_index(style, i, "x"), style.say("guard"), *_guarded(style, inside, outside, body)]
    return Epilogue([*lines, "}"], 0)


def _fold(task: Task, into: str, value: str) -> str:
    """The statement that adds a value to a row's result."""
    return f"{into} += {value};" if task.epilogue == "row_sum" else f"if ({value} > {into}) {into} = {value};"


def _walk(task: Task, style: Style, row: str, start: str, step: str) -> Lines:
    """A thread's part of a row: the elements from `start` on in steps."""
    acc, k, z, cols = style["acc"], style["k"], style[ARRAYS[len(task.steps)]], style["cols"]
    first = literal(task, 0) if task.epilogue == "row_sum" else f"{z}[{row} * {cols}]"
    value = style["value"]
    return [
        f"    {task.cpp} {acc} = {first};",
        style.say("stride"),
        f"    for (int {k} = {start}; {k} < {cols}; {k} += {step}) {{",
        f"        {style.const}{task.cpp} {value} = {z}[{row} * {cols} + {k}];",
        f"        {_fold(task, acc, value)}",
        "    }",
    ]


def _row_tree(task: Task, style: Style, threads: int) -> Lines:
    """A block takes a row and folds the threads' results in shared memory."""
    row, lane, partial, step = style["row"], style["lane"], style["partial"], style["step"]
    barrier = None if style.flaw == "sync" else "        __syncthreads();"
    return [
        f"    __shared__ {task.cpp} {partial}[{threads}];",
        f"    {style.const}int {row} = blockIdx.x;",
        f"    {style.const}int {lane} = threadIdx.x;",
        *_walk(task, style, row, lane, "blockDim.x"),
        f"    {partial}[{lane}] = {style['acc']};",
        barrier and "    __syncthreads();",
        style.say("reduce"),
        f"    for (int {step} = {threads // 2}; {step} > 0; {step} {style.pick('/= 2', '>>= 1')}) {{",
        f"        if ({lane} < {step}) {{",
        f"            {_fold(task, f'{partial}[{lane}]', f'{partial}[{lane} + {step}]')}",
        "        }",
        barrier,
        "    }",
        f"    if ({lane} == 0) {style['out']}[{row}] = {partial}[0];",
    ]


def _row_warp(task: Task, style: Style, threads: int) -> Lines:
    """A warp is a block, takes a row, and folds by shuffles."""
    row, lane, acc, step, other = style["row"], style["lane"], style["acc"], style["step"], style["right"]
    return [
        f"    {style.const}int {row} = blockIdx.x;",
        f"    {style.const}int {lane} = threadIdx.x;",
        *_walk(task, style, row, lane, str(threads)),
        style.say("reduce"),
        f"    for (int {step} = 16; {step} > 0; {step} /= 2) {{",
        f"        {style.const}{task.cpp} {other} = __shfl_down_sync(0xffffffff, {acc}, {step});",
        f"        {_fold(task, acc, other)}",
        "    }",
        f"    if ({lane} == 0) {style['out']}[{row}] = {acc};",
    ]
