"""How one program is written: its names, comments and habits, drawn at random and kept through the program."""

import random
import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any

import yaml


@cache
def wording() -> dict[str, Any]:
    """wording.yaml: the pools that names, comments and prompts are drawn from."""
    return yaml.safe_load(files(__package__).joinpath("wording.yaml").read_text(encoding="utf-8"))


_IN_KERNELS = {
    "guard", "position", "load", "source", "store", "staged", "sync", "neighbour", "epilogue", "reduce", "stride",
}  # fmt: skip
FLAWS = ("guard", "bound", "index", "sync")
_BRACE = re.compile(r"^( *)(.*\S) \{$", re.MULTILINE)


class Style(dict[str, str]):
    """The habits of one program. `style["rows"]` is the program's name for rows: drawn when first asked for, never used twice.

    flaw: one of FLAWS, for programs of the pretraining corpus that are wrong; None writes right programs.
    """

    def __init__(self, rng: random.Random, flaw: str | None = None) -> None:
        super().__init__()
        self.rng, self.flaw = rng, flaw
        self.camel = rng.random() < 0.4
        # of comments: elsewhere, in kernels
        self.density = rng.choice((0.0, 0.2, 0.4, 0.8)), rng.choice((0.0, 0.5, 0.8, 1.0))
        self.block_comments = rng.random() < 0.15
        self.indent = rng.choice((2, 4, 4))
        self.allman = rng.random() < 0.2
        self.const = "const " if rng.random() < 0.6 else ""
        self.two_steps = rng.random() < 0.4  # the thread's index as block's first plus thread
        self.returns = rng.random() < 0.5  # `if (outside) return;` rather than `if (inside) { ... }`

    def __missing__(self, role: str) -> str:
        first, *rest = self.rng.choice(wording()["names"][role]).split()
        if self.rng.random() < 0.12:
            rest.append(made_up_word(self.rng))
        name = first + "".join(map(str.capitalize, rest)) if self.camel else "_".join((first, *rest))
        while name in self.values():
            name += self.rng.choice(("0", "1", "_", "x"))
        self[role] = name
        return name

    def flip(self, share: float = 0.5) -> bool:
        return self.rng.random() < share

    def pick(self, *options: Any) -> Any:
        return self.rng.choice(options)

    def say(self, place: str, depth: int = 1) -> str | None:
        """A comment line, or None where this program has none."""
        if self.rng.random() >= self.density[place in _IN_KERNELS]:
            return None
        text = self.rng.choice(wording()["comments"][place])
        if self.rng.random() < (0.1 if place in _IN_KERNELS else 0.4):  # what only an author knows
            word, number = made_up_word(self.rng), self.rng.randint(1, 999)
            text = self.pick(
                f"TODO({word}): {text}", f"{text} (#{number})", f"{text}, see {word}.h", f"{word}: {text}"
            )
        return "    " * depth + (f"/* {text} */" if self.block_comments else f"// {text}")

    def layout(self, lines: Iterable[str | None]) -> str:
        """Lines (indented by four, None left out) as the program's text."""
        text = "\n".join(line for line in lines if line is not None)
        if self.allman:
            text = _BRACE.sub(r"\1\2\n\1{", text)
        if self.indent == 2:
            text = re.sub(r"^(?:    )+", lambda found: " " * (len(found[0]) // 2), text, flags=re.MULTILINE)
        return text


def made_up_word(rng: random.Random) -> str:
    """A word of five letters that is no keyword, such as `velor`: names cannot all come from a list."""
    return "".join(map(rng.choice, ("bdfgklmnprstvz", "aeiou", "bdfgklmnprstvz", "aeiou", "klmnrst")))


def indented(lines: Iterable[str | None]) -> list[str | None]:
    return [line and f"    {line}" for line in lines]
