"""Measure how far the gradient of each objective points from SFT's, on rows of the bundled data.

    python scripts/gradients.py MODEL benchmarks/real/gradients.json --batches 40
    python scripts/gradients.py MODEL benchmarks/real/gradients_sft.json --batches 40 --adapter ADAPTER

All objectives see the same batches of four rows, the same weights and the same dropout; nothing is trained. Written for
each objective: the mean and the smallest cosine with SFT's gradient of a batch, the cosine of the gradients' sums over
all batches, and the mean of its norm over SFT's. `counts` has the tokens of each kind and their summed negative
log-likelihood: all, CUDA-sensitive ones (`cuda`), those whose confidence is at most 0.1 (`low`), and those of them that
are not CUDA-sensitive (`left`: CuSeT leaves them out). Written anew after each batch.
"""

import argparse
import datetime
import json
import tempfile
from pathlib import Path

import torch
from llamafactory.train.tuner import run_exp

from cuset_stage.objective import ObjectiveSettings
from cuset_stage.stage.trainer import CusetTrainer


OBJECTIVES = {
    "sft": {"objective": "sft"},
    "cuset": {},
    "no confidence mask": {"use_confidence_mask": False},
    "no CUDA mask": {"use_cuda_mask": False},
    "no region weight": {"use_region_weight": False},
    "only confidence mask": {"use_cuda_mask": False, "use_region_weight": False},
    "only CUDA mask": {"use_confidence_mask": False, "use_region_weight": False},
    "only region weight": {"use_confidence_mask": False, "use_cuda_mask": False},
    "dft": {"objective": "dft"},
    "eaft": {"objective": "eaft"},
    "profit": {"objective": "profit"},
}
BATCH = 4


def gradient_of(trainer: CusetTrainer, inputs: dict, keys: dict, seed: int) -> torch.Tensor:
    """Return the gradient of the loss of `inputs` under the objective of `keys`, as one vector of float64."""
    trainer.objective = ObjectiveSettings(**keys)
    torch.manual_seed(seed)  # of the dropout
    loss = trainer.compute_loss(
        trainer.model, dict(inputs), num_items_in_batch=(inputs["labels"][:, 1:] != -100).sum()
    )
    trained = [parameter for parameter in trainer.model.parameters() if parameter.requires_grad]
    return torch.cat([part.flatten().double() for part in torch.autograd.grad(loss, trained)])


@torch.no_grad()
def add_counts(trainer: CusetTrainer, inputs: dict, counts: dict[str, float]) -> None:
    """Add the batch's tokens and their negative log-likelihood to `counts`."""
    logits = trainer.model(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"]).logits[:, :-1]
    labels, cuda = inputs["labels"][:, 1:], inputs["cuda_mask"][:, 1:].bool()
    nll = torch.nn.functional.cross_entropy(logits[labels != -100].float(), labels[labels != -100], reduction="none")
    cuda, low = cuda[labels != -100], torch.exp(-nll) <= 0.1
    for kind, chosen in {"all": torch.ones_like(low), "cuda": cuda, "low": low, "left": low & ~cuda}.items():
        counts[kind] = counts.get(kind, 0) + chosen.sum().item()
        counts[f"{kind}_nll"] = counts.get(f"{kind}_nll", 0) + nll[chosen].sum().item()


def measure(trainer: CusetTrainer, output: Path) -> None:
    trainer.model.train()
    sums, counts = {}, {}
    cosines, norms = ({name: [] for name in OBJECTIVES} for _ in range(2))
    for number, batch in enumerate(trainer.get_train_dataloader(), 1):
        inputs = trainer._prepare_inputs(batch)
        gradients = {name: gradient_of(trainer, inputs, keys, number) for name, keys in OBJECTIVES.items()}
        for name, gradient in gradients.items():
            sums[name] = sums.get(name, 0) + gradient
            cosines[name].append(torch.cosine_similarity(gradient, gradients["sft"], dim=0).item())
            norms[name].append((gradient.norm() / gradients["sft"].norm()).item())
        add_counts(trainer, inputs, counts)
        objectives = {
            name: {
                "cosine_batch": sum(of_batches) / number,
                "cosine_batch_min": min(of_batches),
                "cosine_sum": torch.cosine_similarity(sums[name], sums["sft"], dim=0).item(),
                "norm": sum(norms[name]) / number,
            }
            for name, of_batches in cosines.items()
        }
        result = {"date": datetime.date.today().isoformat(), "batches": number, "batch": BATCH}
        result |= {"counts": counts, "objectives": objectives}
        output.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    raise SystemExit  # nothing is trained


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("output", type=Path)
    parser.add_argument("--batches", type=int, default=40)
    parser.add_argument("--adapter")
    args = parser.parse_args()
    CusetTrainer.train = lambda trainer, **_: measure(trainer, args.output)
    recipe = {"stage": "cuset", "do_train": True, "model_name_or_path": args.model, "template": "qwen"}
    recipe |= {"finetuning_type": "lora", "lora_rank": 8, "lora_target": "all", "bf16": torch.cuda.is_available()}
    recipe |= {"dataset": "cuset_kernels", "cutoff_len": 2048, "max_samples": BATCH * args.batches, "seed": 0}
    recipe |= {"per_device_train_batch_size": BATCH, "disable_gradient_checkpointing": True, "report_to": "none"}
    recipe |= {"cuset_fused": "off", "cuset_padding_free": False}
    if args.adapter:
        recipe |= {"adapter_name_or_path": args.adapter}
    with tempfile.TemporaryDirectory() as folder:
        run_exp(recipe | {"output_dir": folder})


if __name__ == "__main__":
    main()
