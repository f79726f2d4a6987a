"""Train with CuSeT's loss in LLaMA-Factory's v1 engine. This is experimental, as the engine itself is.

    python -m cuset_stage.llamafactory_v1 recipe.yaml
    torchrun --nproc-per-node 2 -m cuset_stage.llamafactory_v1 recipe.yaml      on two GPUs

The recipe is a recipe of v1 with one more key, `cuset`, which may be left out. It holds a mapping of the fields of
`ObjectiveSettings` and of `kinds`, `aliases` and `language` of `find_spans`, such as {objective: dft} or {tau: 0.3}.
Written against LLaMA-Factory 0.9.5.
"""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import torch
from llamafactory.v1.accelerator.interface import DistributedInterface
from llamafactory.v1.config import get_args
from llamafactory.v1.core.data_engine import DataEngine
from llamafactory.v1.core.model_engine import ModelEngine
from llamafactory.v1.trainers.sft_trainer import SFTTrainer
from llamafactory.v1.utils.helper import compute_valid_tokens, get_tokenizer
from omegaconf import OmegaConf

from .objective import ObjectiveSettings, objective_loss
from .spans import DEFAULT_KINDS
from .stage.batch_labels import BatchLabeller
from .stage.head import check_base_model, evaluating


LABELLING = ("kinds", "aliases", "language")


class CusetTrainer(SFTTrainer):
    """v1's SFTTrainer with the loss of an objective, computed from logits as v1 computes its own loss.

    Rows, templates, batching, PEFT, DDP, FSDP2 and DeepSpeed are v1's. `loss_weights` weigh tokens. The loss is
    divided by the number of supervised tokens of the optimizer step, over all micro-batches and processes.

    Args:
        objective: the loss and its settings. None means CuSeT's loss with the paper's settings.
        kinds: the kinds of span that count as CUDA-sensitive, as in `find_spans`.
        aliases: as in `find_spans`.
        language: as in `find_spans`.
        kwargs: SFTTrainer's own arguments.

    Raises:
        ValueError: if sequences are split over devices (cp_size), for which v1 computes a loss of its own. Also if the
            loss should be divided by samples, or if the objective compares with a base model and there is no adapter
            to turn off.
    """

    def __init__(
        self,
        objective: ObjectiveSettings | None = None,
        kinds: Sequence[str] = DEFAULT_KINDS,
        aliases: Iterable[str] = (),
        language: str = "cuda",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.objective = objective or ObjectiveSettings()
        if self.cp_size > 1:
            raise ValueError("dist_config.cp_size: a sample's windows must not be split over devices. Set cp_size: 1.")
        if self.objective.normalization != "tokens":
            raise ValueError(
                f"normalization={self.objective.normalization}: v1 divides by tokens. Leave it at tokens."
            )
        self._bare_model = getattr(self.model, "module", self.model)
        check_base_model(self._bare_model, self.objective)
        self._labeller = BatchLabeller(get_tokenizer(self.renderer.processor), kinds, aliases, language)
        self._input_names = {"input_ids", "attention_mask", "position_ids", *self.model_input_names}

    def compute_loss(self, batch: Any) -> torch.Tensor:
        """Return the objective's mean over the supervised tokens of a micro-batch, a scalar tensor.

        v1's `fit` weighs it by the number of these tokens.
        """
        columns = {"labels": batch["labels"], **self._labeller.columns(batch["input_ids"], batch["labels"])}
        columns = {name: column.to(self.device) for name, column in columns.items()}
        inputs = {name: batch[name].to(self.device) for name in self._input_names & batch.keys()}
        reference = None
        if self.objective.needs_reference:
            with torch.no_grad(), evaluating(self.model), self._bare_model.disable_adapter():
                reference = self.model(**inputs).logits
        return objective_loss(
            self.model(**inputs).logits,
            settings=self.objective,
            num_items_in_batch=compute_valid_tokens([batch]),
            token_weights=batch["loss_weights"].to(self.device, torch.float32),
            reference_logits=reference,
            **columns,
        )


def run_cuset(settings: dict[str, Any]) -> None:
    """Train as v1's `run_sft` does, with CuSeT's loss.

    Args:
        settings: a recipe of v1 as a mapping, with or without the key `cuset`.

    Raises:
        ValueError: if `cuset` holds a key that does not exist.
    """
    cuset_settings = dict(settings.pop("cuset", None) or {})
    known_keys = [*(field.name for field in fields(ObjectiveSettings)), *LABELLING]
    if unknown_keys := cuset_settings.keys() - set(known_keys):
        raise ValueError(f"cuset: no key {', '.join(sorted(unknown_keys))}; expected some of {', '.join(known_keys)}.")
    labelling = {key: cuset_settings.pop(key) for key in LABELLING if key in cuset_settings}
    model_args, data_args, training_args, _ = get_args(settings)
    DistributedInterface(training_args.dist_config)
    engine = ModelEngine(model_args, is_train=True)
    trainer = CusetTrainer(
        ObjectiveSettings(**cuset_settings),
        args=training_args,
        model=engine.model,
        renderer=engine.renderer,
        train_dataset=DataEngine(data_args.train_dataset),
        **labelling,
    )
    trainer.fit()
    trainer.save_model()
    DistributedInterface().destroy()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit("expected: python -m cuset_stage.llamafactory_v1 recipe.yaml [key=value ...]")
    recipe = OmegaConf.merge(OmegaConf.load(Path(sys.argv[1])), OmegaConf.from_cli(sys.argv[2:]))
    run_cuset(OmegaConf.to_container(recipe))
