"""Licences: their many names as SPDX expressions, what a source or a folder says of itself, and whether a row may be used.

license-expression parses expressions and knows SPDX's identifiers; the names that people write beside them, and the marks by which a
text is known, are ours. What is not recognised is unknown, and unknown is left out unless the user says otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import Path

from license_expression import ExpressionError, LicenseSymbol, LicenseWithExceptionSymbol, Licensing, get_license_index

from ..settings import read_yaml


UNKNOWN = "unknown"
_NOTHING = {"", "unknown", "none", "other", "noassertion", "na", "null", "nil", "nan"}  # words that state no licence

# ------------------------------------------------------------------------------------------------------------ names

_DATA = read_yaml(Path(__file__).with_name("licences.yaml"))
_NAMES = {name: identifier for identifier, names in _DATA["names"].items() for name in names}
_LATER = r"or[-\s]+(?:any[-\s]+)?(?:later|newer)(?:[-\s]+versions?)?"
_OR_LATER = re.compile(rf"\s*\(\s*{_LATER}\s*\)|[-,\s]+{_LATER}(?![-\w])", re.IGNORECASE)
_LICENSING = Licensing()  # that knows no name: words between operators are one


def _bare(name: str) -> str:
    """Letters, digits and `+` of a name, without the words that say nothing: `Apache License, Version 2.0` -> apache20."""
    return re.sub(r"[^a-z0-9+]", "", re.sub(r"\b(?:the|licen[cs]e|version)\b|\bv(?=\.?\s*\d)", "", name.lower()))


@cache
def _spdx_names() -> tuple[dict[str, str], frozenset[str]]:
    """Licences by the letters of their names, also those that SPDX had for them before; SPDX's exceptions."""
    identifiers: dict[str, str] = {}
    exceptions = set()
    for entry in get_license_index():
        keys = [entry["spdx_license_key"], *entry["other_spdx_license_keys"]]
        keys = [key for key in keys if key and not key.startswith("LicenseRef")]
        if entry["is_exception"]:
            exceptions.update(key.casefold() for key in keys)
        else:
            identifiers.update({_bare(key): keys[0] for key in keys})
    return identifiers | _NAMES, frozenset(exceptions)


def _identifier(text: str) -> str | None:
    """One licence by its identifier or one of its names; None: nobody knows it."""
    bare = _bare(_OR_LATER.sub("+", text))
    if bare in _spdx_names()[0]:
        return _spdx_names()[0][bare]
    for long, short in _DATA["short"].items():
        bare = bare.replace(long, short)
    bare = re.sub(r"(?<=gpl)v?([123])(?=\+?\Z|only\Z)", r"\g<1>0", re.sub(r"(?<=gpl)v(?=\d)", "", bare))
    identifiers = _spdx_names()[0] if bare else {}
    later = identifiers.get(bare.removesuffix("+"), "")
    is_later = later and bare.endswith("+") and not later.endswith("-only")
    return identifiers.get(bare) or (f"{later}+" if is_later else None)


@lru_cache(maxsize=4096)
def _parse(text: str):
    """The tree of an expression with SPDX's identifiers; a text that is none, or one name that nobody knows, as it stands."""
    if whole := _identifier(text):
        return LicenseSymbol(whole)

    def choices(match: re.Match[str]) -> str:
        names = [_identifier(part) for part in match[0].split("/")]
        return f"({' OR '.join(map(str, names))})" if all(names) else match[0]  # MIT/Apache-2.0

    try:
        if text.count("(") > 50:
            return text
        tree = _LICENSING.parse(re.sub(r"[^()\s]+(?:/[^()\s]+)+", choices, _OR_LATER.sub("+", text)))
    except ExpressionError:
        return text
    return text if tree is None or isinstance(tree, LicenseSymbol) else _resolved(tree)


def _resolved(node):
    if isinstance(node, LicenseWithExceptionSymbol):
        return LicenseWithExceptionSymbol(_resolved(node.license_symbol), node.exception_symbol)
    if isinstance(node, LicenseSymbol):
        return LicenseSymbol(_identifier(node.key) or node.key)
    return type(node)(*map(_resolved, node.args)).flatten()


def _written(node) -> str:
    return node if isinstance(node, str) else node.render()


def spdx(name: str) -> str:
    """A licence as an SPDX expression; a name that nobody knows stays as it is, one that says nothing is `unknown`."""
    return UNKNOWN if re.sub(r"[^a-z0-9]", "", name.lower()) in _NOTHING else _written(_parse(name.strip()))


def all_of(names: Iterable[str]) -> str:
    """The expression of licences that apply together, each once; `unknown` when one of them is, or there is none."""
    expressions = sorted({spdx(name) for name in names})
    if not expressions or UNKNOWN in expressions:
        return UNKNOWN
    if len(expressions) == 1:
        return expressions[0]
    return " AND ".join(f"({each})" if isinstance(_parse(each), _LICENSING.OR) else each for each in expressions)


def is_allowed(licence: str, allowed: Iterable[str], *, allow_unknown: bool) -> bool:
    """True if a row may be used: of `A AND B` each part must be, of `A OR B` one; `A WITH exception` as A where SPDX has the exception.

    Nothing allowed means everything known is. A name that nobody knows is allowed by that name, or with what is unknown.
    """
    wanted = {spdx(name).casefold() for name in allowed}

    def permits(node) -> bool:
        if isinstance(node, _LICENSING.OR | _LICENSING.AND):
            return (any if isinstance(node, _LICENSING.OR) else all)(map(permits, node.args))
        text = base = _written(node)
        is_known = _identifier(text) is not None
        if isinstance(node, LicenseWithExceptionSymbol):
            # SPDX's exceptions permit more. Another rider (the Commons Clause) may take away.
            base = node.license_symbol.key
            is_known = _identifier(base) is not None and node.exception_symbol.key.casefold() in _spdx_names()[1]
        named = {text.casefold(), base.casefold() if is_known else text.casefold()}
        return bool(named & wanted) or (not wanted if is_known else allow_unknown)

    tree = _parse(licence)
    return _written(tree).casefold() in wanted - {UNKNOWN} or permits(tree)


def is_known(licence: str) -> bool:
    """True for a licence that we know, or that leaves the choice of one."""
    return is_allowed(licence, (), allow_unknown=False)


# ------------------------------------------------------------------------------------------------------------ texts

_SPDX = re.compile(r"SPDX-License-Identifier:\s*([A-Za-z0-9.+()\-/: ]+?)\s*(?:\*/|-->|$)", re.MULTILINE)
_FILE = re.compile(r"(LICEN[CS]E|COPYING|UNLICENSE)(-[^.]*)?(\.(txt|md|rst))?", re.IGNORECASE)
_TITLE_WITHIN = 500  # characters: further on, a licence names others (MPL 2.0 the GPL, GPL 3 the AGPL)
# Phrases that open a licence or name it in a notice.
_TITLE = re.compile(
    r"(?:(?P<name>gnu (?:affero |lesser |library )?(?:general public|free documentation)) license(?:(?!gnu ).){0,120}?"
    r"|(?P<other>mozilla public|apache|boost software|eclipse public) license[\s,(\"'-]*)"
    r"\bv(?:ersion|\.)? ?(?P<version>\d(?:\.\d)?)(?![\d.]*\d)(?P<later>.{0,60}?any later version)?(?P<llvm> with llvm exception)?"
    r"|cc0 1\.0 universal|attribution(?:-noncommercial)?(?:-sharealike|-noderivatives)? 4\.0"
)


def identify(text: str, *, title_within: int = _TITLE_WITHIN) -> str:
    """The licence whose words a text has, `unknown` when none fits; the one that comes first, as a licence names others in its text."""
    if header := _SPDX.search(text[:8192]):
        return spdx(header[1])
    plain = " ".join(re.sub(r"[*/#=]+", " ", text[:32768].lower()).split())
    candidates = [
        (plain.index(phrases[0]), name)
        for name, phrases in _DATA["texts"].items()
        if all(each in plain for each in phrases)
    ]
    title = _TITLE.search(plain, 0, title_within + 200)
    if title and title.start() < title_within:
        name = title["name"] or title["other"] or title[0]
        later = "+" if title["name"] and title["later"] else " WITH LLVM-exception" if title["llvm"] else ""
        candidates.append((title.start(), spdx(f"{name} {title['version'] or ''}{later}")))
    return min(candidates, key=lambda each: each[0])[1] if candidates else UNKNOWN


def of_source(code: str) -> str:
    """The licence that a source file states: by its SPDX line, or the licence in its first comment."""
    return identify(code[:8192], title_within=8192)


def of_folder(folder: Path) -> tuple[str, str] | None:
    """(licence, file that states it) of the licence files that lie in a folder."""
    for path in sorted(folder.iterdir()):
        if _FILE.fullmatch(path.name) and path.is_file():
            with path.open("rb") as stream:
                licence = identify(stream.read(65536).decode("utf-8", errors="replace"))
            if licence != UNKNOWN:
                return licence, path.name
    return None
