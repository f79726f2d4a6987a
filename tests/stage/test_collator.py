"""The label columns end up where LLaMA-Factory's collator puts the tokens."""

import copy

import pytest
import torch
from llamafactory.data import get_template_and_fix_tokenizer

from cuset_stage.stage.collator import DTYPES, CusetDataCollator
from cuset_stage.stage.processors import LabelledPackedProcessor, LabelledProcessor, LabelRules


@pytest.fixture
def collate(byte_level, data_args, rows):
    def run(*conversations, padding_side="right", changes=None, **options):
        tokenizer = copy.deepcopy(byte_level)
        tokenizer.padding_side = padding_side
        collator_options = {
            name: options.pop(name) for name in ("label_pad_token_id", "attn_implementation") if name in options
        }
        args = data_args(**options)
        template = get_template_and_fix_tokenizer(tokenizer, args)
        labelled = LabelledPackedProcessor if args.packing else LabelledProcessor
        rules = LabelRules(("kernel_body", "launch_config"))
        columns = labelled(template, tokenizer, None, args, rules).preprocess_dataset(rows(*conversations))
        features = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
        for feature in features:
            feature.update(changes or {})
        collator = CusetDataCollator(
            template=template,
            tokenizer=tokenizer,
            pad_to_multiple_of=8,
            neat_packing=args.neat_packing,
            block_diag_attn=args.neat_packing,
            **{"label_pad_token_id": -100, **collator_options},
        )
        before = copy.deepcopy(features)
        return before, collator(features)

    return run


def conversations(answers):
    return [["Scale.", answers.answer], ["What is a warp?", "32 threads."], ["Kernel.", answers.kernel]]


def check_rows(before, batch):
    """Each unpadded row is found again at the positions whose labels are its own."""
    assert batch["cuda_mask"].shape == batch["sample_ids"].shape == batch["labels"].shape
    assert batch["labels"].size(1) % 8 == 0
    for row, feature in enumerate(before):
        keep = batch["labels"][row] != -100
        expected = torch.tensor(feature["labels"]) != -100
        for name in ("cuda_mask", "sample_ids"):
            assert batch[name].dtype == DTYPES[name]
            assert batch[name][row][keep].tolist() == torch.as_tensor(feature[name])[expected].tolist()
        assert int(batch["cuda_mask"][row].sum()) == int(feature["cuda_mask"].sum())


@pytest.mark.parametrize("side", ["right", "left"])
def test_padding_on_either_side(collate, answers, side):
    check_rows(*collate(*conversations(answers), padding_side=side))


@pytest.mark.parametrize("options", [dict(packing=True), dict(neat_packing=True)], ids=str)
def test_packed_rows(collate, answers, options):
    before, batch = collate(*conversations(answers), cutoff_len=1000, **options)
    check_rows(before, batch)
    assert batch["sample_ids"].max() == 3


def test_neat_packing_with_flash_attention_trims_the_padding(collate, answers):
    """Padding positions are removed from ids and labels, and so from the columns."""
    before, batch = collate(
        *conversations(answers), cutoff_len=1000, neat_packing=True, attn_implementation="flash_attention_2"
    )
    length = sum(value != 0 for value in before[0]["attention_mask"])
    assert batch["labels"].shape == batch["cuda_mask"].shape == (1, length)
    supervised = torch.tensor(before[0]["labels"]) != -100
    assert torch.equal(
        batch["cuda_mask"][batch["labels"] != -100], torch.as_tensor(before[0]["cuda_mask"]).long()[supervised]
    )


def test_supervised_padding_goes_with_the_last_sample(collate, answers, byte_level):
    _, batch = collate(*conversations(answers), label_pad_token_id=byte_level.pad_token_id)
    assert torch.equal(batch["labels"] != -100, batch["sample_ids"] != 0)
    assert batch["sample_ids"][1, -1] == 1
    assert batch["cuda_mask"][1].sum() == 0


def test_columns_that_do_not_match_the_labels_are_an_error(collate, answers):
    import numpy as np

    with pytest.raises(ValueError, match="do not line up with the labels"):
        collate(["Scale.", "Done."], changes={"sample_ids": np.ones(3, dtype=np.int32), "cuda_mask": np.zeros(3)})


def test_rows_for_generation_pass_through(byte_level, data_args):
    args = data_args()
    template = get_template_and_fix_tokenizer(byte_level, args)
    collator = CusetDataCollator(template=template, tokenizer=byte_level, label_pad_token_id=-100)
    batch = collator([{"input_ids": [5, 6], "attention_mask": [1, 1], "labels": [7, 8, 9]}])
    assert set(batch) == {"input_ids", "attention_mask", "labels"}
