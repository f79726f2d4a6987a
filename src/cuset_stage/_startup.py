"""The start-up hook, which patches LLaMA-Factory's modules directly after they execute.

cuset_stage.pth (cuset_stage.start from Python 3.15 on) calls install() in every Python process of the environment:
llamafactory-cli, the workers of torchrun and Ray, and the child processes of the web UI. For this reason the file
imports only modules that the interpreter has already loaded, only puts one finder on sys.meta_path, and never raises
while it does so. The patches themselves (cuset_stage.stage.patches) are imported together with the first LLaMA-Factory
module of `SYMBOLS`.

A patch that fails must not break `stage: sft`. `_compatibility` keeps the error, and raises it when the recipe asks
for `stage: cuset`.
"""

import os
import sys

from ._compatibility import SYMBOLS, applied, compatibility_error, errors


ARGUMENTS = "llamafactory.hparams.finetuning_args"
# Not patched: v1 has no stages, so a recipe that asks it for cuset is refused.
V1_LAUNCHER = "llamafactory.v1.launcher"


def disabled() -> bool:
    """Return whether the environment variable CUSET_STAGE_DISABLE turns the hook off."""
    return os.environ.get("CUSET_STAGE_DISABLE", "").strip().lower() in ("1", "true", "yes", "on")


def install() -> None:
    """Put the finder on sys.meta_path, once, and patch the modules that are already imported. Never raises."""
    try:
        if disabled() or any(getattr(finder, "is_cuset_stage_finder", False) for finder in sys.meta_path):
            return
        sys.meta_path.insert(0, _Finder())
        for name in SYMBOLS:
            if name in sys.modules:
                _patch(sys.modules[name])
    except Exception as error:
        errors["cuset_stage._startup"] = error


def asks_for_cuset(argv: list[str] | None = None) -> bool:
    """Return whether a command line sets `stage` to cuset, itself or in a YAML or JSON recipe.

    As in LLaMA-Factory, `stage=...` and `--stage ...` on the command line win over the recipe.

    Args:
        argv: the command line, with the program's name first. None means sys.argv.
    """
    import re  # not at the top: it costs start-up time, and this is called only once LLaMA-Factory is loading

    words = (sys.argv if argv is None else argv)[1:]
    if stages := re.findall(r"\bstage[= ]['\"]?(\w+)", " ".join(words)):
        return stages[-1] == "cuset"
    in_recipe = re.compile(
        r"""(?:^|[{,])[ \t]*["']?stage["']?[ \t]*:\s*["']?cuset["']?[ \t\r]*(?:$|[,}]|[ \t]#)""", re.MULTILINE
    )
    for word in words:
        if word.lower().endswith((".yaml", ".yml", ".json")):
            try:
                with open(word, encoding="utf-8-sig", errors="replace") as file:
                    if in_recipe.search(file.read()):
                        return True
            except OSError:
                continue  # LLaMA-Factory reports this with a better message
    return False


class _Finder:
    """Find LLaMA-Factory's modules as Python's own finder does, and give them a loader that patches them."""

    # An attribute, and not isinstance: it recognises the finder after importlib.reload, and the finder of a second
    # copy of this package on sys.path.
    is_cuset_stage_finder = True

    def find_spec(self, name, path=None, target=None):
        if name not in SYMBOLS and name != V1_LAUNCHER:
            return None
        from importlib.machinery import PathFinder

        spec = PathFinder.find_spec(name, path, target)
        if spec is not None:
            spec.loader = _Loader(spec.loader)
        return spec


class _Loader:
    """Wrap a module's own loader, and patch the module directly after it was executed.

    Before the module runs, the wrapper puts the original loader back. Code that later looks at module.__spec__.loader
    (inspect, pickle, runpy, importlib.resources) therefore sees no difference. importlib.reload searches for the
    module again, so the module is patched again.
    """

    def __init__(self, loader):
        self._loader = loader

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def exec_module(self, module):
        name = module.__name__
        module.__loader__ = module.__spec__.loader = self._loader
        if name == V1_LAUNCHER and asks_for_cuset():
            raise SystemExit(
                "LLaMA-Factory's v1 engine knows no stages, so stage: cuset neither; unset USE_V1 and run it again, or write a recipe of "
                "v1 and run `python -m cuset_stage.llamafactory_v1` (docs/other_trainers.md)."
            )
        self._loader.exec_module(module)
        if name in SYMBOLS:
            _patch(module)
        # Without this patch, LLaMA-Factory's own message would only be that it knows no stage of that name.
        if name == ARGUMENTS and name in errors and asks_for_cuset():
            raise compatibility_error() from errors[name]


def _patch(module):
    """Patch a module, and record in `_compatibility` whether that worked. Never raises."""
    name = module.__name__
    try:
        from cuset_stage.stage import patches

        patches.apply(module)
    except Exception as error:
        errors[name] = error
        applied.discard(name)
    else:
        errors.pop(name, None)
        applied.add(name)
