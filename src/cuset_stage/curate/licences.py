"""Licences: what a file or a folder says of itself.

Known by simple, well-known marks. What is not recognised is unknown, and unknown is left out unless the user says otherwise.
"""

from __future__ import annotations

import re
from pathlib import Path

from .licence_names import UNKNOWN, spdx


_SPDX = re.compile(r"SPDX-License-Identifier:\s*([A-Za-z0-9.+()\-/: ]+?)\s*(?:\*/|-->|$)", re.MULTILINE)
_FILES = ("LICENSE", "LICENCE", "COPYING", "UNLICENSE")
_SUFFIXES = {"", ".txt", ".md", ".rst"}
_TITLE_WITHIN = 500  # characters: further on, a licence names others (MPL 2.0 the GPL, GPL 3 the AGPL)

# Phrases that open a licence or name it in a notice; `(pattern, identifier)`, and the groups of a match fill the identifier.
_VERSION = r"[\s,(\"']*(?:version|v\.?) ?"
_TITLES = tuple(
    (re.compile(pattern), identifier)
    for pattern, identifier in (
        (rf"mozilla public license{_VERSION}(1\.1|2\.0)", "MPL-{}"),
        (rf"apache license{_VERSION}2\.0 with llvm exceptions?", "Apache-2.0 WITH LLVM-exception"),
        (rf"apache license{_VERSION}2\.0", "Apache-2.0"),
        (rf"boost software license{_VERSION}1\.0", "BSL-1.0"),
        (rf"eclipse public license(?: -)?{_VERSION}(1\.0|2\.0)", "EPL-{}"),
        (r"cc0 1\.0 universal", "CC0-1.0"),
        (r"attribution(-noncommercial)?(-sharealike|-noderivatives)? 4\.0", "CC-BY{}{}-4.0"),
    )
)
_GNU_TITLE = re.compile(
    r"gnu (affero |lesser |library |)(general public|free documentation) license(?:(?!gnu ).){0,120}?"
    r"\bv(?:ersion|\.)? ?(\d(?:\.\d)?)(?![\d.]*\d)(?P<later>.{0,60}?any later version)?"
)
_BODIES = (
    ("Unlicense", ("this is free and unencumbered software released into the public domain",)),
    ("BSD-4-Clause", ("redistribution and use in source and binary forms", "all advertising materials mentioning")),
    ("BSD-3-Clause", ("redistribution and use in source and binary forms", "endorse or promote")),
    ("BSD-2-Clause", ("redistribution and use in source and binary forms",)),
    ("ISC", ("permission to use, copy, modify, and/or distribute this software for any purpose with or without fee",)),
    ("MIT", ("permission is hereby granted, free of charge", "the above copyright notice and this permission notice")),
    ("Zlib", ("this software is provided 'as-is', without any express", "altered source versions must be plainly")),
)
_GNU_KINDS = {"affero ": "AGPL", "lesser ": "LGPL", "library ": "LGPL", "": "GPL"}
_CC_KINDS = {None: "", "-noncommercial": "-NC", "-sharealike": "-SA", "-noderivatives": "-ND"}


def identify(text: str, *, title_within: int = _TITLE_WITHIN) -> str:
    """The licence whose words a text has, `unknown` when none fits; the one that comes first, as a licence names others in its text."""
    header = _SPDX.search(text[:8192])
    if header:
        return spdx(header[1])
    plain = " ".join(re.sub(r"[*/#=]+", " ", text[:32768].lower()).split())
    found = [(plain.index(phrases[0]), name) for name, phrases in _BODIES if all(each in plain for each in phrases)]
    for pattern, identifier in _TITLES:
        if match := pattern.search(plain, 0, title_within + 100):
            groups = [_CC_KINDS.get(group, group) for group in match.groups()]
            found.append((match.start(), identifier.format(*groups)))
    if match := _GNU_TITLE.search(plain, 0, title_within + 200):
        kind = "GFDL" if match[2] == "free documentation" else _GNU_KINDS[match[1]]
        found.append((match.start(), spdx(f"{kind}-{match[3]}{'+' * bool(match['later'])}")))
    found = [(start, name) for start, name in found if start < title_within or name in dict(_BODIES)]
    return min(found, key=lambda each: each[0])[1] if found else UNKNOWN


def of_source(code: str) -> str:
    """What a source file says of itself: its SPDX line, or the licence in its first comment."""
    return identify(code[:8192], title_within=8192)


class FolderLicences:
    """What the licence files of a tree say, each read once; one a run, as a file may change before the next."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()
        self._found: dict[Path, tuple[str, str | None]] = {}

    def stated(self, code: str, folder: Path) -> tuple[str, str | None]:
        """(licence, file that states it) of the folder of a source; unknown where its code states its own."""
        return self._of(folder.resolve()) if of_source(code) == UNKNOWN else (UNKNOWN, None)

    def _of(self, folder: Path) -> tuple[str, str | None]:
        """From the nearest licence file at or above a folder, not above the root."""
        if folder not in self._found:
            above = folder != self._root and self._root in folder.parents
            self._found[folder] = _in_folder(folder) or (self._of(folder.parent) if above else (UNKNOWN, None))
        return self._found[folder]


def _in_folder(folder: Path) -> tuple[str, str] | None:
    try:
        entries = sorted(entry.name for entry in folder.iterdir() if entry.is_file())
    except OSError:
        return None
    for name in entries:
        stem, dot, suffix = name.partition(".")
        if stem.upper().split("-")[0] in _FILES and f"{dot}{suffix}".lower() in _SUFFIXES:
            found = identify((folder / name).read_bytes()[:65536].decode("utf-8", errors="replace"))
            if found != UNKNOWN:
                return found, name
    return None
