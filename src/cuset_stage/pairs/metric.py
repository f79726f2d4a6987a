"""Measure how often a model in training prefers the right program of a pair: `cuset_pairs` in a recipe."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from accelerate.utils import gather_object
from transformers.integrations import is_deepspeed_zero3_enabled

from ..analysis.token_probabilities import token_log_probabilities
from ..stage.head import evaluating
from .likelihood import Row, differences
from .rows import evenly, read_pairs
from .summary import mean_over_tasks, preferences


NAME = "eval_pairs_accuracy"  # so that `metric_for_best_model: pairs_accuracy` finds it


class PairsMetric:
    """A metric that is called with a trainer and returns the current accuracy of the trainer's model on pairs.

    The accuracy is the mean over tasks that `summary.summarise` describes. Pairs of two right programs are left out.

    Args:
        name: the recipe's `cuset_pairs`, a pair file or the name of a bundled set.
        count: the recipe's `cuset_pairs_samples`, the number of pairs to use. None means all.

    Raises:
        PairsError: if the pair file cannot be used.
    """

    def __init__(self, name: str, count: int | None) -> None:
        self.pairs = evenly([pair for pair in read_pairs(name) if not pair.is_floor], count)
        # The last result, and when it was made. With several evaluation sets, one step calls the metric several times.
        self._known: tuple[tuple[int, bool], dict[str, float]] | None = None

    def __call__(self, trainer: Any) -> dict[str, float]:
        # At the end of training, the Trainer may put the best checkpoint in the place of the last one.
        moment = trainer.state.global_step, trainer.is_in_train
        if self._known is None or self._known[0] != moment:
            self._known = moment, {NAME: self._measure(trainer)}
        return self._known[1]

    def _measure(self, trainer: Any) -> float:
        """Return the accuracy of the trainer's model as it is now."""
        # The pairs are divided among the ranks. Where weights are sharded, all ranks have to run the same forward
        # passes, so each rank takes all pairs.
        is_sharded = trainer.is_fsdp_enabled or is_deepspeed_zero3_enabled()
        world, rank = (1, 0) if is_sharded else (trainer.args.world_size, trainer.args.process_index)
        indices = np.array_split(np.arange(len(self.pairs)), world)[rank].tolist()
        model = trainer.model_wrapped if is_sharded else trainer.accelerator.unwrap_model(trainer.model)

        def score(rows: Iterable[Row]) -> Iterator[np.ndarray]:
            return token_log_probabilities(model, rows, head=trainer.fused_head)

        with evaluating(model), trainer.compute_loss_context_manager():
            collator = trainer.data_collator
            gaps = differences([self.pairs[at] for at in indices], collator.template, collator.tokenizer, score)
            preferred = list(zip(indices, preferences(list(gaps), "from_change").tolist(), strict=True))
        if world > 1:
            preferred = gather_object(preferred)
        return mean_over_tasks([self.pairs[at].task for at, _ in preferred], [value for _, value in preferred])
