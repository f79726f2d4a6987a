"""Find the reasoning tags of an answer and the endings that belong to them."""

import re
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple


MARKS_LIMIT = 100_000  # fences and tags that are read, of each kind
# Pairs of the tag that opens reasoning and the tag that ends it.
_NAMES = "think thinking thought thoughts reasoning reflection scratchpad analysis seed:think"
REASONING_TAGS: tuple[tuple[str, str], ...] = (
    *((f"<{name}>", f"</{name}>") for name in _NAMES.split()),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|channel>thought", "<channel|>"),
    ("<|channel|>analysis<|message|>", "<|channel|>final<|message|>"),
)
# The channel tags do not nest like brackets: one ending closes all analysis before it, however many parts that has.
_CHANNEL = len(REASONING_TAGS) - 1
# Tag -> the index of its pair in REASONING_TAGS, as the bitwise complement (a negative number) for an ending.
_KIND = {
    tag.lower(): kind if opens else ~kind
    for kind, pair in enumerate(REASONING_TAGS)
    for tag, opens in zip(pair, (True, False), strict=True)
}


def _any_of(tags: Iterable[str]) -> str:
    # The pattern starts with the first character alone, which makes the search fast. [THINK] must be in capitals: it
    # is a special token of Mistral's models, while "[Think] of ..." is prose.
    tags = [re.escape(tag) for tag in tags]
    by_first = {
        first: "|".join(tag.removeprefix(first) for tag in tags if tag.startswith(first)) for first in ("<", "◁")
    }
    capitals = "|".join(tag.removeprefix(r"\[") for tag in tags if tag.startswith(r"\["))
    others = "|".join(rf"(?<={first})(?=[/|\w])(?i:{rest})" for first, rest in by_first.items())
    return rf"[<\[◁](?:{others}|(?<=\[)(?:{capitals}))"


_TAG = re.compile(_any_of(tag for pair in REASONING_TAGS for tag in pair))
ENDING_BEHIND = re.compile(rf"[ \t]*+(?={_any_of(ending for _, ending in REASONING_TAGS)})")


def open_reasoning(prompt: str) -> str:
    """Return the reasoning tag that the chat template opens at the end of a prompt, or "" where there is none.

    The model's text after such a prompt has no opening tag of its own. Callers put this tag in front of it, because
    without one, reasoning that is cut off could not be told from an answer.
    """
    tail = prompt.rstrip()
    return next((opening for opening, _ in REASONING_TAGS if tail.endswith(opening)), "")


class Tag(NamedTuple):
    """A reasoning tag.

    Attributes:
        start: index of its first character, or of the blanks before it where it begins its line.
        end: index after its last character.
        kind: its value in `_KIND`, negative for an ending.
        begins: whether it begins its line.
    """

    start: int
    end: int
    kind: int
    begins: bool


def find_tags(text: str, end: int) -> list[Tag]:
    """Return the reasoning tags before `end`, without those that are only mentioned."""
    tags, behind = [], 0  # the end of the last tag
    for match in islice(_TAG.finditer(text, 0, end), MARKS_LIMIT):
        start, stop = match.span()
        if not _is_mention(text, start, stop):
            line = text.rfind("\n", behind, start) + 1 or behind
            begins = (line == 0 or text[line - 1] == "\n") and not text[line:start].strip(" \t")
            tags.append(Tag(line if begins else start, stop, _KIND[match[0].lower()], begins))
            behind = stop
    return tags


def find_partners(text: str, tags: list[Tag]) -> list[int]:
    """Return, for each tag, the index of the tag that ends it: -1 for endings, and for openings that nothing ends."""
    # Stacks of open tags by kind. `balanced` counts every opening, `likely` also marks those that may not count.
    balanced, likely = ([[] for _ in REASONING_TAGS] for _ in range(2))
    exact, partners = ([-1] * len(tags) for _ in range(2))
    for number, tag in enumerate(tags):
        if (kind := tag.kind) >= 0:
            before = tags[number - 1] if number else None
            doubled = before and before.kind == kind and not text[before.end : tag.start].strip()
            balanced[kind].append(number)
            likely[kind].append((number, tag.begins and not doubled and kind != _CHANNEL))
            continue
        kind = ~kind
        if balanced[kind] and kind != _CHANNEL:
            exact[balanced[kind].pop()] = number
        while likely[kind]:  # this tag ends the last opening that counts, and the later ones that do not count
            opening, counts = likely[kind].pop()
            partners[opening] = number
            if counts:
                break
    partners = [certain if certain >= 0 else likely for certain, likely in zip(exact, partners, strict=True)]
    # An opening that is left may be ended by a tag of another kind, if that tag ends nothing else.
    taken, wrong = set(partners), -1
    for number in reversed(range(len(tags))):
        if tags[number].kind < 0 and number not in taken:
            wrong = number
        elif tags[number].kind >= 0 and partners[number] < 0 and tags[number].begins:
            partners[number] = wrong
    return partners


def _is_mention(text: str, start: int, end: int) -> bool:
    """Return whether a tag is only mentioned: in a literal, between quotes, or directly after an opening quote."""
    before = text[max(0, start - 300) : start].rpartition("\n")[2]
    if (before.count('"') - before.count('\\"')) % 2 and '"' in text[end : end + 300].partition("\n")[0]:
        return True
    quote = text[start - 1 : start]
    if not quote or quote not in "\"'`" or text[start - 3 : start] == "```":
        return False
    return text[end : end + 1] == quote or text[start - 2 : start - 1] in (*" \t\n([{=,<+:", "")
