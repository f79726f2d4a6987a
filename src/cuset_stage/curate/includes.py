"""A source file with the headers of its own tree put in place of their #include lines, so that it stands alone.

Standard library only.
"""

from __future__ import annotations

import re
from pathlib import Path


_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"[^\n]*$', re.MULTILINE)
_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once[^\n]*\n?", re.MULTILINE)
LIMIT = 1 << 20  # characters of the whole


def with_local_headers(path: Path, code: str, root: Path) -> tuple[str, dict[Path, str]]:
    """`code` of the file at `path` with every header that lies beside it or above it in `root` written out, each once; the headers.

    A header that is not found (the toolkit's, another library's) keeps its line. Where the whole would pass LIMIT, `code` comes back.
    """
    seen = {path.resolve()}
    headers: dict[Path, str] = {}
    ends = root.resolve()

    def expand(file: Path, text: str, depth: int) -> str:
        def put(match: re.Match[str]) -> str:
            found = _find(match[1], file, ends)
            if found is None:
                return match[0]
            if found in seen:
                return ""
            seen.add(found)
            try:
                header = found.read_text(encoding="utf-8-sig")
            except (OSError, UnicodeDecodeError):
                return match[0]
            if depth >= 16:
                return match[0]
            headers[found] = header
            return expand(found, _ONCE.sub("", header), depth + 1).strip("\n")

        return _INCLUDE.sub(put, text)

    whole = expand(path, code, 0)
    return (whole, headers) if len(whole) <= LIMIT else (code, {})


def _find(name: str, file: Path, root: Path) -> Path | None:
    """The header beside the file, or in a folder above it, or in such a folder's `include`, within the tree."""
    folder = file.resolve().parent
    while True:
        for candidate in (folder / name, folder / "include" / name):
            found = candidate.resolve()
            if found.is_file() and found.is_relative_to(root):
                return found
        if folder == root or not folder.is_relative_to(root):
            return None
        folder = folder.parent
