"""The mutation operators: errors to put into correct programs, of the kinds that language models make.

An operator is a function that takes a `Program` and yields the `Edit`s that it can make. Each edit has a tier, which
says how likely a run is to show the error. `OPERATORS` has the operators by name.
"""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import pairwise

from tree_sitter import Node

from ..cuda_source import Function
from ..cuda_source.source import arguments, callee, child, declarators, items, sides, walk
from .program import COMPARISONS, Edit, Program, covers, initial_value, remove_statement


# ---------------------------------------------------------------------------------------------- the edges of an array

_LOOSER = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
_LOGICAL = ("&&", "||")
_CLAMPS = frozenset({"min", "max", "clamp", "fminf", "fmaxf", "fmin", "fmax"})
_ENDS_IN_WORD = re.compile(r"(?:.*\W)?[A-Za-z_]\w*", re.DOTALL)
_FLOAT = re.compile(r"(?!0[xX]).*(?:\.|[fF]\Z)")


def bound_off_by_one(program: Program) -> Iterator[Edit]:
    """Put bounds off by one.

    `i < n` becomes `i <= n` or `i < n - 1`, `n - 1` becomes `n`, a loop starts late or ends early, and
    `(n + 255) / 256` becomes `n / 256`.
    """
    for loop in program.nodes("for_statement"):
        body = child(loop, "body")
        if program.device_function(loop) or "<<<" in program.code[body.start_byte : body.end_byte]:
            yield from _loop_bounds(program, loop)
    for node, function in program.in_device("binary_expression"):
        sign, (left, right), outer = program.sign(node), sides(node), node.parent
        if sign in COMPARISONS and not covers(program.loop_heads, node) and is_bound(program, node, function):
            bound, indexed = program.text(right), program.words(right) & program.indices[function]
            tier = 0 if sign == "<=" or bound == "0" or indexed else 1
            yield program.edit(child(node, "operator"), _LOOSER[sign], "relation", tier)
            if sign in ("<", ">=") and _ENDS_IN_WORD.fullmatch(bound) and not indexed:
                yield program.edit(right, f"{bound} - 1", "bound")
        elif sign == "-" and program.text(right) == "1":  # the upper end of a clamp, or the last index of an array
            is_argument = outer.type == "argument_list" and outer.parent.type == "call_expression"
            is_last = is_argument and program.calls(outer.parent, _CLAMPS)
            is_last = is_last or (outer.type == "subscript_argument_list" and left.type == "identifier")
            if is_last and _ENDS_IN_WORD.fullmatch(program.text(left)):
                yield program.edit((left.end_byte, node.end_byte), "", "last element", 1)
    for node in program.nodes("binary_expression"):
        if program.sign(node) == "/" and not covers(program.checks, node):
            yield from _ceil_division(program, node)


def _loop_bounds(program: Program, loop: Node) -> Iterator[Edit]:
    """Change the start, the end or the relation of a `for` loop, depending on how its variable changes."""
    condition, update, first = child(loop, "condition"), child(loop, "update"), initial_value(loop)
    steps = {program.text(node) for node in walk(update) if not node.is_named}
    halving, doubling = steps & {"/=", ">>="}, steps & {"*=", "<<="}
    strided = not (steps & {"++", "--"} or halving or doubling)
    from_zero = program.text(first) == "0"
    for node in walk(condition):
        if (sign := program.sign(node)) not in COMPARISONS:
            continue
        left, right = sides(node)
        relation, bound = child(node, "operator"), program.text(right)
        if halving:
            if sign == ">" and bound == "0":
                yield program.edit(right, "1", "last round")
            elif sign == ">=":
                yield program.edit(relation, ">", "last round")
        elif doubling:
            if sign == "<=":
                yield program.edit(relation, "<", "last round")
            elif sign == "<":
                yield program.edit(right, f"{program.operand(right)} / 2", "last round")
        elif strided and from_zero:
            if sign == "<" and left.type == "identifier" and update is not None and program.sign(update) == "+=":
                tile = program.text(child(update, "right"))
                yield program.edit(node, f"{program.text(left)} + {tile} <= {bound}", "last tile")
            yield program.edit(relation, _LOOSER[sign], "loop relation", 2)
        else:
            yield program.edit(relation, _LOOSER[sign], "loop relation", 1 if strided else 0)
            if sign == "<":
                yield program.edit(right, f"{bound} - 1", "loop end")
    if from_zero and "++" in steps:
        yield program.edit(first, "1", "loop start")


def is_bound(program: Program, node: Node, function: Function) -> bool:
    """Return True if a comparison checks a position against a bound.

    The left side must contain a position, and the right side must not contain a floating-point value.
    """
    left, right = sides(node)
    outside = walk(left, lambda at: [] if at.type == "subscript_argument_list" else at.children)
    if not any(each.type == "identifier" and program.text(each) in program.indices[function] for each in outside):
        return False
    left_name, right_name = program.text(left), program.text(right)
    are_alike = len(left_name) == len(right_name) > 3 and left_name[:-1] == right_name[:-1]
    if left.type == right.type == "identifier" and are_alike:
        return False  # indexA and indexB are two values of the same kind
    return not any(each.type == "number_literal" and _FLOAT.match(program.text(each)) for each in walk(right))


def _ceil_division(program: Program, node: Node) -> Iterator[Edit]:
    """Replace `(n + b - 1) / b`, `(n + 255) / 256` and `(n - 1) / b + 1` by `n / b`."""
    left, divisor = sides(node)
    while left.type == "binary_expression":  # a * (n + 255) / 256
        left = child(left, "right")
    inner = items(left)[0] if left.type == "parenthesized_expression" else None
    if inner is None or inner.type != "binary_expression":
        return
    sign, (count, last), end = program.sign(inner), sides(inner), node.end_byte
    number, width = program.text(last), program.text(divisor)
    if sign == "-" and number == "1":
        if program.adds(node.parent, "1"):
            end = node.parent.end_byte
        elif program.adds(count, width):
            count = child(count, "left")
        else:
            return
    elif not (sign == "+" and number.isdecimal() and width == str(int(number) + 1)):
        return
    yield program.edit((left.start_byte, end), f"{program.operand(count)} / {width}", "remainder")


def drop_boundary_check(program: Program) -> Iterator[Edit]:
    """Leave out a guard: the whole `if`, one half of `row < m && col < n`, or the 0 of `i < n ? a[i] : 0`."""
    for node, function in program.in_device("if_statement"):
        condition, taken = child(node, "condition"), child(node, "consequence")
        follows = program.before(node.start_byte) in (";", "{", "}")
        if follows and not child(node, "alternative") and _bounds_in(program, condition, function):
            if re.match(r"\{?\s*return\b", program.code[taken.start_byte : taken.end_byte]):
                yield program.cut(node, "return")
            else:
                yield program.cut((node.start_byte, condition.end_byte), "if")
    for node, function in program.in_device("binary_expression", heads=False):
        if program.sign(node) in _LOGICAL:
            left, right = sides(node)
            while program.sign(left) in _LOGICAL:
                left = child(left, "right")
            while program.sign(right) in _LOGICAL:
                right = child(right, "left")
            if _bounds_in(program, right, function):
                yield program.edit((left.end_byte, right.end_byte), "", "right half")
            if _bounds_in(program, left, function):
                yield program.cut((left.start_byte, child(node, "operator").end_byte), "left half")
    for node, function in program.in_device("conditional_expression"):
        condition, taken, other = (child(node, name) for name in ("condition", "consequence", "alternative"))
        is_checked = condition.type == "identifier" or _bounds_in(program, condition, function)
        if is_checked and "[" in program.text(taken) and other.type != "conditional_expression":
            yield program.edit(node, program.text(taken), "choice")


def _bounds_in(program: Program, node: Node, function: Function) -> bool:
    """Return True if all comparisons of an expression are bounds checks, and there is at least one."""
    signs = [each for each in walk(node) if program.sign(each) in COMPARISONS]
    if not signs or re.search(r"[=!]=|\[", program.text(node)):
        return False
    return all(is_bound(program, each, function) for each in signs)


# ------------------------------------------------------------------------------------------------------------ indices

INTEGERS = {"int", "unsigned", "unsigned int", "size_t", "long", "int32_t", "uint32_t", "int64_t", "long long"}
_SWAP = {"x": "y", "y": "x"}
_RANKS = {"/": "%", "%": "/"}
_PLANAR = re.compile(r"\bthreadIdx\s*\.\s*y\b")
_LANE = re.compile(r"(?:.*\W)?threadIdx\s*\.\s*[xy]", re.DOTALL)
_SHARED = re.compile(r"\b__shared__[^;]*")
_PLANE = re.compile(r"(\w+)\s*\[[^][]*\]\s*\[")
_CASTS = frozenset({"static_cast", "size_t", "int", "long", "int64_t"})


def wrong_index(program: Program) -> Iterator[Edit]:
    """Make an index wrong.

    Examples: `threadIdx.y` for `threadIdx.x`, a block's offset without its size, `tile[x][y]` for `tile[y][x]`, and
    `a[i - 1]` for `a[i + 1]`.
    """
    for node, function in program.in_device("field_expression"):
        name, component = program.text(child(node, "argument")), program.text(child(node, "field"))
        if name not in ("threadIdx", "blockIdx"):
            continue
        # Use the other component if the function has two dimensions, and the other built-in if it has one.
        planar = _PLANAR.search(program.code, *function.body)
        if component in _SWAP and (planar or (name == "blockIdx" and component == "y")):
            yield program.edit(child(node, "field"), _SWAP[component], "component")
        if name == "blockIdx":
            yield program.edit(child(node, "argument"), "threadIdx", "built-in", 1 if component == "z" else 0)
            yield from _block_offset(program, node)
        elif not planar and component == "x":
            compared = program.after(node.end_byte) in COMPARISONS | {"==", "%"}
            yield program.edit(child(node, "argument"), "blockIdx", "built-in", 2 if compared else 1)
    for node, function in program.in_device("binary_expression"):
        sign, (left, right), outer = program.sign(node), sides(node), node.parent
        if sign == "+" and not covers(program.loop_heads, node):
            yield from _row_major(program, node, function)
        if sign in ("+", "-") and outer.type == "subscript_argument_list" and program.text(right) == "1":
            if child(outer.parent, "argument").type in ("identifier", "field_expression"):
                yield program.edit(child(node, "operator"), "-" if sign == "+" else "+", "neighbour", 1)
        elif sign in _RANKS and _LANE.fullmatch(program.text(left)):
            yield program.edit(child(node, "operator"), _RANKS[sign], "lane and warp")
    planes = {name for declaration in _SHARED.findall(program.code) for name in _PLANE.findall(declaration)}
    for node, _ in program.in_device("subscript_expression"):
        inner = child(node, "argument")
        if inner.type == "subscript_expression" and program.text(child(inner, "argument")) in planes:
            first, second = child(inner, "indices"), child(node, "indices")
            if program.text(first) != program.text(second):
                both = (first.start_byte, second.end_byte)
                yield program.edit(both, program.text(second) + program.text(first), "transposed")


def _block_offset(program: Program, node: Node) -> Iterator[Edit]:
    """Write `blockIdx.x * blockDim.x + threadIdx.x` without the factor, or without the thread."""
    while (outer := node.parent).type in ("parenthesized_expression", "cast_expression", "argument_list"):
        if outer.type == "argument_list":  # static_cast<size_t>(blockIdx.x), size_t(blockIdx.x)
            outer = outer.parent
            if outer.type != "call_expression" or not program.calls(outer, _CASTS):
                break
        node = outer
    if program.sign(product := node.parent) == "*":
        left, right = sides(product)
        if left == node and program.after(product.end_byte) in ("+", "-", "*"):
            yield program.edit((node.end_byte, right.end_byte), "", "no stride")
            node = product
        elif right == node and program.after(product.end_byte) in ("+", "-"):
            while left.type == "binary_expression":
                left = child(left, "right")
            yield program.cut((left.start_byte, node.start_byte), "no stride")
    while program.sign(node.parent) in ("+", "-") and child(node.parent, "right") == node:
        node = node.parent
    if program.sign(node.parent) == "+" and program.text(added := child(node.parent, "right")).startswith("threadIdx"):
        yield program.edit((node.end_byte, added.end_byte), "", "no thread", 1)


def _row_major(program: Program, node: Node, function: Function) -> Iterator[Edit]:
    """Replace `row * n + col` by `col * n + row`."""
    product, column = sides(node)
    if program.sign(product) != "*" or program.before(node.start_byte) not in ("[", "=", "(", ","):
        return
    row, stride = sides(product)
    positions = program.indices[function]
    if program.text(node).count("*") == 1 and program.words(row) & positions and program.words(column) & positions:
        replacement = f"{program.operand(column)} * {program.text(stride)} + {program.text(row)}"
        tier = 1 if program.text(column).startswith("threadIdx") else 0
        yield program.edit(node, replacement, "row-major", tier)


def other_dimension(program: Program) -> Iterator[Edit]:
    """Replace `row < m` by `row < n`, where both names are visible and the replaced one is not declared or set."""
    for node, function in program.in_device("identifier", "field_identifier"):
        name, is_member = program.text(node), node.type == "field_identifier"
        if not partners(name) or program.declares(node) or (is_member and len(name) == 1):
            continue
        if program.after(node.end_byte) in ("[", "(", "::") or program.before(node.start_byte) == "::":
            continue
        types = {parameter.name: parameter.type for parameter in function.parameters}
        # Single letters that name dimensions are capitals or integer parameters. Others are loop variables or vectors.
        is_letter = len(name) == 1 and name not in "xyij" and not (name.isupper() or types.get(name) in INTEGERS)
        if is_letter or types.get(name, "").endswith("*"):
            continue
        for other in partners(name):
            if not types.get(other, "").endswith("*") and program.known(other, node):
                # Two index variables take the same values, two extents do not.
                is_index = name in program.indices[function] or covers(program.loop_heads, node)
                yield program.edit(node, other, "dimension", 1 if is_index else 0)
                break


_CUTS = re.compile(r"(?<=_)|(?=_)|(?<=[a-z])(?=[A-Z])")
_PARTNERS = (
    ("row", "col"), ("rows", "cols"), ("row", "column"), ("rows", "columns"), ("rows", "classes"), ("height", "width"),
    ("h", "w"), ("m", "n"), ("m", "k"), ("ny", "nx"), ("nz", "ny"), ("by", "bx"), ("ty", "tx"), ("y", "x"), ("y0", "x0"),
    ("i", "j"),
)  # fmt: skip


@lru_cache(maxsize=1024)
def partners(name: str) -> tuple[str, ...]:
    """Return the identifiers that would name the other dimension: outWidth -> outHeight; M -> N, K."""
    names = []
    words = _CUTS.split(name)  # out, Width; NUM, _, ROWS
    for index, word in enumerate(words):
        for pair in _PARTNERS:
            if word.lower() in pair:
                other = pair[1 - pair.index(word.lower())]
                cased = other.upper() if word.isupper() else other.capitalize() if word[0].isupper() else other
                names.append("".join((*words[:index], cased, *words[index + 1 :])))
    return tuple(dict.fromkeys(names))


# ---------------------------------------------------------------------------------------------------- between threads

_BARRIERS = frozenset({"__syncthreads", "__syncwarp", "__barrier_sync", "sync", "barrier_wait", "arrive_and_wait"})
_LAST_STORE_OR_BARRIER = re.compile(rf".*(?:(?P<store>\]\s*\+?=(?!=))|\b(?:{'|'.join(_BARRIERS)})\b)", re.DOTALL)
_SHUFFLES = {"shfl_down": "shfl_up", "shfl_up": "shfl_down", "shfl_xor": "shfl_down"}
_SHUFFLES |= {f"__{name}_sync": f"__{other}_sync" for name, other in _SHUFFLES.items()}
_ATOMICS = {
    "atomicAdd": "{} += {}", "atomicSub": "{} -= {}", "atomicOr": "{} |= {}", "atomicAnd": "{} &= {}", "atomicXor": "{} ^= {}",
    "atomicMax": "{0} = max({0}, {1})", "atomicMin": "{0} = min({0}, {1})",
}  # fmt: skip


def barrier_statements(program: Program) -> Iterator[tuple[str, Node, Function]]:
    """Yield each barrier's name, its statement with the semicolon, and its function."""
    for call, function in program.in_device("call_expression"):
        name, is_free = program.text(callee(call)), child(call, "function").type == "identifier"
        if name in _BARRIERS and call.parent.type == "expression_statement" and not (is_free and name == "sync"):
            yield name, call.parent, function


def drop_syncthreads(program: Program) -> Iterator[Edit]:
    """Remove a barrier: `__syncthreads()`, `__syncwarp()`, or the `sync()` of a cooperative group."""
    for name, statement, function in barrier_statements(program):
        # If threads stored to an array since the last barrier, others may read it too early without this one.
        last = _LAST_STORE_OR_BARRIER.match(program.code, function.body[0], statement.start_byte)
        yield remove_statement(program, statement, name, 0 if last and last["store"] else 1)


def atomic_to_plain(program: Program) -> Iterator[Edit]:
    """Replace `atomicAdd(&x[i], v);` by `x[i] += v;`, so that threads overwrite each other's results."""
    for call, _ in program.in_device("call_expression"):
        name, args = program.text(child(call, "function")), [program.text(each) for each in arguments(call)]
        if name not in _ATOMICS or len(args) != 2 or call.parent.type != "expression_statement":
            continue
        target, value = args
        if target.startswith("&"):
            target = target[1:].lstrip()
        else:
            target = f"*{target}" if target.isidentifier() else f"*({target})"
        yield program.edit(call, _ATOMICS[name].format(target, value), "atomic")


def wrong_shuffle_distance(program: Program) -> Iterator[Edit]:
    """Reduce over half a warp only, or shuffle in the other direction."""
    shuffles = [call for call, _ in program.in_device("call_expression") if program.calls(call, _SHUFFLES)]
    for call in shuffles:
        name = program.text(callee(call))
        for node in arguments(call)[2 if name.startswith("__") else 1 :][:1]:  # the distance
            # An exchange with lane ^ d and a shift by d give the same in lane 0, where most sums are read.
            yield program.edit(callee(call), _SHUFFLES[name], "direction", 1 if "xor" in name else 0)
            text = program.text(node)
            if text.isidentifier() or (text.isdigit() and int(text) > 1):
                yield program.edit(node, program.halved(node), "distance")
    for loop, _ in program.in_device("for_statement"):
        first = initial_value(loop)
        halves = program.text(first) in ("16", "32")
        if halves and any(loop.start_byte < call.start_byte < loop.end_byte for call in shuffles):
            yield program.edit(first, program.halved(first), "first distance")


# --------------------------------------------------------------------------------------------------------- arithmetic

_EXTREMA = (("max", "min"), ("fmaxf", "fminf"), ("fmax", "fmin"), ("atomicMax", "atomicMin"), ("__hmax", "__hmin"))
_CALLS = dict(_EXTREMA) | {smaller: larger for larger, smaller in _EXTREMA}
_ASSIGNED = {"+=": "-=", "-=": "+=", "*=": "+=", "|=": "&=", "^=": "|="}
_BINARY = {"+": "-", "-": "+", "^": "|", "|": "&", "&": "|", "<<": ">>", ">>": "<<"}
_FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_LIMITS = frozenset({"INFINITY", "FLT_MAX", "DBL_MAX", "INT_MAX", "INT_MIN", "HUGE_VALF", "FLT_MIN", "UINT_MAX"})
_ZEROS = {"0": "1", "0.0f": "1.0f", "0.f": "1.f", "0.0": "1.0", "0u": "1u", "0.": "1.", "0ULL": "1ULL", "0f": "1f"}
_EXPONENTIALS = frozenset({"exp", "expf", "__expf", "exp2f"})


def wrong_operator(program: Program) -> Iterator[Edit]:
    """Swap `+` and `-`, `max` and `min`, or `<<` and `>>`, or reverse a comparison of values."""
    for call, _ in program.in_device("call_expression", heads=False):
        if program.calls(call, _CALLS):
            yield program.edit(callee(call), _CALLS[program.text(callee(call))], "extreme")
    for node, function in program.in_device("assignment_expression", "binary_expression", heads=False):
        sign, operator = program.sign(node), child(node, "operator")
        if sign in _ASSIGNED:
            yield program.edit(operator, _ASSIGNED[sign], "assignment", 1 if sign == "*=" else 0)
        elif sign in COMPARISONS and not is_bound(program, node, function):
            yield program.edit(operator, _FLIPPED[sign], "comparison", 1)
        elif sign in _BINARY:
            # In the computation of a subscript or a pointer, this is the same kind of error as a wrong index.
            is_address = _addresses(node) or program.after(operator.end_byte) == "threadIdx"
            yield program.edit(operator, _BINARY[sign], "operator", 1 if is_address or sign not in ("+", "-") else 0)


def _addresses(node: Node) -> bool:
    """Return True if a node is part of a subscript, an array's size, or the value of a pointer."""
    while (node := node.parent) and not node.type.endswith(("statement", "declaration")):
        target = child(node, "declarator") if node.type == "init_declarator" else None
        is_pointer = target is not None and target.type == "pointer_declarator"
        if is_pointer or node.type in ("subscript_argument_list", "array_declarator"):
            return True
    return False


def wrong_initial_value(program: Program) -> Iterator[Edit]:
    """Start a sum at 1 or a maximum at 0, or clear an array with 1."""
    for node, function in program.in_device("identifier", heads=False):
        if program.text(node) not in _LIMITS or program.after(node.end_byte) not in (";", ",", "}", ")"):
            continue
        whole = node.parent if program.text(node.parent).startswith("-") else node
        if program.before(whole.start_byte) in ("=", "{", ":", ",", "("):
            zero = "0" if program.text(node).startswith(("INT", "UINT")) else "0.0f"
            # A softmax does not depend on the maximum that is subtracted from its exponents.
            yield program.edit(whole, zero, "extreme", 2 if program.words(function.body) & _EXPONENTIALS else 0)
    for node, function in program.in_device("number_literal", heads=False):
        wrong = _ZEROS.get(program.text(node))
        before, after = program.before(node.start_byte), program.after(node.end_byte)
        if wrong and before == "=" and after in (";", ","):
            target = child(node.parent, "left") or child(node.parent, "declarator") or node
            name = re.escape(program.text(target))
            later = program.code[node.end_byte : function.body[1]]
            is_sum = re.search(rf"\b{name}\s*(?:[-+*|^]=|\+\+)|\+\+\s*{name}\b", later)
            yield program.edit(node, wrong, "zero", 0 if is_sum or target.type == "subscript_expression" else 1)
        elif wrong and before == ":" and after in (";", ",", ")"):
            yield program.edit(node, wrong, "neutral element", 1)


# ---------------------------------------------------------------------------------------------------------- host code

_LISTS = ("argument_list", "initializer_list", "parameter_list")
_TRANSFER = re.compile(r"(?:cuda|hip)Mem(?:cpy(?:(?:To|From)Symbol)?|(?P<set>set))(?:Async)?")
_DIRECTION = re.compile(r"(cuda|hip)Memcpy(HostToDevice|DeviceToHost)")
_OTHER_WAY = {"HostToDevice": "DeviceToHost", "DeviceToHost": "HostToDevice"}
_BYTES = re.compile(r"(?P<count>.+?)\s*\*\s*sizeof\s*\([^()]*\)|sizeof\s*\([^()]*\)\s*\*\s*(?P<times>.+)", re.DOTALL)


def wrong_launch_size(program: Program) -> Iterator[Edit]:
    """Launch half or twice the threads, one block too few, or no shared memory, or swap grid and block."""
    for launch in program.launches:
        words = program.words(launch.kernel.body) if launch.kernel else set()
        for function in program.functions:  # add the words of the functions that the kernel calls
            if not function.is_kernel and function.name in words:
                words |= program.words(function.body)
        strides, shares = "gridDim" in words, "__shared__" in words  # with a grid stride, any grid works
        flexible = "blockDim" in words and (strides or "blockIdx" not in words)
        if launch.shared is not None and program.text(launch.shared) != "0":
            yield program.edit(launch.shared, "0", "no shared memory")
        yield from _exchanged(program, [launch.grid, launch.block], "swapped", 1 if strides and not shares else 0)
        for part in _dimensions(program, launch.block)[:2]:
            text = program.text(part)
            twice = str(int(text) * 2) if text.isdigit() else f"{program.operand(part)} * 2"
            if text not in ("0", "1"):
                guarded = "blockDim" in words and not shares
                yield program.edit(part, program.halved(part), "half the block", 2 if flexible else 0)
                yield program.edit(part, twice, "twice the block", 2 if guarded or flexible else 1)
        for part in _dimensions(program, launch.grid):
            if program.text(part) not in ("0", "1"):
                fewer = f"{program.operand(part, '+-*/%')} - 1"
                yield program.edit(part, fewer, "a block too few", 2 if strides else 0)


def _dimensions(program: Program, node: Node) -> list[Node]:
    """Return the components of a launch dimension.

    These are the arguments of `dim3(a, b)` or of a dim3 variable's last definition before the launch. For any other
    expression it is the expression itself.
    """
    if node.type == "call_expression" and program.text(child(node, "function")) == "dim3":
        return arguments(node)
    name, result = program.text(node), [node]
    for variable, components in _dim3_variables(program):
        if program.text(variable) == name and variable.start_byte < node.start_byte:
            result = components
    return result


def _dim3_variables(program: Program) -> Iterator[tuple[Node, list[Node]]]:
    """Yield name and components of dim3 variables, as in `dim3 a(x, y), b{x, y}, c = dim3(x, y), d = {x, y}`."""
    for declaration in program.nodes("declaration"):
        if program.text(child(declaration, "type")) == "dim3":
            for node in declarators(declaration):
                value = child(node, "value") or child(node, "parameters")  # `dim3 a(x, y)` may be parsed as a function
                if value is not None and value.type == "call_expression":
                    value = child(value, "arguments")
                yield child(node, "declarator") or node, items(value) if value and value.type in _LISTS else []


def swapped_dims(program: Program) -> Iterator[Edit]:
    """Swap x and y of a dim3, or rows and columns in a kernel's arguments, or use the other dimension's name."""
    for _, components in _dim3_variables(program):
        yield from _exchanged(program, components, "dim3")
    for call in program.nodes("call_expression"):
        if program.text(child(call, "function")) == "dim3":
            yield from _exchanged(program, arguments(call), "dim3")
    for launch in program.launches:
        if launch.kernel and len(launch.kernel.parameters) == len(launch.arguments):
            pairs = zip(launch.arguments, launch.kernel.parameters, strict=True)
            integers = [argument if parameter.type in INTEGERS else None for argument, parameter in pairs]
            yield from _exchanged(program, integers, "arguments")
    yield from other_dimension(program)


def _exchanged(program: Program, nodes: list[Node | None], variant: str, tier: int = 0) -> Iterator[Edit]:
    """Swap two neighbours, for each pair of neighbours that differ. None stands for a node that must not move."""
    for first, second in pairwise(nodes):
        if first and second and program.text(first) != program.text(second):
            both = (first.start_byte, second.end_byte)
            yield program.edit(both, f"{program.text(second)}, {program.text(first)}", variant, tier)


def _transfers(program: Program) -> Iterator[tuple[Node, re.Match[str]]]:
    """Yield the copies and fills of host code, each with the match of its function's name."""
    for call in program.nodes("call_expression"):
        name = _TRANSFER.fullmatch(program.text(child(call, "function")))
        if name and program.device_function(call) is None:
            yield call, name


def dropped_memcpy_or_memset(program: Program) -> Iterator[Edit]:
    """Leave out a copy or a fill with its error check, or pass success to the check."""
    for call, name in _transfers(program):
        # A missing fill is harder to see, because fresh memory is often zero by luck.
        variant, tier = ("memset", 1) if name["set"] else ("memcpy", 0)
        outer = call
        while outer.parent.type == "argument_list" and items(outer.parent)[0] == outer:
            outer = outer.parent.parent
        if outer.parent.type == "expression_statement":
            yield remove_statement(program, outer.parent, variant, tier)
        else:
            yield program.edit(call, "hipSuccess" if name[0].startswith("hip") else "cudaSuccess", variant, tier)


def wrong_memcpy_size_or_direction(program: Program) -> Iterator[Edit]:
    """Copy half of the bytes, give a number of elements instead of bytes, or swap device and host."""
    for call, name in _transfers(program):
        for index, argument in enumerate(arguments(call)[2:]):
            text, half = program.text(argument), f"{program.operand(argument)} / 2"
            if index == 0:
                if product := _BYTES.fullmatch(text):
                    yield program.edit(argument, product["count"] or product["times"], "elements for bytes")
                yield program.edit(argument, half, "half the bytes", 1 if name["set"] else 0)
            elif direction := _DIRECTION.fullmatch(text):
                yield program.edit(argument, f"{direction[1]}Memcpy{_OTHER_WAY[direction[2]]}", "direction")


# The order in which the operators take turns in make_mutants.
_IN_TURN = (
    bound_off_by_one, drop_syncthreads, wrong_index, wrong_launch_size, swapped_dims, wrong_operator, drop_boundary_check,
    wrong_initial_value, atomic_to_plain, wrong_shuffle_distance, dropped_memcpy_or_memset, wrong_memcpy_size_or_direction,
)  # fmt: skip
OPERATORS: dict[str, Callable[[Program], Iterator[Edit]]] = {operator.__name__: operator for operator in _IN_TURN}
