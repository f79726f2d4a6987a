"""LLaMA-Factory's SFT collator, extended by the label columns."""

from dataclasses import dataclass
from typing import Any

import torch
from llamafactory.data import SFTDataCollatorWith4DAttentionMask
from llamafactory.extras.constants import IGNORE_INDEX

from .padding_free import LENGTHS, row_lengths
from .processors import COLUMNS, WEIGHTS, label_columns


# The narrow types of the processors are kept, because a batch and the next one stay on the device for a whole step.
DTYPES = {"cuda_mask": torch.int8, "sample_ids": torch.int32, WEIGHTS: torch.float32}


@dataclass
class CusetDataCollator(SFTDataCollatorWith4DAttentionMask):
    """Collator that fits the label columns to the batch that LLaMA-Factory's collator makes.

    LLaMA-Factory's collator pads and trims a fixed set of keys, and would cast other columns that are no integers to
    the model's type. So `cuda_mask`, `sample_ids` and optional columns are taken out before and fitted to its result.
    They are padded on the tokenizer's side, and trimmed where FlashAttention's neat packing removed padding.

    Attributes:
        gives_lengths: a batch also gets `row_lengths`, which is no tensor. It must be False if accelerate sends
            batches from process to process.
    """

    gives_lengths: bool = False

    def __call__(self, features: list[dict[str, Any]]) -> dict[str, torch.Tensor]:
        if COLUMNS[0] not in features[0]:  # rows for generation carry no labels
            return super().__call__(features)

        columns = {
            name: [torch.as_tensor(feature.pop(name), dtype=DTYPES[name]) for feature in features]
            for name in label_columns(features[0])
        }
        attention = [torch.as_tensor(feature["attention_mask"]) for feature in features]
        batch = super().__call__(features)
        labels = batch["labels"]
        for name, rows in columns.items():
            masked, padding = zip(rows, attention, strict=True), int(name == WEIGHTS)
            batch[name] = torch.stack([self._fit(row, mask, labels.size(1), padding) for row, mask in masked])

        if self.label_pad_token_id != IGNORE_INDEX:
            # ignore_pad_token_for_loss: false supervises padding too; it goes with the row's last sample.
            last = batch["sample_ids"].amax(dim=1, keepdim=True).clamp(min=1)
            is_padding = (batch["sample_ids"] == 0) & (labels == self.label_pad_token_id)
            batch["sample_ids"] = torch.where(is_padding, last, batch["sample_ids"])

        if not torch.equal(labels != IGNORE_INDEX, batch["sample_ids"] != 0):
            raise ValueError(
                "cuda_mask and sample_ids do not line up with the labels of this batch: the data set was changed after it was "
                "labelled. Set overwrite_cache: true, and report it if it stays."
            )
        if self.gives_lengths:
            batch[LENGTHS] = row_lengths(batch["attention_mask"])
        return batch

    def _fit(self, row: torch.Tensor, attention: torch.Tensor, length: int, padding: int) -> torch.Tensor:
        """Trim or pad one row [row_length] of a label column to [length]."""
        if row.numel() > length:  # padding inside a packed row was removed
            row = row[attention != 0]
        missing = length - row.numel()
        before = missing if self.tokenizer.padding_side == "left" else 0
        return torch.nn.functional.pad(row, (before, missing - before), value=padding)
