"""Licences: one SPDX identifier for the many ways of writing it, and what a file or a folder says of itself.

Known by simple, well-known marks. What is not recognised is unknown, and unknown is left out unless the user says otherwise.
Standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path


UNKNOWN = "unknown"

_SPDX = re.compile(r"SPDX-License-Identifier:\s*([A-Za-z0-9.+()\- ]+?)\s*(?:\*/|-->|$)", re.MULTILINE)
_FILES = ("LICENSE", "LICENCE", "COPYING", "UNLICENSE")
_SUFFIXES = {"", ".txt", ".md", ".rst"}

# The identifiers whose spelling we know, by their letters and digits alone.
_IDS = {
    re.sub(r"[^a-z0-9]", "", identifier.lower()): identifier
    for identifier in (
        *(
            "Apache-2.0",
            "MIT",
            "MIT-0",
            "BSD-2-Clause",
            "BSD-3-Clause",
            "BSD-4-Clause",
            "ISC",
            "Zlib",
            "BSL-1.0",
            "Unlicense",
        ),
        *(
            "CC0-1.0",
            "CC-BY-4.0",
            "CC-BY-SA-4.0",
            "CC-BY-NC-4.0",
            "CC-BY-NC-SA-4.0",
            "MPL-2.0",
            "EPL-2.0",
            "NCSA",
            "WTFPL",
        ),
        *(
            "GPL-2.0-only",
            "GPL-2.0-or-later",
            "GPL-3.0-only",
            "GPL-3.0-or-later",
            "LGPL-2.1-only",
            "LGPL-2.1-or-later",
        ),
        *("LGPL-3.0-only", "LGPL-3.0-or-later", "AGPL-3.0-only", "AGPL-3.0-or-later", "Artistic-2.0", "0BSD"),
    )
}
_NAMES = {
    "apache": "Apache-2.0",
    "apache2": "Apache-2.0",
    "apachelicense20": "Apache-2.0",
    "apachelicenseversion20": "Apache-2.0",
    "apachesoftwarelicense": "Apache-2.0",
    "mitlicense": "MIT",
    "themitlicense": "MIT",
    "expat": "MIT",
    "bsd": "BSD-3-Clause",
    "bsd3": "BSD-3-Clause",
    "newbsd": "BSD-3-Clause",
    "bsd2": "BSD-2-Clause",
    "simplifiedbsd": "BSD-2-Clause",
    "bsd3clauselicense": "BSD-3-Clause",
    "bsd2clauselicense": "BSD-2-Clause",
    "boost": "BSL-1.0",
    "ccby4": "CC-BY-4.0",
    "gpl2": "GPL-2.0-only",
    "gplv2": "GPL-2.0-only",
    "gpl20": "GPL-2.0-only",
    "gpl3": "GPL-3.0-only",
    "gplv3": "GPL-3.0-only",
    "gpl30": "GPL-3.0-only",
    "lgpl21": "LGPL-2.1-only",
    "lgpl3": "LGPL-3.0-only",
    "lgpl30": "LGPL-3.0-only",
    "agpl3": "AGPL-3.0-only",
    "agpl30": "AGPL-3.0-only",
    "cc0": "CC0-1.0",
    "mpl2": "MPL-2.0",
}
# (identifier, phrases that all stand in its text); the first that fits wins, so the narrower ones come first.
_TEXTS = (
    ("AGPL-3.0-only", ("gnu affero general public license", "version 3")),
    ("LGPL-3.0-only", ("gnu lesser general public license", "version 3")),
    ("LGPL-2.1-only", ("gnu lesser general public license", "version 2.1")),
    ("GPL-3.0-only", ("gnu general public license", "version 3")),
    ("GPL-2.0-only", ("gnu general public license", "version 2")),
    ("MPL-2.0", ("mozilla public license", "2.0")),
    ("Apache-2.0", ("apache license", "version 2.0")),
    ("BSL-1.0", ("boost software license", "version 1.0")),
    ("Unlicense", ("this is free and unencumbered software released into the public domain",)),
    ("CC0-1.0", ("cc0 1.0 universal",)),
    ("CC-BY-NC-SA-4.0", ("attribution-noncommercial-sharealike 4.0",)),
    ("CC-BY-NC-4.0", ("attribution-noncommercial 4.0",)),
    ("CC-BY-SA-4.0", ("attribution-sharealike 4.0",)),
    ("CC-BY-4.0", ("attribution 4.0 international",)),
    ("BSD-3-Clause", ("redistribution and use in source and binary forms", "endorse or promote")),
    ("BSD-2-Clause", ("redistribution and use in source and binary forms",)),
    ("ISC", ("permission to use, copy, modify, and/or distribute this software for any purpose with or without fee",)),
    ("MIT", ("permission is hereby granted, free of charge", "the above copyright notice and this permission notice")),
)


def spdx(name: str) -> str:
    """The SPDX identifier of a licence's name; an expression (`A AND B`) or a name nobody knows stays as it is."""
    text = name.strip()
    bare = re.sub(r"[^a-z0-9]", "", text.lower().removesuffix(" license").removesuffix(" licence"))
    if not bare or bare in ("unknown", "none", "other", "noassertion", "na"):
        return UNKNOWN
    return _IDS.get(bare) or _NAMES.get(bare) or _NAMES.get(bare + "license") or text


def identify(text: str) -> str:
    """The licence whose words a text has, `unknown` when none fits."""
    header = _SPDX.search(text[:8192])
    if header:
        return spdx(header[1])
    plain = " ".join(re.sub(r"[*/#]+", " ", text[:32768].lower()).split())
    return next((name for name, phrases in _TEXTS if all(phrase in plain for phrase in phrases)), UNKNOWN)


def of_source(code: str) -> str:
    """What a source file says of itself: its SPDX line, or the licence in its first comment."""
    return identify(code[:8192])


@lru_cache(maxsize=4096)
def of_folder(folder: Path, root: Path) -> tuple[str, str | None]:
    """(licence, the file that says so) from the nearest licence file at or above `folder`, not above `root`."""
    try:
        entries = sorted(entry.name for entry in folder.iterdir() if entry.is_file())
    except OSError:
        entries = []
    for name in entries:
        stem, dot, suffix = name.partition(".")
        if stem.upper().split("-")[0] in _FILES and f"{dot}{suffix}".lower() in _SUFFIXES:
            found = identify((folder / name).read_bytes()[:65536].decode("utf-8", errors="replace"))
            if found != UNKNOWN:
                return found, name
    return (UNKNOWN, None) if folder == root or root not in folder.parents else of_folder(folder.parent, root)


def is_allowed(licence: str, allowed: Iterable[str], *, allow_unknown: bool) -> bool:
    """Whether a row may be used. Nothing allowed means everything known is; of `A AND B` each part must be, of `A OR B` one."""
    wanted = {spdx(name) for name in allowed}
    if licence == UNKNOWN:
        return allow_unknown
    if not wanted or licence in wanted:
        return True
    parts = [part.strip(" ()") for part in re.split(r"\s+AND\s+", licence)]
    if len(parts) == 1 and " OR " not in licence:
        return False
    return all(any(spdx(choice) in wanted for choice in re.split(r"\s+OR\s+", part)) for part in parts)
