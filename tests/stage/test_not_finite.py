"""Numbers that are not finite: the error says which, in which step, what may have made them so, and the fix. Real runs on a CPU."""

import re
import shutil

import pytest
import torch
from llamafactory.train.tuner import run_exp
from safetensors.torch import load_file, save_file
from test_memory import DATA
from transformers import TrainerCallback

from cuset_stage import attention
from cuset_stage.objective.cuset import NonFiniteError


class At(TrainerCallback):
    """Does something with the model when a step, counted from 1, begins."""

    def __init__(self, step, do):
        self.step, self.do = step, do

    def on_step_begin(self, args, state, control, model=None, **kwargs):
        if state.global_step + 1 == self.step:
            self.do(model)


def trained(model):
    return next(weight for weight in model.parameters() if weight.requires_grad)


def spoil_gradient(value):
    return lambda model: trained(model).register_hook(lambda gradient: torch.full_like(gradient, value))


def spoil_weight(model):
    with torch.no_grad():
        trained(model).fill_(float("nan"))


@pytest.fixture
def train(tiny_model, tmp_path):
    def run(*callbacks, **keys):
        recipe = {
            "stage": "cuset",
            "model_name_or_path": str(tiny_model),
            "do_train": True,
            "finetuning_type": "full",
            "dataset": "cuset_kernels",
            "dataset_dir": str(DATA),
            "template": "qwen",
            "cutoff_len": 128,
            "max_samples": 8,
            "max_steps": 4,
            "logging_steps": 1,
            "save_strategy": "no",
            "report_to": "none",
            "use_cpu": True,
            "output_dir": str(tmp_path / "out"),
            "overwrite_cache": True,
            **keys,
        }
        run_exp(recipe, callbacks=list(callbacks))

    return run


@pytest.mark.parametrize(
    ("value", "keys"),
    [
        ("nan", {}),
        ("nan", {"logging_steps": 50}),
        ("nan", {"logging_steps": 50, "cuset_fused": "off", "finetuning_type": "lora"}),
        ("inf", {"cuset_fused": "off", "max_grad_norm": 0}),
    ],
)
def test_a_gradient(train, value, keys):
    """Said of the step that made it, also where only the next step's logits show it."""
    with pytest.raises(
        NonFiniteError, match=r"^step 2: the gradient norm is (nan|inf), which ruins the weights"
    ) as error:
        train(At(2, spoil_gradient(float(value))), **keys)
    assert "lower learning_rate" in str(error.value) and "damaged" not in str(error.value)


def test_a_gradient_of_the_last_step(train, tmp_path):
    with pytest.raises(NonFiniteError, match=r"^step 4: the gradient norm is nan"):
        train(At(4, spoil_gradient(float("nan"))), logging_steps=50)
    assert not list((tmp_path / "out").glob("*.safetensors"))


def test_a_gradient_is_said_before_a_checkpoint_is_written(train, tmp_path):
    with pytest.raises(NonFiniteError, match=r"^step 2: the gradient norm is nan"):
        train(At(2, spoil_gradient(float("nan"))), logging_steps=50, save_strategy="steps", save_steps=1)
    assert (tmp_path / "out" / "checkpoint-1").is_dir() and not (tmp_path / "out" / "checkpoint-2").exists()


def test_cudnn_attention_is_named_where_it_can_be_the_cause(train, monkeypatch):
    monkeypatch.setattr(attention, "capabilities", lambda device: [(9, 0)])
    switched = []
    see = At(1, lambda model: switched.append(torch.backends.cuda.cudnn_sdp_enabled()))
    for keys, is_on in (({}, False), ({"cuset_cudnn_attention": "true"}, True), ({}, False)):
        with pytest.raises(NonFiniteError) as error:
            train(see, At(2, spoil_gradient(float("nan"))), **keys)
        assert switched.pop() == is_on
        named = "on compute capability 9.0 it gives NaN gradients for padded and packed rows (pytorch#196678)"
        assert (named in str(error.value)) == ("remove cuset_cudnn_attention: true" in str(error.value)) == is_on


@pytest.mark.parametrize("fused", ["on", "off"])
def test_weights_that_training_spoiled(train, fused):
    with pytest.raises(
        NonFiniteError, match=r"^step 3: \d+ of \d+ supervised tokens have NaN or infinite logits"
    ) as error:
        train(At(3, spoil_weight), cuset_fused=fused)
    assert re.search(
        r"weights are not finite either, model\.\S+, since an earlier step\. Possible causes", str(error.value)
    )


@pytest.mark.parametrize(
    ("fused", "keys"),
    [("on", {}), ("off", {"finetuning_type": "lora"}), ("on", {"do_train": False, "do_eval": True})],
)
def test_files_that_are_damaged(train, tiny_model, tmp_path, fused, keys):
    shutil.copytree(tiny_model, tmp_path / "model")
    file = tmp_path / "model" / "model.safetensors"
    tensors = load_file(file)
    tensors["model.norm.weight"].fill_(float("nan"))
    save_file(tensors, file, metadata={"format": "pt"})
    if "do_eval" in keys:
        keys = {**keys, "eval_dataset": "cuset_kernels_eval", "dataset": None, "max_steps": -1}
    with pytest.raises(NonFiniteError) as error:
        train(model_name_or_path=str(tmp_path / "model"), cuset_fused=fused, **keys)
    where = "evaluation after step 0" if "do_eval" in keys else "step 1"
    assert str(error.value).startswith(f"{where}: ") and "norm.weight" in str(error.value)
    assert "behind the output layer" not in str(error.value)
    assert str(error.value).endswith("The files of the model or of its adapter are damaged: load others.")


def test_logits_of_finite_weights(train):
    """A layer that overflows."""
    with pytest.raises(NonFiniteError, match=r"^step 2: .* logits; the weights are finite\. Possible causes: "):
        train(At(2, lambda model: model.model.norm.register_forward_hook(lambda *found: found[2] * float("inf"))))
