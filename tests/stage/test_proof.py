"""`stage: cuset` trains with CuSeT's trainer or not at all, whatever path LLaMA-Factory takes."""

import gc
from pathlib import Path

import pytest
import torch
import transformers
from llamafactory.hparams.finetuning_args import FinetuningArguments
from llamafactory.train import tuner
from llamafactory.train.sft import workflow

from cuset_stage.stage.proof import OtherTrainerError


def step_of_torch():
    parameter = torch.nn.Parameter(torch.ones(1))
    parameter.grad = torch.ones(1)
    torch.optim.SGD([parameter], lr=0.5).step()
    return float(parameter.detach())


def loop_of_its_own(model_args, data_args, training_args, *_):
    """A training loop without transformers' Trainer, as a bridge to another library has."""
    Path(training_args.output_dir, "trained").write_text(str(step_of_torch()))


@pytest.mark.parametrize(
    ("route", "optimizer"), [(workflow.run_sft, "AdamW"), (loop_of_its_own, "SGD")], ids=["run_sft", "own loop"]
)
def test_another_trainer_is_refused_before_its_first_step(recipe, monkeypatch, route, optimizer):
    """Training that bypasses our `run_sft` is stopped at the optimizer's first step.

    LLaMA-Factory's development version has such a path: its Megatron bridge, which an environment variable turns on.
    """
    monkeypatch.setattr(tuner, "run_sft", route)
    with pytest.raises(OtherTrainerError, match=f"another trainer would have trained.*{optimizer} was about to"):
        tuner.run_exp(recipe)
    output = Path(recipe["output_dir"])
    assert not list(output.glob("*.safetensors")) and not (output / "trained").exists()
    assert step_of_torch() == 0.5  # afterwards other optimizers work again in this process


def test_other_stages_and_recipes_that_were_only_read_ask_for_nothing(recipe, monkeypatch):
    """Runs of other stages are not stopped, even in a process that has read a recipe of cuset before or does so
    afterwards.
    """
    arguments = FinetuningArguments(stage="cuset")
    monkeypatch.setattr(tuner, "run_sft", loop_of_its_own)
    Path(recipe["output_dir"]).mkdir()
    tuner.run_exp({**recipe, "stage": "sft"})
    assert Path(recipe["output_dir"], "trained").read_text() == "0.5"
    arguments = FinetuningArguments(stage="cuset")
    with pytest.raises(OtherTrainerError, match="SGD"):
        step_of_torch()
    del arguments
    gc.collect()
    assert step_of_torch() == 0.5


def test_a_training_step_that_computes_its_own_loss_is_refused(recipe, monkeypatch):
    """Some libraries replace the Trainer's training step, so that our loss would not be computed."""

    def training_step(self, model, inputs, num_items_in_batch=None):
        columns = {name: value for name, value in inputs.items() if name not in ("cuda_mask", "sample_ids")}
        loss = model(**columns).loss
        loss.backward()
        return loss.detach()

    monkeypatch.setattr(transformers.Trainer, "training_step", training_step)
    with pytest.raises(OtherTrainerError, match="a training step did not compute CuSeT's loss"):
        tuner.run_exp(recipe)
    assert not list(Path(recipe["output_dir"]).glob("*.safetensors"))


def test_the_v1_engine_is_refused(llamafactory):
    run = llamafactory({"stage": "cuset", "max_steps": 1}, check=False, USE_V1="1")
    assert run.returncode != 0
    assert "LLaMA-Factory's v1 engine knows no stages, so stage: cuset neither; unset USE_V1" in run.output
