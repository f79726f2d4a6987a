"""The start-up hook: patches LLaMA-Factory's modules right after they execute.

cuset_stage.pth (cuset_stage.start from Python 3.15 on) calls install() in every Python process of the environment:
llamafactory-cli, torchrun's and Ray's workers, the web UI's children. So this file imports only what the interpreter
has already loaded, does nothing but put one finder on sys.meta_path, and never raises there. The patches themselves
(cuset_stage.stage.patches) are imported when the first of the modules below is.

A patch that fails must not break `stage: sft`: _compatibility keeps the error and raises it when the recipe asks for
`stage: cuset`.
"""

import os
import sys

from ._compatibility import SYMBOLS, applied, compatibility_error, errors


ARGUMENTS = "llamafactory.hparams.finetuning_args"
V1_LAUNCHER = "llamafactory.v1.launcher"  # not patched: it knows no stages, so asking it for cuset is refused


def disabled() -> bool:
    return os.environ.get("CUSET_STAGE_DISABLE", "").strip().lower() in ("1", "true", "yes", "on")


def install() -> None:
    """Put the finder on sys.meta_path, once, and patch what is already imported. Never raises."""
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
    """Whether a command line (sys.argv if None) sets `stage` to cuset, itself or in a YAML or JSON recipe.

    As in LLaMA-Factory, `stage=...` and `--stage ...` on the command line win over the recipe.
    """
    import re  # costs start-up time, and nobody calls this before LLaMA-Factory is loading
    from itertools import pairwise

    in_recipe = re.compile(
        r"""(?:^|[{,])[ \t]*["']?stage["']?[ \t]*:\s*["']?cuset["']?[ \t\r]*(?:$|[,}]|[ \t]#)""", re.MULTILINE
    )
    argv = sys.argv if argv is None else argv
    recipe, stage = False, None
    for before, word in pairwise(argv):
        if before == "--stage":
            stage = word
        elif word.startswith(("stage=", "--stage=")):
            stage = word.partition("=")[2]
        elif word.lower().endswith((".yaml", ".yml", ".json")):
            try:
                with open(word, encoding="utf-8-sig", errors="replace") as file:
                    recipe = recipe or in_recipe.search(file.read()) is not None
            except OSError:
                continue  # LLaMA-Factory says it better
    return recipe if stage is None else stage.strip("\"' ") == "cuset"


class _Finder:
    """Lets the other finders find the modules above and hooks the loader they come back with."""

    is_cuset_stage_finder = True  # survives importlib.reload and a second copy of this package on sys.path

    def __init__(self):
        self.busy = set()

    def find_spec(self, name, path=None, target=None):
        if name not in SYMBOLS and name != V1_LAUNCHER:
            return None
        # A finder that asks the others, as this one does, would call us again; another thread may too.
        from _thread import get_ident

        call = (name, get_ident())
        if call in self.busy:
            return None
        self.busy.add(call)
        try:
            for finder in sys.meta_path:
                find_spec = getattr(finder, "find_spec", None)
                if finder is not self and find_spec is not None:
                    spec = find_spec(name, path, target)
                    if spec is not None:
                        _hook(name, spec.loader)
                        return spec
            return None
        except Exception as error:
            # The ordinary search goes on behind us, and raises by itself what is not ours.
            errors[name] = error
            return None
        finally:
            self.busy.discard(call)


def _hook(name, loader):
    """Make the loader patch the module `name` once, right after it executed it.

    The loader stays the object its finder made. Only its exec_module is covered, by an attribute of the instance that
    is gone again when the module runs: nothing that later looks at module.__spec__.loader (inspect, pickle, runpy,
    importlib.resources) can tell. importlib.reload searches anew, so it patches anew.
    """
    if isinstance(loader, type):
        raise TypeError(f"{loader.__name__} loads the module: a loader without instances cannot be hooked")
    execute = loader.exec_module
    covered = loader.__dict__.get("exec_module")

    def exec_module(module):
        if module.__name__ != name:  # zipimport: one loader for the whole archive
            return execute(module)
        if loader.__dict__.get("exec_module") is exec_module:
            if covered is None:
                del loader.exec_module
            else:
                loader.exec_module = covered
        if name == V1_LAUNCHER:
            _refuse_v1()
        execute(module)
        if name in SYMBOLS:
            _patch(module)
        # Without this patch LLaMA-Factory would only say that it knows no stage of that name.
        if name == ARGUMENTS and name in errors and asks_for_cuset():
            raise compatibility_error() from errors[name]

    loader.exec_module = exec_module


def _patch(module):
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


def _refuse_v1():
    if asks_for_cuset():
        raise SystemExit("stage: cuset does not exist in LLaMA-Factory's v1 engine; unset USE_V1 and run it again.")
