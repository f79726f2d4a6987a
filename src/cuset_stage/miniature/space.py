"""The tasks of the miniature: which combinations of factors are valid, which pairs are held out, and how they are split.

A task takes two matrices x and y: a first kernel combines them element by element (operation, index map), the next ones change each
element by its neighbours (steps), the last one finishes the values (epilogue). The other factors say how: element type, storage, thread block, and the memory that the first kernel goes through.
"""

import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from itertools import product


FACTORS = {
    "operation": ("weighted", "axpy", "absdiff", "product", "maximum", "sqdiff"),
    "type": ("float32", "float64", "int32"),
    "layout": ("row", "column", "padded"),
    "map": ("identity", "reverse", "flip", "shift", "transpose"),
    "block": ("256", "16x16", "32x8"),
    "memory": ("global", "shared", "readonly", "constant"),
    "epilogue": ("bias_relu", "clamp", "row_sum", "row_max"),
}

HELD_OUT = (
    (("operation", "absdiff"), ("map", "shift")),
    (("type", "float64"), ("epilogue", "row_max")),
    (("layout", "padded"), ("memory", "readonly")),
    (("map", "reverse"), ("block", "32x8")),
    (("operation", "product"), ("epilogue", "clamp")),
)
"""Pairs of factor values that no training task, development task or pretraining document has together."""


@dataclass(frozen=True)
class Task:
    """A combination of factors with its constants: result = epilogue(steps(operation(x[map], y))).

    a, b: factors of weighted and axpy. shift: columns of the cyclic shift. limit: of the clamp. A constant that the factors do not use
    is 0, so that equal tasks are equal. depth: how many steps with neighbours. extra: the second of them, that of any operation; "" for none.
    """

    operation: str
    type: str
    layout: str
    map: str
    block: str
    memory: str
    epilogue: str
    a: int = 0
    b: int = 0
    shift: int = 0
    limit: int = 0
    depth: int = 1
    extra: str = ""

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps with neighbours between operation and epilogue; each operation has one of its own."""
        return (self.operation, self.extra)[: self.depth]

    @property
    def factors(self) -> tuple[str, ...]:
        """The values of FACTORS, in its order."""
        return tuple(getattr(self, name) for name in FACTORS)

    @property
    def id(self) -> str:
        constants = [f"{name}{value}" for name, value in asdict(self).items() if isinstance(value, int) and value]
        return "-".join([*self.factors, *constants, *([f"then_{self.extra}"] if self.extra else [])])

    @property
    def transposed(self) -> bool:
        return self.map == "transpose"

    @property
    def cpp(self) -> str:
        """The element type as CUDA C++ writes it."""
        return {"float32": "float", "float64": "double", "int32": "int"}[self.type]

    def has(self, pair: tuple[tuple[str, str], tuple[str, str]]) -> bool:
        return all(getattr(self, name) == value for name, value in pair)


def is_valid(task: Task) -> bool:
    """Coefficients are needed for constant memory, and a transposition through a tile needs a square block."""
    if task.memory == "constant" and task.operation not in ("weighted", "axpy"):
        return False
    return not task.transposed or task.block == "16x16" or (task.block == "32x8" and task.memory != "shared")


@cache
def combinations() -> tuple[Task, ...]:
    """All valid combinations, without constants, in the order of FACTORS."""
    return tuple(task for values in product(*FACTORS.values()) if is_valid(task := Task(*values)))


def with_constants(task: Task, rng: random.Random, depths: Sequence[int]) -> Task:
    """The combination with constants drawn where it needs them. depths: steps with neighbours, 0 to 2, of which one is drawn."""
    constants = {
        "a": rng.randint(2, 9) if task.operation in ("weighted", "axpy") else 0,
        "b": rng.randint(2, 9) if task.operation == "weighted" else 0,
        "shift": rng.randint(1, 9) if task.map == "shift" else 0,
        "limit": rng.choice((5, 8, 10, 12, 20, 25, 40, 50)) if task.epilogue == "clamp" else 0,
    }
    depth = rng.choice(depths)
    return Task(*task.factors, **constants, depth=depth, extra=rng.choice(FACTORS["operation"]) if depth == 2 else "")


@dataclass(frozen=True)
class Split:
    """Disjoint tasks. depths: of `with_constants`. train: also what pretraining draws from. held_out: within distribution; compositional: exactly one held-out pair."""

    depths: tuple[int, ...]
    train: tuple[Task, ...]
    development: tuple[Task, ...]
    held_out: tuple[Task, ...]
    compositional: tuple[Task, ...]


def split_tasks(
    seed: int, development: int = 100, held_out: int = 150, compositional: int = 150, depths: Sequence[int] = (2,)
) -> Split:
    """Tasks by a seed. No combination is in two parts; the compositional tasks have equally many of each pair of HELD_OUT."""
    rng = random.Random(f"miniature/split/{seed}")
    pairs = {task: [pair for pair in HELD_OUT if task.has(pair)] for task in combinations()}
    seen = [task for task, found in pairs.items() if not found]
    rng.shuffle(seen)
    chosen: list[Task] = []
    for number, pair in enumerate(HELD_OUT):
        only = [task for task, found in pairs.items() if found == [pair]]
        chosen += rng.sample(only, compositional // len(HELD_OUT) + (number < compositional % len(HELD_OUT)))
    parts = (seen[development + held_out :], seen[:development], seen[development : development + held_out], chosen)
    return Split(tuple(depths), *(tuple(with_constants(task, rng, depths) for task in part) for part in parts))
