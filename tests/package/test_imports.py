"""Imports point one way: a package imports only what stands before it in the layout, and no files import each other in a circle."""

import ast
import functools
from graphlib import TopologicalSorter
from importlib.util import resolve_name
from pathlib import Path

import pytest

import cuset_stage


PACKAGE = Path(cuset_stage.__file__).parent
ROOT = PACKAGE.name
LEAVES = {
    *("attention", "bundled", "files", "jsonl", "named_functions"),
    *("pages", "text", "settings", "progress", "row_checks"),
}
MAY_IMPORT = {  # subpackage -> what it may import of this package beside itself and the leaves
    **dict.fromkeys(LEAVES | {"answers", "objective"}, frozenset()),
    "spans": {"answers"},
    "stage": {"spans", "objective", "answers", "_compatibility"},
    "cuda_source": {"spans"},
    "sandbox": set(),
    "tasks": {"answers"},
    "judge": {"sandbox", "tasks", "answers", "mutants", "spans"},
    "generate": {"tasks", "answers", "stage"},
    "mutants": {"cuda_source", "spans"},
    "report": {"judge", "tasks"},
    "curate": {"answers", "spans", "cuda_source", "sandbox", "tasks", "judge", "generate", "mutants", "report"},
    "analysis": {"answers", "spans", "objective", "sandbox", "stage", "report", "_compatibility", "_startup"},
    "pairs": {"stage", "tasks", "report", "analysis"},
    "trl": {"objective", "spans", "stage"},
    "llamafactory_v1": {"objective", "spans", "stage"},
    "project": {"stage"},
    "study": {"report", "judge", "sandbox", "stage", "tasks"},
}


MODULES = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in PACKAGE.rglob("*.py")
}


@functools.cache
def imports(name: str) -> list[tuple[str, bool]]:
    """(module of this package, whether it is imported when `name` is) of every import."""
    path, found = MODULES[name], []
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inner = {id(node) for top in ast.walk(tree) if isinstance(top, ast.FunctionDef) for node in ast.walk(top)}
    for node in ast.walk(tree):
        targets = []
        if isinstance(node, ast.ImportFrom):
            module = resolve_name("." * node.level + (node.module or ""), package)
            places = [f"{module}.{alias.name}" for alias in node.names]
            targets = [place if place in MODULES else module for place in places]
        elif isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        found += [(target, id(node) not in inner) for target in targets if target in MODULES and target != name]
    return found


def test_packages_import_only_what_stands_before_them():
    wrong = []
    for name in MODULES:
        _, *parts = name.split(".")
        if parts and parts[0] in MAY_IMPORT:
            allowed = {parts[0], *LEAVES, *MAY_IMPORT[parts[0]]}
            wrong += [(name, to) for to, _ in imports(name) if to != ROOT and to.split(".")[1] not in allowed]
    assert not wrong


def test_every_package_has_a_place():
    unknown = {name.split(".")[1] for name in MODULES if "." in name} - MAY_IMPORT.keys()
    assert unknown == {"cli", "__main__", "_startup", "_compatibility", "_worker"}


@pytest.mark.parametrize("late", [False, True], ids=["at import", "inside functions too"])
def test_no_files_import_each_other_in_a_circle(late):
    """Inside functions, the start-up hook alone loads what is above it."""
    graph = {
        name: {target for target, early in imports(name) if (early or late) and MODULES[target].name != "__init__.py"}
        for name, path in MODULES.items()
        if path.name != "__init__.py" and not (late and name == f"{ROOT}._startup")
    }
    assert graph.keys() <= {*TopologicalSorter(graph).static_order()}  # a CycleError names those in a circle
