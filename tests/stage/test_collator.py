"""The collator puts the label columns where LLaMA-Factory's collator puts the tokens, for every kind of padding and
packing.
"""

import copy

import numpy as np
import pytest
import torch

from cuset_stage.stage.collator import DTYPES, CusetDataCollator

from .conftest import ANSWER, KERNEL, columns_of


# LLaMA-Factory removes padding from ids and labels then, so it has to be removed from the columns as well.
FLASH = {"neat_packing": True, "collating": {"attn_implementation": "flash_attention_2"}}


@pytest.fixture
def collate(byte_level, processor):
    """A function that labels conversations and collates them. It returns the rows before collation, and the batch.

    `changes` are columns to replace in each row, and `collating` further arguments of the collator.
    """

    def run(*conversations, padding_side="right", changes=None, collating=None, **options):
        tokenizer = copy.deepcopy(byte_level)
        tokenizer.padding_side = padding_side
        labelling = processor(tokenizer=tokenizer, **options)
        columns = labelling.preprocess_dataset(columns_of(*conversations))
        features = [
            dict(zip(columns, values, strict=True)) | (changes or {}) for values in zip(*columns.values(), strict=True)
        ]
        neat = labelling.data_args.neat_packing
        own = {"label_pad_token_id": -100, "pad_to_multiple_of": 8, **(collating or {})}
        collator = CusetDataCollator(
            template=labelling.template, tokenizer=tokenizer, neat_packing=neat, block_diag_attn=neat, **own
        )
        before = copy.deepcopy(features)
        return before, collator(features)

    return run


CONVERSATIONS = (["Scale.", ANSWER], ["What is a warp?", "32 threads."], ["Kernel.", KERNEL])


@pytest.mark.parametrize(
    "options",
    [
        *({"padding_side": side} for side in ("right", "left")),
        *({"cutoff_len": 1000, **packing} for packing in ({"packing": True}, {"neat_packing": True}, FLASH)),
    ],
    ids=str,
)
def test_columns_are_where_the_tokens_are(collate, options):
    """At the supervised positions of the batch, each row's columns are those that it had before padding."""
    before, batch = collate(*CONVERSATIONS, **options)
    assert batch["cuda_mask"].shape == batch["sample_ids"].shape == batch["labels"].shape
    tokens = sum(value != 0 for value in before[0]["attention_mask"])
    assert batch["labels"].size(1) == tokens if "collating" in options else batch["labels"].size(1) % 8 == 0
    for row, feature in enumerate(before):
        keep = batch["labels"][row] != -100
        expected = torch.tensor(feature["labels"]) != -100
        for name in ("cuda_mask", "sample_ids"):
            assert batch[name].dtype == DTYPES[name]
            assert batch[name][row][keep].tolist() == torch.as_tensor(feature[name])[expected].tolist()
        assert int(batch["cuda_mask"][row].sum()) == int(feature["cuda_mask"].sum())
    assert batch["sample_ids"].max() == (3 if "cutoff_len" in options else 1)


def test_supervised_padding_goes_with_the_last_sample(collate, byte_level):
    rows = [["Kernel.", KERNEL], ["What is a warp?", "32 threads.", "And a block?", "Up to 1024."]]
    _, batch = collate(*rows, collating={"label_pad_token_id": byte_level.pad_token_id})
    assert torch.equal(batch["labels"] != -100, batch["sample_ids"] != 0)
    assert batch["sample_ids"][1, -1] == 2 and batch["cuda_mask"][1].sum() == 0


def test_columns_that_do_not_match_the_labels_are_an_error(collate):
    with pytest.raises(ValueError, match="do not line up with the labels"):
        collate(["Scale.", "Done."], changes={"sample_ids": np.ones(3, dtype=np.int32), "cuda_mask": np.zeros(3)})


def test_rows_for_generation_pass_through(byte_level, processor):
    collator = CusetDataCollator(template=processor().template, tokenizer=byte_level, label_pad_token_id=-100)
    batch = collator([{"input_ids": [5, 6], "attention_mask": [1, 1], "labels": [7, 8, 9]}])
    assert set(batch) == {"input_ids", "attention_mask", "labels"}
