"""A kernel with what it needs of its file: the functions, types, constants and macros that it names, and those that they name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from tree_sitter import Node

from .source import Function, Source
from .tree import Range, child, declarators, declared, last_name, text_of, walk


_WORD = re.compile(r"[A-Za-z_]\w*")
_OTHERWISE = {"preproc_else", "preproc_elif"}
_INTO = {"preproc_ifdef", "preproc_if", *_OTHERWISE, "linkage_specification", "declaration_list", "ERROR"}
_ALWAYS = {"preproc_include", "using_declaration", "namespace_alias_definition"}
_TYPES = {"struct_specifier", "class_specifier", "union_specifier", "enum_specifier"}
_ON_DEVICE = re.compile(r"\b(?:__device__|__global__|constexpr|[A-Z_]*DEVICE[A-Z_]*)\b")


@dataclass(frozen=True)
class _Unit:
    """Something that stands at a file's top level. names: what it introduces; namespaces: those around it, from outside."""

    span: Range
    names: tuple[str, ...]
    namespaces: tuple[str, ...] = ()
    always: bool = False


def excerpts(source: Source) -> Iterator[tuple[Function, str]]:
    """Each kernel of a file with its excerpt, in the order of the file.

    Includes and `using` lines stay. Of a file without a tree the excerpt is the whole text. Host functions are not taken, so that an
    excerpt has no program around its kernel, and macros whose bodies are kernels have none of their own.
    """
    units = [] if source.root is None else list(_units(source, source.root, ()))
    by_name: dict[str, list[_Unit]] = {}
    for unit in units:
        for name in unit.names:
            by_name.setdefault(name, []).append(unit)
    for kernel in (each for each in source.functions if each.is_kernel):
        if not units:
            yield kernel, source.text
            continue
        own = next((unit for unit in units if unit.span[0] <= kernel.head and kernel.body[1] <= unit.span[1]), None)
        if own and source.text.startswith("#", own.span[0]):
            continue  # a macro that makes kernels is none
        # Where the tree has no unit of it, as behind a macro's use without a semicolon, its own text is searched for names all the same.
        own = own or _Unit((kernel.head, kernel.body[1]), ())
        needed, waiting = {own.span: own}, [own]
        while waiting:
            for name in set(_WORD.findall(_shown(source, waiting.pop()))):
                for unit in by_name.get(name, ()):
                    if unit.span not in needed and not _overlap(unit, own):
                        needed[unit.span] = unit
                        waiting.append(unit)
        needed |= {unit.span: unit for unit in units if unit.always and not _overlap(unit, own)}
        yield kernel, _written(source, sorted(needed.values(), key=lambda unit: unit.span))


def _overlap(one: _Unit, other: _Unit) -> bool:
    return one.span[0] < other.span[1] and other.span[0] < one.span[1]


def _shown(source: Source, unit: _Unit) -> str:
    """A unit's text; of a macro its own, which is blank in `code`."""
    text = source.text[slice(*unit.span)]
    return text if text.startswith("#") else source.code[slice(*unit.span)]


def _units(source: Source, node: Node, namespaces: tuple[str, ...], seen: set[str] | None = None) -> Iterator[_Unit]:
    """What stands at the top level, in namespaces and behind conditions; of two branches that define one name the first."""
    seen = set() if seen is None else seen
    for each in node.children:
        kind, span = each.type, (each.start_byte, each.end_byte)
        if kind == "namespace_definition":
            name = child(each, "name")
            if (inner := child(each, "body")) is not None:
                yield from _units(source, inner, (*namespaces, text_of(source.text, name) if name else ""), seen)
        elif kind in _INTO:
            first = {*seen}
            for unit in _units(source, each, namespaces, seen):
                if kind not in _OTHERWISE or not first.intersection(unit.names):
                    yield unit
        elif kind in _ALWAYS:
            yield _Unit(span, (), namespaces, always=True)
        elif names := tuple(_introduced(source, each)):
            seen.update(names)
            yield _Unit(span, names, namespaces)


def _introduced(source: Source, node: Node) -> Iterator[str]:
    """The names that a declaration, a type or a macro introduces; none of a host function."""
    kind = node.type
    if kind == "template_declaration":
        for each in node.named_children:
            if each.type != "template_parameter_list":
                yield from _introduced(source, each)
    elif kind in ("preproc_def", "preproc_function_def", "alias_declaration", "concept_definition"):
        if (name := child(node, "name")) is not None:
            yield text_of(source.text, name)
    elif kind == "function_definition":
        body = child(node, "body")
        head = source.code[node.start_byte : body.start_byte if body else node.end_byte]
        if _ON_DEVICE.search(head) and (name := declared(node)) is not None:
            yield text_of(source.text, last_name(name))
    elif kind in {*_TYPES, "declaration", "type_definition"}:
        for each in declarators(node):
            if (name := declared(each)) is not None:
                yield text_of(source.text, last_name(name))
        type_ = node if kind.endswith("_specifier") else child(node, "type")
        if type_ is not None and type_.type.endswith("_specifier") and child(type_, "body") is not None:
            if (name := child(type_, "name")) is not None:
                yield text_of(source.text, last_name(name))
            if type_.type == "enum_specifier":
                values = (each for each in walk(child(type_, "body")) if each.type == "enumerator")
                yield from (text_of(source.text, child(each, "name")) for each in values)


def _written(source: Source, units: list[_Unit]) -> str:
    """The units as one text, each in its namespaces; what stands on one line together stays so."""
    parts = []
    for namespaces, group in groupby(units, key=lambda unit: unit.namespaces):
        parts += [f"namespace {name} {{".replace("  ", " ") for name in namespaces]
        parts += [_ended(source, unit) for unit in group]
        parts += ["}"] * len(namespaces)
    return "\n".join(parts).strip() + "\n"


def _ended(source: Source, unit: _Unit) -> str:
    """A unit's text; a type's with the semicolon that stands behind it."""
    start, end = unit.span
    behind = re.match(r"\s*;", source.text[end : end + 20])
    return source.text[start : end + (behind.end() if behind else 0)].rstrip()
