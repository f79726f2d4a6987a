"""A recipe as it was read, before LLaMA-Factory parses it: keys that do not exist, and paths that do not depend on the working directory."""

import sys
from collections.abc import Iterable
from dataclasses import fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from .. import bundled
from ..text import nearest
from .arguments import STAGE
from .retired import check_retired


PATH_KEYS = ("dataset_dir", "deepspeed")


def check_spelling(args: dict[str, Any], groups: Iterable[type]) -> None:
    """Refuse a misspelt `stage: cuset`, a key that is gone and a misspelt key. groups: the dataclasses whose fields the recipe's keys are.

    A recipe of another stage hears of `cuset_*` keys alone; the rest is LLaMA-Factory's to say.

    Raises:
        ValueError: names the key, and what to write in its place.
    """
    stage = args.get("stage", "sft")
    if stage != STAGE and isinstance(stage, str) and get_close_matches(stage, [STAGE]):
        raise ValueError(f"stage: {stage}: no such stage; did you mean {STAGE}?")
    check_retired(args)
    known = {field.name for group in groups for field in fields(group) if field.init}
    ours = [name for name in known if name.startswith(f"{STAGE}_")]
    for key in args.keys() - known:
        if stage == STAGE or get_close_matches(key, ours):
            raise ValueError(f"{key}: no such key in a recipe; {nearest(key, known)}")


def with_paths(args: dict[str, Any], groups: Iterable[type]) -> dict[str, Any]:
    """Under `stage: cuset`, PATH_KEYS that name nothing in the working directory, found beside the recipe or in the package.

    So a recipe that comes with the package, or a copy of it, trains from any folder. groups: the dataclasses that are parsed.
    """
    if args.get("stage") != STAGE:
        return args
    folders = [bundled.data().parent]
    if len(sys.argv) > 1 and sys.argv[1].endswith((".yaml", ".yml")):
        folders.insert(0, Path(sys.argv[1]).absolute().parent)
    found = {}
    known = {field.name for group in groups for field in fields(group)}
    for key in known.intersection(PATH_KEYS):
        value = args.get(key)
        if isinstance(value, str) and not Path(value).exists():
            there = [folder / value for folder in folders if (folder / value).exists()]
            if there:
                found[key] = str(there[0])
    if found:
        from llamafactory.extras import logging

        said = ", ".join(f"{key}: {path}" for key, path in found.items())
        logging.get_logger(f"llamafactory.{__name__}").info_rank0(
            f"Not in the working directory, so taken from: {said}"
        )
    return {**args, **found}
