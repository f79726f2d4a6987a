"""What a program's own call of a kernel says: the launch, template arguments, and how many elements each array has.

    int blocks = (size + 255) / 256;                       launch: ((size + 255) / 256), 256
    cudaMalloc(&d_x, size * sizeof(float));                x: size elements
    scale<<<blocks, 256>>>(d_x, alpha, size);              d_x -> x, size -> n

The caller's names are followed back to arguments of the call, which are parameters of the kernel, and to constants. What leads
anywhere else is not known, and nothing is guessed. Standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ..spans.scrub import scrub
from ..tasks.shapes import ShapeError, shape_names
from .ctext import Function, blank_directives, functions, matching, split_list


_NUMBER = re.compile(r"(?:0[xX][0-9a-fA-F]+|\d+)(?:[uUlL]*)\Z")
_KINDS = r"(?:unsigned\s+long\s+long|unsigned\s+long|unsigned\s+int|long\s+long|unsigned|size_t|u?int(?:32|64)_t|int|long|auto|uint)"
_LOCAL = re.compile(rf"\b{_KINDS}\s+(\w+)\s*=\s*([^;{{}}]+?)\s*(?=[;,])")
_MORE = re.compile(r",\s*(\w+)\s*=\s*([^;,{}]+)(?=[;,])")
_DIM3 = re.compile(r"\bdim3\s+(\w+)\s*(?:=\s*dim3\s*)?[({]([^;]*)[)}]\s*;")
_MACRO = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+\(?[ \t]*(\d+)[ \t]*\)?[ \t]*(?://.*|/\*.*)?$", re.MULTILINE
)
_CAST = re.compile(rf"\(\s*(?:{_KINDS}|float|double)\s*\)|\bstatic_cast\s*<[^<>]*>")
_CEIL = re.compile(r"\b(?:std\s*::\s*)?ceilf?\s*\(([^()]*)/([^()/]*)\)")


@dataclass(frozen=True)
class CallSite:
    """grid, block, shared: C++ over the kernel's parameters; None where they lead elsewhere. lengths: elements of an array."""

    grid: tuple[str, ...] | None
    block: tuple[str, ...] | None
    shared: str
    template: tuple[str, ...]
    lengths: Mapping[str, str]


def read_call(code: str, kernel: Function) -> CallSite | None:
    """The first call of `kernel` in a host function of `code`; None when there is none that can be read."""
    for host in functions(code):
        if host.is_kernel:
            continue
        text = blank_directives(scrub(host.body_text(code)))
        for match in re.finditer(rf"(?<!\w){re.escape(kernel.name)}\s*(?:<([^<>;]*)>)?\s*<<<", text):
            closing = text.find(">>>", match.end())
            opening = text.find("(", closing)
            if closing < 0 or opening < 0 or text[closing + 3 : opening].strip():
                continue
            given = split_list(text[opening + 1 : matching(text, opening) - 1])
            if len(given) != len(kernel.parameters):
                continue
            return _site(code, text, match, text[match.end() : closing], given, kernel)
    return None


def _site(code: str, text: str, match: re.Match[str], config: str, given: list[str], kernel: Function) -> CallSite:
    names = {
        argument: parameter.name
        for parameter, argument in zip(kernel.parameters, given, strict=True)
        if not parameter.stars and re.fullmatch(r"[A-Za-z_]\w*", argument)
    }
    outside = blank_directives(scrub(code))
    for each in reversed(functions(code)):
        outside = outside[: each.head] + outside[each.body[1] :]
    constants = {**_values(outside), **dict(_MACRO.findall(code))}
    locals_ = _values(text[: match.start()])
    follow = _Follow(names, {**constants, **locals_})
    dims = {name: split_list(value) for name, value in _DIM3.findall(text[: match.start()])}
    parts = split_list(config)
    grid, block = (_extent(parts[index], dims, follow) if index < len(parts) else None for index in (0, 1))
    shared = follow.expression(parts[2]) if len(parts) > 2 else "0"
    if shared is None:
        grid = block = None
    template = tuple(follow.expression(part) or part for part in split_list(match[1] or ""))
    return CallSite(grid, block, shared or "0", template, _lengths(text, given, kernel, follow))


def _values(text: str) -> dict[str, str]:
    found = {}
    for match in _LOCAL.finditer(text):
        found[match[1]] = match[2]
        end = text.find(";", match.end())
        found.update(_MORE.findall(text[match.end() : end + 1]))
    return found


def _extent(part: str, dims: Mapping[str, list[str]], follow: _Follow) -> tuple[str, ...] | None:
    constructed = re.fullmatch(r"dim3\s*[({](.*)[)}]", part, re.DOTALL)
    entries = split_list(constructed[1]) if constructed else dims.get(part, [part])
    found = [follow.expression(entry) for entry in entries]
    return tuple(map(str, found)) if found and all(found) and len(found) <= 3 else None


@dataclass(frozen=True)
class _Follow:
    """From the caller's names to the kernel's parameters."""

    parameters: Mapping[str, str]
    values: Mapping[str, str]

    def expression(self, text: str, depth: int = 0) -> str | None:
        """Arithmetic over parameters and numbers, or None."""
        text = _CAST.sub("", " ".join(text.split()))
        text = _CEIL.sub(r"((\1 + (\2) - 1) / (\2))", re.sub(r"\b(\d+)\.0?f?\b", r"\1", text))
        parts = []
        for word in re.split(r"([A-Za-z_]\w*|\d\w*)", text):
            if not word.strip() or not re.match(r"\w", word):
                if re.search(r"[^\s()+\-*/%]", word):
                    return None
                parts.append(word)
            elif _NUMBER.match(word):
                parts.append(word.rstrip("uUlL"))
            elif word in self.parameters:
                parts.append(self.parameters[word])
            elif word in self.values and depth < 8:
                inner = self.expression(self.values[word], depth + 1)
                if inner is None:
                    return None
                parts.append(inner if re.fullmatch(r"\w+", inner) else f"({inner})")
            else:
                return None
        return "".join(parts).strip() or None

    def elements(self, size: str, depth: int = 0) -> str | None:
        """The element count in a size in bytes; None when no sizeof is in it."""
        size = " ".join(size.split())
        bare = re.sub(r"\bsizeof\s*\([^()]*\)", "1", size)
        if bare != size:
            found = self.expression(bare)
            return None if found is None else _tidy(found)
        words = set(re.findall(r"[A-Za-z_]\w*", size)) & set(self.values) - set(self.parameters)
        if len(words) != 1 or depth >= 8:
            return None
        word = words.pop()
        return self.elements(re.sub(rf"\b{word}\b", lambda _: f"({self.values[word]})", size), depth + 1)


def _tidy(text: str) -> str:
    """Without the ones that sizeof left, and without brackets around the whole."""
    text = " * ".join(part.strip() for part in text.split("*")).replace("/", "//")
    text = re.sub(r"(?<![\w)/%*] )(?<![\w)/%*])\b1 \* | \* 1\b(?!\w)", "", text)
    while text.startswith("(") and matching(text, 0) == len(text):
        text = text[1:-1].strip()
    return text


def _lengths(text: str, given: list[str], kernel: Function, follow: _Follow) -> dict[str, str]:
    """Element counts by the kernel's parameter names, from allocations and copies of the arguments."""
    sizes: dict[str, str] = {}
    allocations = r"\bcudaMalloc(?:Managed|Async)?\s*(?:<[^<>]*>)?\s*\(|\bcudaMemcpy(?:Async)?\s*\("
    for call in re.finditer(allocations, text):
        arguments = split_list(text[call.end() : matching(text, call.end() - 1) - 1])
        if len(arguments) < 2:
            continue
        is_copy = "Memcpy" in call[0]
        count = follow.elements(arguments[2 if is_copy and len(arguments) > 2 else 1])
        for target in arguments[: 2 if is_copy else 1]:
            name = re.search(r"(\w+)\s*\)?\Z", target)
            if count and name and (not is_copy or name[1] not in sizes):
                sizes[name[1]] = count
    found = {}
    for parameter, argument in zip(kernel.parameters, given, strict=True):
        if parameter.stars and argument in sizes:
            try:
                shape_names([sizes[argument]])
            except ShapeError:
                continue
            found[parameter.name] = sizes[argument]
    return found
