"""Patch LLaMA-Factory: eight symbols, each right after the module that defines it has run.

Only the start-up hook calls this file, with one module at a time. A patch changes nothing for the other stages. A
patch looks up everything it needs before it changes anything. If a version of LLaMA-Factory lacks something, the patch
raises, and the hook keeps the error until `stage: cuset` is asked for.
"""

import functools
import sys
from collections.abc import Callable
from dataclasses import fields
from types import ModuleType
from typing import Any


STAGE_TITLE = "CUDA-Sensitive Fine-Tuning (CuSeT)"


def _patch_arguments(module: ModuleType) -> None:
    """Replace `FinetuningArguments` by the subclass that knows `stage: cuset`."""
    from .arguments import extend

    _refuse_if_taken("llamafactory.hparams.parser", "FinetuningArguments", module)
    module.FinetuningArguments = extend(module.FinetuningArguments)


def _patch_parser(module: ModuleType) -> None:
    """Resolve a recipe's paths where it is read, also for Ray's workers, and check its keys before they are parsed."""
    plain_parse, plain_read = module._parse_args, module.read_args

    @functools.wraps(plain_read)
    def read_args(args=None):
        from .arguments import with_paths

        args = plain_read(args)
        return with_paths(args) if isinstance(args, dict) else args

    @functools.wraps(plain_parse)
    def _parse_args(parser, args=None, allow_extra_keys=False):
        args = read_args(args)
        if isinstance(args, dict) and not allow_extra_keys:
            from .arguments import check_spelling

            check_spelling(args, {key.name for group in parser.dataclass_types for key in fields(group) if key.init})
        return plain_parse(parser, args, allow_extra_keys)

    module.read_args, module._parse_args = read_args, _parse_args


def _patch_sft(module: ModuleType) -> None:
    """Send recipes with `stage: cuset`, which look like SFT inside the process, to CuSeT's workflow."""
    plain_run_sft = module.run_sft
    _refuse_if_taken("llamafactory.train.tuner", "run_sft", module)

    @functools.wraps(plain_run_sft)
    def run_sft(model_args, data_args, training_args, finetuning_args, generating_args, callbacks=None):
        if getattr(finetuning_args, "is_cuset", False):
            from .workflow import run_cuset

            return run_cuset(model_args, data_args, training_args, finetuning_args, generating_args, callbacks)

        from llamafactory.extras import logging

        from .arguments import unused_keys_note

        if note := unused_keys_note(finetuning_args):
            logging.get_logger(f"llamafactory.{__name__}").warning_rank0(note)
        return plain_run_sft(model_args, data_args, training_args, finetuning_args, generating_args, callbacks)

    module.run_sft = run_sft


def _patch_loader(module: ModuleType) -> None:
    """Replace the functions of the data loader that build processors and convert rows."""
    names = ("_get_dataset_processor", "get_dataset_list", "align_dataset")
    vars(module).update({name: _while_labelling(getattr(module, name)) for name in names})


def _while_labelling(plain: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function of the loader so that ours is used while data are prepared for `stage: cuset`."""

    @functools.wraps(plain)
    def run(*args: Any, **kwargs: Any) -> Any:
        from .processors import labelling_form

        return labelling_form(plain)(*args, **kwargs)

    return run


def _patch_constants(module: ModuleType) -> None:
    """Add the stage to the list that the web UI offers."""
    module.TRAINING_STAGES[STAGE_TITLE] = "cuset"


_PATCHES = {
    "llamafactory.hparams.finetuning_args": _patch_arguments,
    "llamafactory.hparams.parser": _patch_parser,
    "llamafactory.train.sft": _patch_sft,
    "llamafactory.data.loader": _patch_loader,
    "llamafactory.extras.constants": _patch_constants,
}


def apply(module: ModuleType) -> None:
    """Patch `module`, which has just been imported.

    Raises whatever the missing symbol causes if the module lacks what the patch needs.
    """
    _PATCHES[module.__name__](module)


def _refuse_if_taken(user: str, name: str, module: ModuleType) -> None:
    """Raise RuntimeError when the module `user` has already imported `name` from `module`.

    `user` then holds a reference to the unpatched object, so patching `module` would come too late.
    """
    if hasattr(sys.modules.get(user), name):
        raise RuntimeError(
            f"{user} was imported before cuset-stage could patch {module.__name__}; start a new process"
        )
