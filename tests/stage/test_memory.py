"""What lies in memory beside the model while the layers' backward passes run, where a training step's peak is."""

import gc

import torch
from transformers import TrainerCallback


ROWS, LENGTH = 2, 256
RECIPE = {
    "finetuning_type": "lora",
    "lora_target": "q_proj",
    "packing": True,  # full rows: every batch has the same shape
    "cutoff_len": LENGTH,
    "cuset_padding_free": False,  # these rows have none, but the first batch is laid end to end to see whether the model allows it
    "per_device_train_batch_size": ROWS,
    "max_samples": 12,
    "max_steps": 2,
}


class Beside(TrainerCallback):
    """Notes what lies beside the model when the backward pass reaches its first layer."""

    def __init__(self):
        self.bytes = []
        self.before = tensors()  # held, so that no other tensor comes to lie in their place

    def on_train_begin(self, args, state, control, model=None, **kwargs):
        (layer,) = (module for name, module in model.named_modules() if name.endswith("layers.0"))
        layer.register_full_backward_pre_hook(lambda *_: self.bytes.append(bytes_of_tokens(self.before)))


def tensors() -> list[torch.Tensor]:
    """Those that Python holds; not those that stand for one, such as what torch.compile leaves behind in other tests."""
    return [thing for thing in gc.get_objects() if type(thing) in (torch.Tensor, torch.nn.Parameter)]


def bytes_of_tokens(before: list[torch.Tensor]) -> int:
    """Bytes of tensors that were not there before, with integers or with a number a token."""
    known = {id(tensor) for tensor in before}
    new = [tensor for tensor in tensors() if id(tensor) not in known]
    of_tokens = (t for t in new if not t.is_floating_point() or t.numel() in (LENGTH, ROWS * LENGTH))
    storages = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in of_tokens}
    return sum(size for size in storages.values() if size >= LENGTH)


def test_the_objective_keeps_nothing_but_its_columns(recipe):
    """Of the batch that is trained and of the next one, five bytes a token: an int8 and an int32."""
    from llamafactory.train.tuner import run_exp

    found = {}
    for stage in ("sft", "cuset"):
        beside = Beside()
        run_exp({**recipe, **RECIPE, "stage": stage, "output_dir": recipe["output_dir"] + stage}, callbacks=[beside])
        found[stage] = beside.bytes
    assert len(found["sft"]) == RECIPE["max_steps"] and found["sft"][0] > 0
    extra = [ours - theirs for ours, theirs in zip(found["cuset"], found["sft"], strict=True)]
    assert extra == [2 * ROWS * LENGTH * 5] * RECIPE["max_steps"]
