"""Rounds of self-training: train a model on those of its answers that the judge accepts, then sample from it again.

The stages before `answer` do not depend on the model, so they exist once, in the curation's folder. Each round has a
folder in it, with links to these stages, its own stages from `answer` on, its data set and its trained model. If every
round trains the base model anew, this is expert iteration as in STaR (Zelikman et al. 2022) and ReST-EM (Singh et al.
2023).
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

from ..files import drop_torn_checkpoints, file_sha256, write_atomically
from ..settings import read_yaml
from .rows import CurationError
from .settings import STAGES, RoundsSettings


SHARED = STAGES[: STAGES.index("answer")]


def round_settings(settings: RoundsSettings, number: int) -> RoundsSettings:
    """Return the settings of a round (numbered from 1), and create its folder.

    A round samples from the model that the previous round trained. The first round samples from the user's model.
    """
    folder = settings.folder / f"round{number}"
    folder.mkdir(exist_ok=True)
    for stage in SHARED:
        if not (folder / stage).is_symlink():
            (folder / stage).symlink_to(Path("..") / stage)
    answer = settings.answer.model_copy(update=trained(settings.folder, number - 1))
    return settings.model_copy(update={"folder": folder, "answer": answer})


def trained(folder: Path, number: int) -> dict[str, str]:
    """Return a round's trained model under the key `adapter` or `model`. The result is empty for round 0."""
    model = folder / f"round{number}" / "model"
    return {"adapter" if (model / "adapter_config.json").is_file() else "model": str(model)} if number else {}


def train(settings: RoundsSettings, number: int, lock: int) -> None:
    """Train on a round's data set with llamafactory-cli and the user's recipe. The result is in the round's `model`.

    A finished training on the same data with the same recipe is not repeated. A training that was stopped continues
    from its last complete checkpoint.

    Args:
        settings: the settings of all rounds.
        number: the round, from 1.
        lock: file descriptor of the lock on the folder of all rounds. The training process inherits it. If this
            process is killed, the lock thus stays until the training ends, and no second run can start or rewrite its
            data.

    Raises:
        CurationError: there is nothing to train on, or the training fails.
    """
    folder = settings.folder / f"round{number}"
    model, data, recipe = folder / "model", folder / "dataset", read_yaml(settings.recipe)
    name = settings.name
    data_sets = json.loads((data / "dataset_info.json").read_text(encoding="utf-8"))
    if name not in data_sets:
        fix = "take `split` out of their rows, or say validation=0"
        raise CurationError(f"{data}: nothing to train on: all tasks that were solved are held out; {fix}.")
    keys = {"dataset_dir": data, "dataset": name, "output_dir": model, "overwrite_output_dir": "false"}
    if recipe.get("eval_dataset"):
        off = {"eval_dataset": "null", "do_eval": "false", "eval_strategy": '"no"'}
        keys |= {"eval_dataset": f"{name}_eval"} if f"{name}_eval" in data_sets else off
    if settings.start == "previous":
        keys |= {f"{key}_name_or_path": path for key, path in trained(settings.folder, number - 1).items()}
    command = ["train", str(settings.recipe), *(f"{key}={value}" for key, value in keys.items())]
    data_files = {path.name: file_sha256(path) for path in sorted(data.glob("*.json"))}
    state = json.dumps({"command": command, "recipe": recipe, "data": data_files}, indent=2, default=str) + "\n"
    record = folder / "training.json"
    if not record.is_file() or record.read_text(encoding="utf-8") != state:
        shutil.rmtree(model, ignore_errors=True)
        write_atomically(record, state)
    if (model / "train_results.json").is_file():  # LLaMA-Factory writes it after the model
        return
    drop_torn_checkpoints(model)
    code = subprocess.run([sys.executable, "-m", "cuset_stage", *command], pass_fds=(lock,)).returncode
    if code:
        raise CurationError(
            f"round {number}: llamafactory-cli {' '.join(command)} ended with {code}, see above. What was sampled and proved is kept: "
            "correct the recipe and run the same command again."
        )
