"""The list of promises about weights in the data: pairs of training runs that must give the same numbers.

tests/invariant/test_weights.py runs the pairs. scripts/write_docs.py writes the list in docs/data.md from the same
entries, so the page names exactly what is tested. A pair's key is the sentence on the page.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


LR_0 = {"learning_rate": 0.0}
WHOLE = {"per_device_train_batch_size": 8}  # all rows are one batch and one optimizer step
PACKED = {"neat_packing": True, "cutoff_len": 2048, "per_device_train_batch_size": 1}


@dataclass(frozen=True)
class Arm:
    """One run of a pair: the recipe keys that differ from `WHOLE` on the data set `weighted`, and the processes."""

    keys: Mapping[str, Any] = field(default_factory=dict)
    ranks: int = 1


@dataclass(frozen=True)
class Exactness:
    """Two runs whose losses, gradient norms and statistics must be the same in every step."""

    one: Arm
    other: Arm = Arm()
    is_bitwise: bool = False  # equal to the last bit, trained weights included; otherwise within a relative 5e-5
    factor: float = 1.0  # expected ratio of the first run's loss and gradient norm to the second run's
    is_quick: bool = False  # part of every test run, not only of the slow ones


EXACTNESS: dict[str, Exactness] = {
    "weight 1 everywhere = no weights": Exactness(
        Arm({"dataset": "ones"}), Arm({"dataset": "plain"}), is_bitwise=True, is_quick=True
    ),
    "the same under `cuset_objective: sft`, from logits and padded = `stage: sft`": Exactness(
        Arm({"dataset": "ones", "cuset_objective": "sft", "cuset_fused": "off", "cuset_padding_free": False}),
        Arm({"dataset": "plain", "stage": "sft"}),
        is_bitwise=True,
    ),
    "`stage: sft`: weights named = not named": Exactness(
        Arm({"dataset": "weighted", "stage": "sft"}), Arm({"dataset": "plain", "stage": "sft"}), is_bitwise=True
    ),
    "weight 2 everywhere = twice the loss and the gradient": Exactness(
        Arm({"dataset": "twos", **LR_0}), Arm({"dataset": "plain", **LR_0}), factor=2.0
    ),
    "a row of weight 2 and itself with weight 0 = the row given twice": Exactness(
        Arm({"dataset": "two_and_none", "per_device_train_batch_size": 9}),
        Arm({"dataset": "twice", "per_device_train_batch_size": 9}),
    ),
    "`cuset_think_weight: 0.25` = spans of weight 0.25 over the reasoning": Exactness(
        Arm({"dataset": "thoughts", "cuset_think_weight": 0.25}), Arm({"dataset": "thoughts_given"}), is_bitwise=True
    ),
    "batches of 2, accumulation 4 = a batch of 8": Exactness(
        Arm({"per_device_train_batch_size": 2, "gradient_accumulation_steps": 4})
    ),
    "two ranks, accumulation 2 = one rank": Exactness(
        Arm({"per_device_train_batch_size": 2, "gradient_accumulation_steps": 2}, ranks=2)
    ),
    "packed (`neat_packing`) = a row each": Exactness(Arm(PACKED)),
    "streamed = read": Exactness(
        Arm({"streaming": True, "dataloader_num_workers": 1, "buffer_size": 1, "max_samples": None})
    ),
    "a data set with weights and one without, two ranks = one rank": Exactness(
        Arm({"dataset": "first,last", "per_device_train_batch_size": 4}, ranks=2),
        Arm({"dataset": "first,last"}),
        is_quick=True,
    ),
    "fused = from logits": Exactness(Arm({"cuset_fused": "on"}), Arm({"cuset_fused": "off"}), is_quick=True),
    "the same under `cuset_objective: sft`": Exactness(
        Arm({"cuset_objective": "sft", "cuset_fused": "on"}), Arm({"cuset_objective": "sft", "cuset_fused": "off"})
    ),
    "the same under `cuset_objective: asft`": Exactness(
        Arm({"cuset_objective": "asft", "cuset_fused": "on"}), Arm({"cuset_objective": "asft", "cuset_fused": "off"})
    ),
}
