"""SPDX expressions: the many ways of writing a licence's name, `A OR B AND C WITH exception`, and whether a row may be used under one.

What is not recognised is a name that nobody knows; its text is kept for the report. Standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import NamedTuple


UNKNOWN = "unknown"
_NOTHING = {"", "unknown", "none", "other", "noassertion", "na", "null", "nil", "nan"}  # words that state no licence


def _bare(name: str) -> str:
    """Letters and digits of a name, without the words that say nothing: `Apache License, Version 2.0` -> apache20."""
    return re.sub(r"[^a-z0-9]", "", re.sub(r"\b(?:the|licen[cs]e|version)\b|\bv(?=\.?\s*\d)", "", name.lower()))


_GNU = ("AGPL-1.0", "AGPL-3.0", "GPL-1.0", "GPL-2.0", "GPL-3.0", "LGPL-2.0", "LGPL-2.1", "LGPL-3.0")
_GNU += ("GFDL-1.1", "GFDL-1.2", "GFDL-1.3")  # SPDX has -only and -or-later of each
_OTHERS = """
Apache-1.1 Apache-2.0 MIT MIT-0 X11 BSD-1-Clause BSD-2-Clause BSD-2-Clause-Patent BSD-3-Clause BSD-3-Clause-Clear BSD-4-Clause
0BSD ISC Zlib BSL-1.0 Unlicense CC0-1.0 PDDL-1.0 ODC-By-1.0 ODbL-1.0 MPL-1.1 MPL-2.0 EPL-1.0 EPL-2.0 EUPL-1.2 CDDL-1.0 CDDL-1.1
NCSA WTFPL Artistic-1.0 Artistic-2.0 PSF-2.0 Python-2.0 PostgreSQL HPND MS-PL MS-RL UPL-1.0 MulanPSL-2.0 AFL-3.0 OSL-3.0 ECL-2.0
CECILL-2.1 CECILL-B CECILL-C OFL-1.1 Ruby curl
"""
_CC = [
    f"CC-BY{kind}-{v}" for kind in ("", "-SA", "-NC", "-ND", "-NC-SA", "-NC-ND") for v in ("2.0", "2.5", "3.0", "4.0")
]
# The identifiers whose spelling we know, by their letters and digits alone.
_IDS = {_bare(identifier): identifier for identifier in (*_GNU, *_CC, *_OTHERS.split())}
_NAMES = {
    **dict.fromkeys(("apache", "apache2", "apachesoftware", "apachesoftware20"), "Apache-2.0"),
    "expat": "MIT",
    **dict.fromkeys(("bsd", "bsd3", "newbsd", "modifiedbsd", "bsd3clauseneworrevised"), "BSD-3-Clause"),
    **dict.fromkeys(("bsd2", "simplifiedbsd", "bsd2clausesimplified"), "BSD-2-Clause"),
    **dict.fromkeys(("boost", "boostsoftware10"), "BSL-1.0"),
    "ccby4": "CC-BY-4.0",
    **dict.fromkeys(("cc0", "cc010universal", "creativecommonszero10universal"), "CC0-1.0"),
    **dict.fromkeys(("mpl2", "mozillapublic20"), "MPL-2.0"),
    "eclipsepublic20": "EPL-2.0",
}
_LONG = {"gnugeneralpublic": "gpl", "gnulessergeneralpublic": "lgpl", "gnulibrarygeneralpublic": "lgpl"}
_LONG |= {"gnuafferogeneralpublic": "agpl", "gnufreedocumentation": "gfdl", "gnu": ""}
# Exceptions that SPDX lists; they permit more. Another rider (the Commons Clause) may take away, so it makes the whole unknown.
_EXCEPTIONS = re.compile(
    r"(?:llvm|classpath|gcc|bison|autoconf|font|libtool|ocaml-lgpl-linking|qt-gpl|qt-lgpl|universal-foss|u-boot|wxwindows|lzma|ecos"
    r"|fltk|swift|openjdk-assembly|bootloader|llgpl|libpri-openh323|gpl-3\.0-linking|lgpl-3\.0-linking)[- ]exceptions?(?:-[\d.]+)?"
    r"|linux-syscall-note",
    re.IGNORECASE,
)
_LATER = r"or[-\s]+(?:any[-\s]+)?(?:later|newer)(?:[-\s]+versions?)?"
_OR_LATER = re.compile(rf"\s*\(\s*{_LATER}\s*\)|[-,\s]+{_LATER}(?![-\w])", re.IGNORECASE)


class _Name(NamedTuple):
    """One licence of an expression. base: what it counts as where it is allowed (`X` of `X WITH exception`)."""

    text: str
    base: str
    known: bool


class _Group(NamedTuple):
    operator: str
    parts: tuple[_Name | _Group, ...]


def spdx(name: str) -> str:
    """A licence as an SPDX expression; a name that nobody knows stays as it is, one that says nothing is `unknown`."""
    return UNKNOWN if re.sub(r"[^a-z0-9]", "", name.lower()) in _NOTHING else _written(_parse(name.strip()))


def all_of(names: Iterable[str]) -> str:
    """The expression of licences that apply together, each once; `unknown` when one of them is, or there is none."""
    nodes = {_written(node): node for node in map(_parse, sorted({spdx(name) for name in names}))}
    if not nodes or UNKNOWN in nodes:
        return UNKNOWN
    return _written(_group("AND", list(nodes.values())))


@lru_cache(maxsize=4096)
def _parse(text: str) -> _Name | _Group:
    """The tree of an expression; a text that is none is one name that nobody knows."""
    whole = _name(text)
    if whole.known:
        return whole
    choices = text.split("/")
    if len(choices) > 1 and all(_name(choice).known for choice in choices):  # MIT/Apache-2.0
        return _group("OR", [_name(choice) for choice in choices])
    tokens = re.findall(r"[()]|[^()\s]+", _OR_LATER.sub("+", text))
    if len(tokens) > 100:
        return whole
    try:
        tree = _either(tokens)
    except ValueError:
        return whole
    return whole if tokens or (isinstance(tree, _Name) and not tree.known) else tree


def _either(tokens: list[str]) -> _Name | _Group:
    return _joined(tokens, "OR", _both)


def _both(tokens: list[str]) -> _Name | _Group:
    return _joined(tokens, "AND", _one)


def _joined(tokens: list[str], word: str, read: Callable[[list[str]], _Name | _Group]) -> _Name | _Group:
    """What `read` takes from the tokens, and again behind each `word`."""
    parts = [read(tokens)]
    while tokens and tokens[0].upper() == word:
        tokens.pop(0)
        parts.append(read(tokens))
    return _group(word, parts)


def _one(tokens: list[str]) -> _Name | _Group:
    if tokens and tokens[0] == "(":
        tokens.pop(0)
        inside = _either(tokens)
        if not tokens or tokens.pop(0) != ")":
            raise ValueError("a bracket without its other half")
        return inside
    name = _parse_slashes(_words(tokens))
    if tokens and tokens[0].lower() == "with":
        tokens.pop(0)
        rider = _words(tokens)
        text = f"{_written(name, inside=True)} WITH {rider}"
        is_more = isinstance(name, _Name) and name.known and _EXCEPTIONS.fullmatch(rider) is not None
        return _Name(text, name.text if isinstance(name, _Name) and is_more else text, is_more)
    return name


def _words(tokens: list[str]) -> str:
    words = []
    while tokens and tokens[0].lower() not in ("(", ")", "and", "or", "with"):
        words.append(tokens.pop(0))
    if not words:
        raise ValueError("a name was expected")
    return " ".join(words)


def _parse_slashes(text: str) -> _Name | _Group:
    names = [_name(choice) for choice in text.split("/")]
    return _group("OR", names) if all(name.known for name in names) else _name(text)


def _name(text: str) -> _Name:
    """One licence by its identifier or one of its names."""
    text = text.strip()
    name = _OR_LATER.sub("+", text).strip()
    is_later, name = name.endswith("+"), name.rstrip("+ ")
    bare = _bare(name)
    for long, short in _LONG.items():
        if bare.startswith(long):
            bare = short + bare.removeprefix(long)
            break
    is_only = bare.endswith("only")
    bare = bare.removesuffix("only")
    bare = re.sub(r"(?<=gpl)([123])\Z", r"\g<1>0", re.sub(r"(?<=gpl)v(?=\d)", "", bare))
    found = _IDS.get(bare) or _NAMES.get(bare)
    if found is None or "+" in name or (is_only and (found not in _GNU or is_later)):
        return _Name(text, text, known=False)
    if found in _GNU:
        found += "-or-later" if is_later else "-only"
        return _Name(found, found, known=True)
    return _Name(found + "+" * is_later, found, known=True)


def _group(operator: str, parts: list[_Name | _Group]) -> _Name | _Group:
    flat: list[_Name | _Group] = []
    for part in parts:
        flat += part.parts if isinstance(part, _Group) and part.operator == operator else [part]
    return flat[0] if len(flat) == 1 else _Group(operator, tuple(flat))


def _written(node: _Name | _Group, *, inside: bool = False) -> str:
    if isinstance(node, _Name):
        return node.text
    text = f" {node.operator} ".join(_written(part, inside=True) for part in node.parts)
    return f"({text})" if inside else text


def is_allowed(licence: str, allowed: Iterable[str], *, allow_unknown: bool) -> bool:
    """Whether a row may be used: of `A AND B` each part must be, of `A OR B` one.

    Nothing allowed means everything known is. A name that nobody knows is allowed by that name, or with what is unknown.
    """
    wanted = {spdx(name).casefold() for name in allowed}

    def permits(node: _Name | _Group) -> bool:
        if isinstance(node, _Group):
            return (any if node.operator == "OR" else all)(permits(part) for part in node.parts)
        if {node.text.casefold(), node.base.casefold()} & wanted:
            return True
        return not wanted if node.known else allow_unknown

    return _written(_parse(licence)).casefold() in wanted - {UNKNOWN} or permits(_parse(licence))


def is_known(licence: str) -> bool:
    """Whether a licence is one that we know, or leaves the choice of one."""
    return is_allowed(licence, (), allow_unknown=False)
