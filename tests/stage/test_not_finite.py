"""Numbers that are not finite end a run with an error that names them, the step, possible causes, and the fix."""

import pytest
import torch
import transformers
from llamafactory.train.tuner import run_exp
from packaging.version import Version
from transformers import TrainerCallback

from cuset_stage import attention
from cuset_stage.objective.cuset import NonFiniteError


class At(TrainerCallback):
    """A callback that calls `do` with the model when a step (counted from 1) begins."""

    def __init__(self, step, do):
        self.step, self.do = step, do

    def on_step_begin(self, args, state, control, model=None, **kwargs):
        if state.global_step + 1 == self.step:
            self.do(model)


def spoil_gradient(value):
    """Return a function that replaces a gradient of the model by this value, in every backward pass from then on."""

    def spoil(model):
        trained = next(weight for weight in model.parameters() if weight.requires_grad)
        trained.register_hook(lambda gradient: torch.full_like(gradient, value))

    return spoil


@pytest.fixture
def train(recipe):
    def run(*callbacks, **keys):
        run_exp({**recipe, "max_steps": 4, "logging_steps": 1, **keys}, callbacks=list(callbacks))

    return run


@pytest.mark.parametrize(
    ("value", "keys"),
    [
        ("nan", {}),
        ("nan", {"logging_steps": 50, "cuset_fused": "off", "finetuning_type": "lora"}),
        ("inf", {"cuset_fused": "off", "max_grad_norm": 0}),
    ],
)
def test_a_gradient(train, value, keys):
    """The error names the step whose gradient it was, even if only the logits of the next step show the damage."""
    message = r"^step 2: the gradient norm is (nan|inf), which ruins the weights\. .*lower learning_rate"
    if "max_grad_norm" in keys and Version(transformers.__version__).major < 5:  # it computes no norm then
        message = r"^step 3: \d+ of \d+ supervised tokens have NaN or infinite logits\. .*lower learning_rate"
    with pytest.raises(NonFiniteError, match=message):
        train(At(2, spoil_gradient(float(value))), **keys)


def test_a_gradient_is_said_before_anything_is_written(train, tmp_path):
    """No checkpoint and no final model may be written with ruined weights."""
    with pytest.raises(NonFiniteError, match=r"^step 2: the gradient norm is nan"):
        train(At(2, spoil_gradient(float("nan"))), logging_steps=50, save_strategy="steps", save_steps=1)
    assert (tmp_path / "out" / "checkpoint-1").is_dir() and not (tmp_path / "out" / "checkpoint-2").exists()
    with pytest.raises(NonFiniteError, match=r"^step 4: the gradient norm is nan"):
        train(At(4, spoil_gradient(float("nan"))), logging_steps=50)
    assert not list((tmp_path / "out").glob("*.safetensors"))


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
def test_logits(train, fused):
    """A layer overflows, as it would with damaged weights.

    The error must not say that the model changes its logits behind the output layer.
    """
    overflow = At(2, lambda model: model.model.norm.register_forward_hook(lambda *found: found[2] * float("inf")))
    message = r"^step 2: \d+ of \d+ supervised tokens have NaN or infinite logits\. Possible causes: .*are damaged: load others"
    with pytest.raises(NonFiniteError, match=message):
        train(overflow, cuset_fused=fused)


def test_logits_of_an_evaluation(train, monkeypatch):
    import transformers

    forward = transformers.Qwen2Model.forward

    def spoiled(*args, **kwargs):
        output = forward(*args, **kwargs)
        output.last_hidden_state = output.last_hidden_state * float("nan")
        return output

    monkeypatch.setattr(transformers.Qwen2Model, "forward", spoiled)
    keys = {"do_train": False, "do_eval": True, "eval_dataset": "cuset_kernels_eval", "dataset": None, "max_steps": -1}
    with pytest.raises(NonFiniteError, match=r"^evaluation after step 0: "):
        train(**keys)
