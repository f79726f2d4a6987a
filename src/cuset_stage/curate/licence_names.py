"""The many ways of writing a licence's name, as SPDX expressions, and whether a row may be used under one.

license-expression parses expressions and knows SPDX's identifiers; the names that people write beside them are ours. What is not
recognised is a name that nobody knows; its text is kept for the report.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache

from license_expression import ExpressionError, LicenseSymbol, LicenseWithExceptionSymbol, Licensing, get_license_index


UNKNOWN = "unknown"
_NOTHING = {"", "unknown", "none", "other", "noassertion", "na", "null", "nil", "nan"}  # words that state no licence
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
_LONG = {
    "gnugeneralpublic": "gpl", "gnulessergeneralpublic": "lgpl", "gnulibrarygeneralpublic": "lgpl",
    "gnuafferogeneralpublic": "agpl", "gnufreedocumentation": "gfdl", "gnu": "",
}  # fmt: skip
_LATER = r"or[-\s]+(?:any[-\s]+)?(?:later|newer)(?:[-\s]+versions?)?"
_OR_LATER = re.compile(rf"\s*\(\s*{_LATER}\s*\)|[-,\s]+{_LATER}(?![-\w])", re.IGNORECASE)
_LICENSING = Licensing()  # that knows no name: words between operators are one


def _bare(name: str) -> str:
    """Letters, digits and `+` of a name, without the words that say nothing: `Apache License, Version 2.0` -> apache20."""
    return re.sub(r"[^a-z0-9+]", "", re.sub(r"\b(?:the|licen[cs]e|version)\b|\bv(?=\.?\s*\d)", "", name.lower()))


@cache
def _spdx_names() -> tuple[dict[str, str], frozenset[str]]:
    """Licences by the letters of their names, also those that SPDX had for them before; SPDX's exceptions."""
    known: dict[str, str] = {}
    exceptions = set()
    for entry in get_license_index():
        keys = [entry["spdx_license_key"], *entry["other_spdx_license_keys"]]
        keys = [key for key in keys if key and not key.startswith("LicenseRef")]
        if entry["is_exception"]:
            exceptions.update(key.casefold() for key in keys)
        else:
            known.update({_bare(key): keys[0] for key in keys})
    return known | _NAMES, frozenset(exceptions)


def _identifier(text: str) -> str | None:
    """One licence by its identifier or one of its names; None: nobody knows it."""
    bare = _bare(_OR_LATER.sub("+", text))
    for long, short in _LONG.items():
        if bare.startswith(long):
            bare = short + bare.removeprefix(long)
            break
    bare = re.sub(r"(?<=gpl)([123])(?=\+?\Z|only\Z)", r"\g<1>0", re.sub(r"(?<=gpl)v(?=\d)", "", bare))
    known = _spdx_names()[0] if bare else {}
    later = known.get(bare.removesuffix("+"), "")
    return known.get(bare) or (f"{later}+" if later and bare.endswith("+") and not later.endswith("-only") else None)


@lru_cache(maxsize=4096)
def _parse(text: str):
    """The tree of an expression with SPDX's identifiers; a text that is none, or one name that nobody knows, as it stands."""
    whole = _identifier(text)
    if whole is not None:
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
    if tree is None or (isinstance(tree, LicenseSymbol) and _identifier(tree.key) is None):
        return text
    return _resolved(tree)


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
    found = sorted({spdx(name) for name in names})
    if not found or UNKNOWN in found:
        return UNKNOWN
    choice = len(found) > 1
    return " AND ".join(f"({each})" if choice and isinstance(_parse(each), _LICENSING.OR) else each for each in found)


def is_allowed(licence: str, allowed: Iterable[str], *, allow_unknown: bool) -> bool:
    """Whether a row may be used: of `A AND B` each part must be, of `A OR B` one; `A WITH exception` as A where SPDX has the exception.

    Nothing allowed means everything known is. A name that nobody knows is allowed by that name, or with what is unknown.
    """
    wanted = {spdx(name).casefold() for name in allowed}

    def permits(node) -> bool:
        if isinstance(node, _LICENSING.OR | _LICENSING.AND):
            return (any if isinstance(node, _LICENSING.OR) else all)(map(permits, node.args))
        text = base = _written(node)
        known = _identifier(text) is not None
        if isinstance(node, LicenseWithExceptionSymbol):
            # SPDX's exceptions permit more. Another rider (the Commons Clause) may take away.
            known = (
                node.exception_symbol.key.casefold() in _spdx_names()[1]
                and _identifier(node.license_symbol.key) is not None
            )
            base = node.license_symbol.key if known else text
        return bool({text.casefold(), base.casefold()} & wanted) or (not wanted if known else allow_unknown)

    tree = _parse(licence)
    return _written(tree).casefold() in wanted - {UNKNOWN} or permits(tree)


def is_known(licence: str) -> bool:
    """Whether a licence is one that we know, or leaves the choice of one."""
    return is_allowed(licence, (), allow_unknown=False)
