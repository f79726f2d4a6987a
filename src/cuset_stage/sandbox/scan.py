"""A look at a source before it is compiled without bubblewrap: does it reach for files of this machine?

Inside bubblewrap such files are not there, and nothing needs to be scanned. This scan knows the usual ways, not all of them:
macros can hide more than a scan can see. Imports the standard library.
"""

from __future__ import annotations

import re


_INCLUDE = re.compile(r"^[ \t]*(?:#|%:|\?\?=)[ \t]*(include|include_next|import|embed)\b[ \t]*(.*)$")
_HEADER = re.compile(r'^(?:<([^>]*)>|"([^"]*)")')
_PROBE = re.compile(r'__has_(?:include|embed)(?:_next)?\s*\(\s*[<"]([^>"]*)')
# Assembler directives that read files, or build other directives piece by piece; they stand in string literals
_ASSEMBLER = re.compile(r"\.\s*(incbin|include|irpc?|rept|altmacro|macro)\b")
_LITERAL = re.compile(r"""'(?:[^'\\\n]|\\.)*'|"((?:[^"\\\n]|\\.)*)\"""")
_BETWEEN_LITERALS = re.compile(r"(?:\s|\\\n)*(?:u8|[LuU])?")
_JOINS = re.compile(r'"|##|\\\n|\s+')


def _outside(path: str) -> bool:
    return path.startswith(("/", "~", "\\")) or ".." in re.split(r"[/\\]", path)


def _logical_lines(source: str) -> list[tuple[int, str]]:
    """(number of the first physical line, text) with continued lines joined and comments blanked where a directive may hide."""
    lines: list[tuple[int, str]] = []
    pending, start = "", 1
    for number, line in enumerate(source.replace("\r\n", "\n").split("\n"), 1):
        if not pending:
            start = number
        if line.rstrip().endswith("\\"):
            pending += line.rstrip()[:-1]
            continue
        lines.append((start, re.sub(r"/\*.*?\*/", " ", pending + line)))
        pending = ""
    return [*lines, (start, pending)] if pending else lines


def find_reach(source: str) -> str | None:
    """What in the source reaches for files outside the toolkit, with its line, as a compiler would put it; None: nothing."""
    for number, line in _logical_lines(source):
        if match := _INCLUDE.match(line.split("*/")[-1] if "*/" in line else line):
            directive, rest = match[1], match[2].strip()
            header = _HEADER.match(rest)
            if directive == "embed":
                return f"program.cu({number}): error: #embed reads a file; without bubblewrap this is not allowed"
            if header is None:
                return f"program.cu({number}): error: #{directive} {rest}: without bubblewrap the name must be written out"
            if _outside(header[1] or header[2] or ""):
                return (
                    f"program.cu({number}): error: #{directive} {rest}: without bubblewrap only headers of the toolkit and "
                    "the compiler are allowed, no absolute path and no '..'"
                )
        for match in _PROBE.finditer(line):
            if _outside(match[1]):
                return (
                    f"program.cu({number}): error: __has_include of {match[1]}: without bubblewrap this is not allowed"
                )
    for text in _texts(source):
        if found := _ASSEMBLER.search(text):
            return _refuse(source, found[1])
    return _refuse(source, "incbin") if "incbin" in _JOINS.sub("", source) else None


def _texts(source: str) -> list[str]:
    """The string literals, adjacent ones joined as the compiler joins them, with line ends and tabs as spaces."""
    texts: list[str] = []
    end = None
    for match in _LITERAL.finditer(source):
        if match[1] is None:  # a character
            continue
        text = re.sub(r"\\[nt;]", " ", match[1])
        if end is not None and _BETWEEN_LITERALS.fullmatch(source, end, match.start()):
            texts[-1] += text
        else:
            texts.append(text)
        end = match.end()
    return texts


def _refuse(source: str, directive: str) -> str:
    number = next((at for at, line in _logical_lines(source) if directive[:2] in line and '"' in line), 1)
    return f"program.cu({number}): error: assembler directive .{directive}: without bubblewrap this is not allowed"
