"""Licences: write them as SPDX expressions, recognise them in source files and folders, and decide which to allow.

The package license-expression parses expressions and knows the SPDX identifiers. The other names that people write,
and the phrases by which a licence text is recognised, are our own (licences.yaml). A licence that is not recognised is
unknown, and rows of unknown licence are dropped unless the user says otherwise.
"""

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
_LICENSING = Licensing()  # built without known names, so it takes all words between two operators as one name


def _bare(name: str) -> str:
    """Return the letters, digits and `+` of a name without filler words: `Apache License, Version 2.0` -> apache20."""
    return re.sub(r"[^a-z0-9+]", "", re.sub(r"\b(?:the|licen[cs]e|version)\b|\bv(?=\.?\s*\d)", "", name.lower()))


@cache
def _spdx_names() -> tuple[dict[str, str], frozenset[str]]:
    """Return a map from bare names (`_bare`) to SPDX identifiers, and the set of SPDX exceptions in lower case.

    The map includes earlier SPDX identifiers and the names of licences.yaml.
    """
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
    """Return the SPDX identifier of a single licence, given by its identifier or one of its names. None if unknown."""
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
    """Return the tree of an expression, with SPDX identifiers in it.

    A text that is no expression, or that is a single unknown name, is returned unchanged as a str.
    """
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
    """Return a tree with each licence name replaced by its SPDX identifier, if it has one."""
    if isinstance(node, LicenseWithExceptionSymbol):
        return LicenseWithExceptionSymbol(_resolved(node.license_symbol), node.exception_symbol)
    if isinstance(node, LicenseSymbol):
        return LicenseSymbol(_identifier(node.key) or node.key)
    return type(node)(*map(_resolved, node.args)).flatten()


def _written(node) -> str:
    """Return the text of what `_parse` returns."""
    return node if isinstance(node, str) else node.render()


def spdx(name: str) -> str:
    """Return a licence as an SPDX expression.

    An unknown name is returned unchanged. A name that states no licence, such as "none" or "other", becomes `unknown`.
    """
    return UNKNOWN if re.sub(r"[^a-z0-9]", "", name.lower()) in _NOTHING else _written(_parse(name.strip()))


def all_of(names: Iterable[str]) -> str:
    """Return the SPDX expression of licences that all apply together, each listed once.

    The result is `unknown` if one of them is `unknown`, or if there are none.
    """
    expressions = sorted({spdx(name) for name in names})
    if not expressions or UNKNOWN in expressions:
        return UNKNOWN
    if len(expressions) == 1:
        return expressions[0]
    return " AND ".join(f"({each})" if isinstance(_parse(each), _LICENSING.OR) else each for each in expressions)


def is_allowed(licence: str, allowed: Iterable[str], *, allow_unknown: bool) -> bool:
    """Return True if rows under `licence` may be used.

    `A AND B` needs both parts to be allowed, `A OR B` needs one. `A WITH exception` is allowed wherever A is, if SPDX
    lists the exception.

    Args:
        licence: a licence expression.
        allowed: the licences or whole expressions that the user allows. If empty, every known licence is allowed.
        allow_unknown: allow licences whose name is not known. Without it, such a licence is allowed only if it is
            listed in `allowed` by the same name.
    """
    wanted = {spdx(name).casefold() for name in allowed}

    def permits(node) -> bool:
        if isinstance(node, _LICENSING.OR | _LICENSING.AND):
            return (any if isinstance(node, _LICENSING.OR) else all)(map(permits, node.args))
        text = base = _written(node)
        is_known = _identifier(text) is not None
        if isinstance(node, LicenseWithExceptionSymbol):
            # SPDX's exceptions only add permissions. Another rider, such as the Commons Clause, may take some away.
            base = node.license_symbol.key
            is_known = _identifier(base) is not None and node.exception_symbol.key.casefold() in _spdx_names()[1]
        named = {text.casefold(), base.casefold() if is_known else text.casefold()}
        return bool(named & wanted) or (not wanted if is_known else allow_unknown)

    tree = _parse(licence)
    return _written(tree).casefold() in wanted - {UNKNOWN} or permits(tree)


def is_known(licence: str) -> bool:
    """Return True if the licence is known. Of `A OR B`, one known licence is enough."""
    return is_allowed(licence, (), allow_unknown=False)


# ------------------------------------------------------------------------------------------------------------ texts

_SPDX = re.compile(r"SPDX-License-Identifier:\s*+([A-Za-z0-9.+()\-/: ]{1,200}?)[ \t\r]*+(?:\*/|-->|$)", re.MULTILINE)
_FILE = re.compile(r"(LICEN[CS]E|COPYING|UNLICENSE)(-[^.]*)?(\.(txt|md|rst))?", re.IGNORECASE)
_TITLE_WITHIN = 500  # characters; further on, a licence text names other licences (MPL 2.0 the GPL, GPL 3 the AGPL)
# Phrases that begin a licence text, or name the licence in a notice.
_TITLE = re.compile(
    r"(?:(?P<name>gnu (?:affero |lesser |library )?(?:general public|free documentation)) license(?:(?!gnu ).){0,120}?"
    r"|(?P<other>mozilla public|apache|boost software|eclipse public) license[\s,(\"'-]*)"
    r"\bv(?:ersion|\.)? ?(?P<version>\d(?:\.\d)?)(?![\d.]*\d)(?P<later>.{0,60}?any later version)?(?P<llvm> with llvm exception)?"
    r"|cc0 1\.0 universal|attribution(?:-noncommercial)?(?:-sharealike|-noderivatives)? 4\.0"
)


def identify(text: str, *, title_within: int = _TITLE_WITHIN) -> str:
    """Return the licence that a text contains or names, or `unknown`.

    If several licences match, the one that comes first is taken, because licence texts name other licences further on.

    Args:
        text: a licence text, a notice, or source code. SPDX-License-Identifier lines take precedence, and all apply.
        title_within: the number of characters at the beginning in which a licence's title counts.
    """
    if headers := _SPDX.findall(text):
        return all_of({spdx(name) for name in headers} - {UNKNOWN})
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
    """Return the licence that a source file and its inlined headers state: by SPDX lines, or in a comment at its start."""
    return identify(code, title_within=8192)


def of_folder(folder: Path) -> tuple[str, str] | None:
    """Return the licence that a folder's licence file states, and the file's name. None if none is recognised."""
    for path in sorted(folder.iterdir()):
        if _FILE.fullmatch(path.name) and path.is_file():
            with path.open("rb") as stream:
                licence = identify(stream.read(65536).decode("utf-8", errors="replace"))
            if licence != UNKNOWN:
                return licence, path.name
    return None
