"""Read robust-kbench (Apache 2.0) from a clone of its repository: kernels for the forward or backward of PyTorch
functions.

config_forward.json and func_forward.py in a folder are one task, config_backward.json and func_backward.py another. A
configuration names keyword arguments of Model and get_inputs. Each combination of them is a setting. To judge all
settings at once, one model holds the task's model in all of them (settings_model.py). The answer is a .cu file that
exports `forward` or `backward`.

The text of settings_model.py becomes part of each task's reference. So any change to that file, even to a comment,
changes the fingerprints of these tasks.
"""

import hashlib
import itertools
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from ..files import is_regular
from ..row_checks import RowModel
from .base import ModuleTask, TaskError
from .kernelbench import check_defines
from .messages import KERNEL_SYSTEM, kernel_prompt
from .task_rows import NAME, Row, read_object, read_text


LAYOUT = "<task>/config_forward.json"
MODEL = Path(__file__).with_name("settings_model.py")
Settings = dict[str, tuple[dict[str, Any], dict[str, Any]]]  # name -> arguments of Model, and of get_inputs

_Arguments = Annotated[
    list[dict[str, Any]], Field(min_length=1, description="a list of at least one object: keyword arguments")
]


class _ConfigRow(RowModel):
    multi_init_configs: _Arguments
    multi_input_configs: _Arguments
    multi_shared_configs: _Arguments


def read_folder(path: Path) -> tuple[list[ModuleTask], str]:
    """Read the tasks of all folders under `path`.

    Returns:
        The tasks, and a SHA-256 of their content. There are no tasks if the folder is no clone of robust-kbench.

    Raises:
        TaskError: A file breaks the format. The message names the file and the key at fault.
    """
    path = path / "tasks" if (path / "tasks").is_dir() else path
    digest, tasks = hashlib.sha256(), []
    is_clone = any(path.rglob("config_forward.json"))
    for config in sorted(path.rglob("config_*.json")) if is_clone else ():
        direction = config.stem.removeprefix("config_")
        if direction not in _ARGUMENTS:
            raise TaskError(f"{config}: expected config_forward.json or config_backward.json")
        parts = config.parent.relative_to(path).parts or (path.resolve().name,)
        task = _read_task(config, "_".join(parts), direction)
        digest.update(task.fingerprint.encode())
        tasks.append(task)
    return tasks, digest.hexdigest()


def _read_task(config: Path, name: str, direction: str) -> ModuleTask:
    """Return the task of one configuration. `direction` is "forward" or "backward"."""
    settings = _settings(Row(str(config), read_object(config)))
    code = read_text(config.with_name(f"func_{direction}.py"))
    row = Row(f"{config.parent.name}/func_{direction}.py", {})
    check_defines(row, code, ("Model", "get_inputs", *(["AutogradFunction"] if direction == "backward" else [])))
    if not NAME.fullmatch(name):
        raise TaskError(f"{config.parent}: expected a name of letters, digits and _ . + - only")
    kernel, filters = config.with_name(f"{direction}.cu"), config.with_name("filter_results.json")
    results = read_object(filters) if filters.is_file() else {}
    caught_by = sorted(filter_name for filter_name, result in results.items() if result is True)
    frame = f"SOURCE = {code!r}\nSETTINGS = {settings!r}\nBACKWARD = {direction == 'backward'}\n\n\n{read_text(MODEL)}"
    return ModuleTask(
        id=f"{name}_{direction}",
        name=f"{name}_{direction}",
        family=name,
        prompts={1: kernel_prompt(code, direction, _ARGUMENTS[direction], list(settings))},
        system=KERNEL_SYSTEM,
        reference=frame,
        source=f"{config.parent.name}/{config.name}",
        split=direction,
        solution=read_text(kernel) if is_regular(kernel) else None,
        own_source=code,
        frame=frame,
        notes=tuple(f"task: {filter_name}, by the task set's own filters" for filter_name in caught_by),
        language="cuda",
    )


_ARGUMENTS = {
    "forward": "it takes what forward_fn takes, in its order, and returns what it returns",
    "backward": "it takes what AutogradFunction.backward gives to backward_fn, in its order, and returns the gradients expected there",
}


def _settings(row: Row) -> Settings:
    """Return every combination of arguments, as the set's own harness makes them.

    Shared arguments go to both Model and get_inputs, and take precedence.
    """
    config = row.read(_ConfigRow)
    settings: Settings = {}
    kinds = config.multi_init_configs, config.multi_input_configs, config.multi_shared_configs
    for init, inputs, shared in itertools.product(*kinds):
        arguments = {**init, **inputs, **shared}
        name = ", ".join(f"{key}={value}" for key, value in arguments.items()) or "default"
        settings.setdefault(name, ({**init, **shared}, {**inputs, **shared}))
    return settings
