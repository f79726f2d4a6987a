"""The fused head in real models.

It gives the loss and the gradients of the model's own logits, or a reason why it cannot be used with the model.
"""

import copy

import pytest
import torch
from features import OFF
from tiny_models import make_of_type
from transformers import GptOssConfig, LlamaConfig, PhiConfig, Qwen2Config, Qwen2ForCausalLM
from transformers.modeling_outputs import CausalLMOutput
from transformers.models.auto.modeling_auto import AutoModelForCausalLM

from cuset_stage.objective import ObjectiveSettings, objective_loss
from cuset_stage.stage.head import FusedHead
from cuset_stage.stage.trainer import CusetTrainer, evaluating


TINY = dict(vocab_size=97, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4)
TINY |= dict(num_key_value_heads=2, head_dim=8, pad_token_id=0, bos_token_id=1, eos_token_id=2)
SETTINGS = ObjectiveSettings(tau=0.005, window=8)


def tiny(config_class=Qwen2Config, **changes):
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(config_class(**{**TINY, **changes}))
    if model.lm_head.bias is not None:
        torch.nn.init.normal_(model.lm_head.bias)
    return model


def test_rows_without_labels_are_refused():
    """Without them the loss would be computed as if there were no CUDA in the rows."""
    with pytest.raises(ValueError, match="the batch has no cuda_mask"):
        CusetTrainer.compute_loss(CusetTrainer.__new__(CusetTrainer), None, {"input_ids": None, "labels": None})


@pytest.fixture
def batch():
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(3, 97, (2, 40), generator=generator)
    labels = ids.clone()
    labels[:, :9] = -100
    cuda_mask = torch.randint(0, 2, (2, 40), generator=generator)
    sample_ids = torch.arange(40)[None].expand(2, -1) // 20 + 1
    return {"ids": ids, "labels": labels, "cuda_mask": cuda_mask, "sample_ids": sample_ids}


def armed(head, batch, **changes):
    """Arm the head with the columns of the batch, some of them changed."""
    columns = {name: batch[name] for name in ("labels", "cuda_mask", "sample_ids")}
    return head.armed(**{**columns, "num_items_in_batch": 17, **changes})


def verified(model, batch):
    """Return a fused head of the model that has been verified in one forward pass."""
    head = FusedHead(model, SETTINGS)
    with torch.no_grad():
        head.verify(lambda: model(input_ids=batch["ids"]))
    return head


def check_against_logits(head, model, other, batch):
    """Check loss and gradients of the fused head against those of the copy `other` from logits.

    Return the loss and the output.
    """
    with armed(head, batch):
        returned = model(input_ids=batch["ids"]).logits
    fused = head.loss_of(returned)
    columns = (batch[name] for name in ("labels", "cuda_mask", "sample_ids"))
    plain = objective_loss(other(input_ids=batch["ids"]).logits, *columns, head.settings, num_items_in_batch=17)
    torch.testing.assert_close(fused, plain)
    fused.backward()
    plain.backward()
    for (name, ours), theirs in zip(model.named_parameters(), other.parameters(), strict=True):
        assert (ours.grad is None) == (theirs.grad is None), name
        if ours.grad is not None:
            torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-4, atol=1e-6, msg=name)
    return fused, returned


@pytest.mark.parametrize(
    ("config_class", "changes", "trains", "objective"),
    [
        *((Qwen2Config, {}, "all", objective) for objective in ("cuset", "sft", "dft", "eaft", "profit")),
        (Qwen2Config, {"tie_word_embeddings": True}, "all", "cuset"),
        (LlamaConfig, {}, "not the head", "cuset"),
        (PhiConfig, {}, "all", "dft"),  # has a bias
        (PhiConfig, {}, "not the head", "eaft"),
        (GptOssConfig, {"num_local_experts": 4}, "all", "cuset"),
    ],
)
def test_loss_and_gradients_are_those_of_the_logits(batch, config_class, changes, trains, objective):
    model = tiny(config_class, **changes)
    if trains != "all":
        model.lm_head.requires_grad_(False)
    settings = ObjectiveSettings(objective=objective, tau=0.005, window=8, prob_threshold=(0.005,))
    other, head = copy.deepcopy(model), FusedHead(model, settings)
    assert head.reason is None
    _, returned = check_against_logits(head, model, other, batch)
    assert returned.numel() == 1


def changing(change):
    """Return a model class that changes its logits after the output layer, to change(model, logits)."""

    class Changing(Qwen2ForCausalLM):
        def forward(self, *args, **kwargs):
            output = super().forward(*args, **kwargs)
            output.logits = change(self, output.logits)
            return output

    return Changing


Scaled = changing(lambda model, logits: logits * 0.5)
Capped = changing(lambda model, logits: 30.0 * torch.tanh(logits / 30.0))
Sliced = changing(lambda model, logits: logits[..., :90])
Untouched = changing(lambda model, logits: logits.float())
ScaledInTraining = changing(lambda model, logits: logits * 0.5 if model.training else logits)
RepeatedInTraining = changing(lambda model, logits: logits.repeat(1, 1, 2) if model.training else logits)
Cast = changing(lambda model, logits: logits.to(torch.bfloat16).float())  # as under FSDP 2; Accelerate casts back


class Past(Qwen2ForCausalLM):
    """Multiplies with the output layer's weight without calling the layer."""

    def forward(self, input_ids, **kwargs):
        hidden = self.model(input_ids).last_hidden_state
        return CausalLMOutput(logits=hidden @ self.lm_head.weight.t())


class Twice(Qwen2ForCausalLM):
    """Calls its output layer twice."""

    def forward(self, *args, **kwargs):
        super().forward(*args, **kwargs)
        return super().forward(*args, **kwargs)


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (Sliced, "reshapes its logits"),
        (Past, "does not call its output layer"),
        (Twice, "does not call its output layer once"),
        (Untouched, None),
    ],
)
def test_a_model_that_changes_its_logits_in_secret_is_found_out(batch, kind, reason):
    model = kind(Qwen2Config(**TINY))
    head = verified(model, batch)
    assert head.is_verified == (reason is None)
    assert head.reason is None if reason is None else reason in head.reason
    assert model(input_ids=batch["ids"]).logits.shape[:2] == (2, 40)  # afterwards the layer gives whole logits again


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("kind", [Scaled, Capped])
def test_a_change_that_leaves_the_model_s_own_logits_is_found_out(batch, kind, dtype):
    """An untrained head of zeros has logits that a scale or a cap leaves as they are.

    The change is found all the same.
    """
    model = kind(Qwen2Config(**TINY)).to(dtype)
    torch.nn.init.zeros_(model.lm_head.weight)
    before = torch.get_rng_state()
    head = verified(model, batch)
    assert "changes its logits behind the output layer" in head.reason
    assert torch.equal(torch.get_rng_state(), before)  # the check must not change the random numbers of training


class PastInTraining(Past):
    """Calls its output layer in evaluation only. Some models compute their own loss in training."""

    def forward(self, input_ids, **kwargs):
        return (Past if self.training else Qwen2ForCausalLM).forward(self, input_ids, **kwargs)


def test_a_model_whose_outputs_are_cast_keeps_its_loss_and_gradients(batch):
    torch.manual_seed(0)
    model = Cast(Qwen2Config(**TINY)).train()
    other = Qwen2ForCausalLM(Qwen2Config(**TINY))
    other.load_state_dict(model.state_dict())
    head = FusedHead(model, SETTINGS)
    for _ in range(2):
        model.zero_grad()
        other.zero_grad()
        loss, returned = check_against_logits(head, model, other, batch)
        assert float(returned.detach()) != float(loss.detach())


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (ScaledInTraining, "the model changes its logits behind the output layer in training"),
        (PastInTraining, "the model does not call its output layer"),
        (RepeatedInTraining, "the model reshapes its logits"),
    ],
)
def test_a_model_that_does_so_in_training_alone_is_found_out(batch, kind, reason):
    model = kind(Qwen2Config(**TINY)).eval()
    head = verified(model, batch)
    assert head.is_verified

    def loss(labels):
        with armed(head, batch, labels=labels):
            return head.loss_of(model(input_ids=batch["ids"]).logits)

    assert loss(batch["labels"]) is not None  # an evaluation before training works
    model.train()
    nothing = loss(torch.full_like(batch["labels"], -100))
    assert not head.is_confirmed and nothing in (0.0, None)  # a batch without supervised tokens confirms nothing
    assert loss(batch["labels"]) is None and head.reason == reason


def test_a_loss_is_held_against_the_output_layer_s_once(batch, monkeypatch):
    model = tiny().train()
    head = FusedHead(model, SETTINGS)
    for _ in range(2):
        with armed(head, batch):
            logits = model(input_ids=batch["ids"]).logits
        assert head.loss_of(logits) is not None and head.is_confirmed
        monkeypatch.setattr(torch.Tensor, "__float__", None)  # from here on nothing may wait for the device


def test_weights_that_are_gone_after_the_pass_are_copied(batch):
    """Under ZeRO-3 a parameter is empty outside its layer's forward pass, so the head copies the weights during the
    pass.
    """
    model = tiny()
    whole = model.lm_head.weight.data.clone()
    empty = torch.empty(0)

    def gather(*_):
        model.lm_head.weight.data = whole.clone()

    def release(*_):
        model.lm_head.weight.data = empty

    head = FusedHead(model, SETTINGS)
    model.lm_head.register_forward_pre_hook(gather)
    model.lm_head.register_forward_hook(release)
    release()
    passes = []
    for expected in (2, 1):
        passes.clear()
        with torch.no_grad():
            run = lambda: (passes.append(1), model(input_ids=batch["ids"]))  # noqa: E731
            hidden, (weight, bias) = head.inputs_of(run, with_head=True)
        assert torch.equal(weight, whole) and bias is None and hidden.shape == (2, 40, 32)
        assert len(passes) == expected  # the first call needs another pass to find this out


def test_evaluating_leaves_out_dropout_and_puts_every_module_back(batch):
    model = tiny(attention_dropout=0.5)
    with torch.no_grad():
        expected = model.eval()(input_ids=batch["ids"]).logits
    model.train().model.layers[0].eval()  # a part that stays in evaluation mode during training
    before = {name: module.training for name, module in model.named_modules()}
    state = torch.get_rng_state()
    with torch.no_grad(), evaluating(model):
        assert torch.equal(model(input_ids=batch["ids"]).logits, expected)
    assert torch.equal(torch.get_rng_state(), state)
    assert {name: module.training for name, module in model.named_modules()} == before
    assert not torch.equal(model(input_ids=batch["ids"]).logits, expected)


def test_the_head_of_a_later_trainer_takes_the_place_of_an_earlier_one(batch):
    model = tiny()
    FusedHead(model, SETTINGS)
    head = verified(model, batch)
    assert head.is_verified
    head.uncover()
    assert "forward" not in vars(model.lm_head)


def test_adapters_on_the_head_are_not_fused():
    from peft import LoraConfig, get_peft_model

    for options, kind in (
        ({"target_modules": ["lm_head"]}, "peft.tuners.lora.layer.Linear"),
        ({"target_modules": ["q_proj"], "modules_to_save": ["lm_head"]}, "peft.utils.other.ModulesToSaveWrapper"),
    ):
        head = FusedHead(get_peft_model(tiny(), LoraConfig(**options)), SETTINGS)
        assert head.reason == f"the output layer is a {kind}, not torch.nn.Linear"


def test_the_fused_head_is_found_out_in_a_run(llamafactory, tiny_model, tmp_path):
    """A model that caps its logits trains from materialised logits, with SFT's losses, or is refused if the fused head
    is required.
    """
    make_of_type(tiny_model, tmp_path, model_type="gemma2", final_logit_softcapping=5.0)
    keys = {"model_name_or_path": str(tmp_path), "max_steps": 2, "max_samples": 4}
    ours = llamafactory({**keys, **OFF, "stage": "cuset"})
    theirs = llamafactory({**keys, "stage": "sft"})
    reason = "the model changes its logits behind the output layer"
    assert f"from materialised logits: {reason}" in ours.output
    refused = llamafactory({**keys, **OFF, "stage": "cuset", "cuset_fused": "on"}, check=False)
    assert refused.returncode != 0 and f"cuset_fused: on, but {reason}" in refused.output
    assert ours.losses == pytest.approx(theirs.losses, rel=1e-5)
