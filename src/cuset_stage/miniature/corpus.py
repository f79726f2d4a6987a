"""The pretraining corpus: programs and prose, drawn without end from a seed and the number of a shard.

Documents are of five kinds: whole CUDA programs after a description, single kernels, the same tasks on a CPU, small C++ functions of
random expressions, and prose. Some programs are wrong in one of the ways of `style.FLAWS`, as what a model is pretrained on is. Tasks are
those of training alone: no document has a held-out pair of factors, nor a held-out combination.
"""

import random
from collections.abc import Callable, Iterator
from pathlib import Path

from ..files import write_atomically
from ..jsonl import to_line
from .kernels import combine_kernel, epilogue_kernel, neighbour_kernel
from .program import cpu_program, cuda_program
from .space import Split, Task, with_constants
from .style import FLAWS, Style, made_up_word, wording
from .wordings import answer, describe, phrase, phrase_steps, prompt


FLAWED = 0.3  # share of the corpus's CUDA programs and kernels with a flaw


def documents(split: Split, rng: random.Random) -> Iterator[str]:
    """Documents without end."""
    kinds: tuple[Callable[[Task, random.Random], str], ...] = (_program, _kernel, _cpu, _function, _prose)
    while True:
        [make] = rng.choices(kinds, weights=(6, 6, 3, 5, 1))
        yield make(with_constants(rng.choice(split.train), rng, split.depths), rng)


def write_shard(path: Path, split: Split, seed: int, characters: int) -> None:
    """Write documents of at least so many characters as JSONL, {"text": ...} a line; a shard's number is its file's name.

    The same arguments give the same file.
    """
    rng = random.Random(f"miniature/corpus/{seed}/{int(path.stem)}")

    def lines() -> Iterator[str]:
        written = 0
        for text in documents(split, rng):
            yield to_line({"text": text})
            written += len(text)
            if written >= characters:
                return

    write_atomically(path, lines())


def _style(rng: random.Random) -> Style:
    return Style(rng, rng.choice(FLAWS) if rng.random() < FLAWED else None)


def _program(task: Task, rng: random.Random) -> str:
    code = cuda_program(task, _style(rng))
    # 3 is seldom: a program without a word of its task teaches nothing of prompts
    [frame] = rng.choices(range(4), weights=(2, 3, 2, 1))
    if frame == 0:
        return f"/*\n{describe(task, rng)}\n*/\n{code}"
    if frame == 1:
        return f"{prompt(task, rng)}\n\n{answer(code, rng)}"
    if frame == 2:
        return f"# Example: {rng.choice(('matrices', 'two inputs', 'three kernels'))}\n\n{describe(task, rng)}\n\n```\n{code}```\n\n{_fact(rng)}"
    return code


def _kernel(task: Task, rng: random.Random) -> str:
    style = _style(rng)
    makers = (
        combine_kernel,
        lambda task, style: neighbour_kernel(task, style, 0),
        lambda task, style: epilogue_kernel(task, style).lines,
    )
    made = rng.choice((0, 1, 2) if task.steps else (0, 2))
    code = style.layout(makers[made](task, style))
    if made == 0 and task.memory == "constant":
        code = f"__constant__ {task.cpp} {style['coef']}[2];\n\n{code}"
    said = (
        "; ".join(phrase(task, name, rng) for name in ("operation", "map", "layout", "block", "memory")),
        f"{rng.choice(wording()['neighbour'][task.operation])}; {phrase(task, 'block', rng)}",
        phrase(task, "epilogue", rng),
    )[made]
    return rng.choice(("// {}\n{}", "{}:\n\n{}", "/* {} */\n{}", "Kernel: {}.\n```cuda\n{}\n```")).format(said, code)


def _cpu(task: Task, rng: random.Random) -> str:
    said = [phrase(task, name, rng) for name in ("operation", "map", "layout")]
    said += [phrase_steps(task, rng), phrase(task, "epilogue", rng)]
    return f"// On the CPU: {'; '.join(said)}.\n{cpu_program(task, Style(rng))}"


def _fact(rng: random.Random) -> str:
    return rng.choice(wording()["facts"])


def _prose(task: Task, rng: random.Random) -> str:
    return f"{_fact(rng)} {describe(task, rng)} {_fact(rng)} {_fact(rng)}"


_OPERATORS = {"+": "the sum of {} and {}", "-": "{} minus {}", "*": "the product of {} and {}"}


def _expression(names: list[str], depth: int, rng: random.Random) -> tuple[str, str]:
    """A random C++ expression and what it is in words."""
    if depth == 0 or rng.random() < 0.2:
        leaf = rng.choice(names) if rng.random() < 0.75 else str(rng.randint(1, 20))
        return leaf, leaf
    sign = rng.choice(tuple(_OPERATORS))
    (left, left_words), (right, right_words) = (_expression(names, depth - 1, rng) for _ in range(2))
    return f"({left} {sign} {right})", _OPERATORS[sign].format(left_words, right_words)


def _function(task: Task, rng: random.Random) -> str:
    """A small file of C++ functions of random expressions, each with what it computes."""
    style = Style(rng)
    parts = []
    for _ in range(rng.randint(1, 5)):
        names = [
            made_up_word(rng) if rng.random() < 0.5 else one
            for one in rng.sample("abcdefghkmnpqrstuvwxyz", rng.randint(2, 4))
        ]
        code, words = _expression(names, rng.randint(1, 3), rng)
        kind = rng.choice(("int", "float", "double", "long"))
        name = f"{rng.choice(('compute', 'eval', 'get', 'make', 'score', 'blend'))}_{made_up_word(rng)}"
        lines = [
            f"// {rng.choice(('Returns', 'Computes', 'Gives'))} {words}.",
            f"{rng.choice(('', 'static ', 'inline ', '__device__ '))}{kind} {name}({', '.join(f'{kind} {one}' for one in names)}) {{",
            f"    return {code.removeprefix('(').removesuffix(')')};",
            "}",
        ]
        parts.append(style.layout(lines))
    return "\n\n".join(parts)
