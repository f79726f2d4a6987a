"""With all parts off, `stage: cuset` trains as LLaMA-Factory's SFT does, step by step.

Where gradient accumulation changes the loss of SFT itself, ours is the loss of SFT on the whole step as one batch.
"""

import re

import pytest
import torch
import transformers
from data_sets import CHAT_TAGS, write_data_set
from features import OFF
from packaging.version import Version
from tiny_models import make_of_type
from transformers import AutoTokenizer


FUSED = ("on", "off")
IS_FIVE = Version(transformers.__version__) >= Version("5")


@pytest.fixture(scope="session")
def qwen2_vl(tiny_model, tmp_path_factory):
    """Recipe keys that train a tiny, untrained Qwen2-VL on eight images with answers of different lengths."""
    from PIL import Image
    from transformers import Qwen2VLConfig, Qwen2VLForConditionalGeneration, Qwen2VLImageProcessor, Qwen2VLProcessor
    from transformers.models.qwen2_vl.video_processing_qwen2_vl import Qwen2VLVideoProcessor

    folder = tmp_path_factory.mktemp("qwen2_vl")
    tokenizer = AutoTokenizer.from_pretrained(tiny_model)
    names = ("vision_start", "vision_end", "image", "video")
    markers = ["<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>"]
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|im_start|>", *markers]})
    ids = tokenizer.convert_tokens_to_ids(markers)
    torch.manual_seed(0)
    config = Qwen2VLConfig(
        text_config={
            **dict(vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2),
            **dict(num_attention_heads=4, num_key_value_heads=2, pad_token_id=tokenizer.pad_token_id),
            **dict(bos_token_id=None, eos_token_id=tokenizer.eos_token_id),
            "rope_parameters": {"rope_type": "default", "mrope_section": [1, 1, 2], "rope_theta": 10000.0},
        },
        vision_config=dict(depth=1, embed_dim=32, hidden_size=32, num_heads=2, mlp_ratio=2, patch_size=14),
        **{f"{name}_token_id": number for name, number in zip(names, ids, strict=True)},
    )
    Qwen2VLForConditionalGeneration(config).save_pretrained(folder)
    processors = Qwen2VLImageProcessor(min_pixels=28 * 28, max_pixels=56 * 56), tokenizer, Qwen2VLVideoProcessor()
    Qwen2VLProcessor(*processors).save_pretrained(folder)

    rows = []
    for number in range(8):
        Image.new("RGB", (56, 56), (30 * number, 255 - 30 * number, 90)).save(folder / f"{number}.png")
        turns = ["<image>What is this?", "A kernel. " * (1 + 3 * (number % 3))]
        messages = [{"role": role, "content": text} for role, text in zip(("user", "assistant"), turns, strict=True)]
        rows.append({"messages": messages, "images": [f"{number}.png"]})
    columns = {"messages": "messages", "images": "images"}
    keys = write_data_set(folder, "images", rows, formatting="sharegpt", columns=columns, tags=CHAT_TAGS)
    return {**keys, "model_name_or_path": str(folder), "media_dir": str(folder), "template": "qwen2_vl"}


@pytest.mark.slow
@pytest.mark.skipif(not IS_FIVE, reason="before transformers 5 the processor takes no tokenizer but Qwen2's own")
def test_images_train_as_sft_of_the_whole_step(llamafactory, qwen2_vl):
    """A step has one divisor, as in SFT of plain text, so its loss does not depend on how it is cut into
    micro-batches.

    For models with a processor, SFT averages the means of the micro-batches instead. A token of a short answer then
    weighs more than a token of a long answer.
    """
    whole, cut = (
        {**qwen2_vl, "per_device_train_batch_size": 2 // parts, "gradient_accumulation_steps": parts}
        for parts in (1, 2)
    )
    expected = llamafactory({**whole, "stage": "sft"}).losses_and_norms
    for fused in FUSED:
        for keys in (whole, cut) if fused == "on" else (cut,):
            run = llamafactory({**keys, **OFF, "stage": "cuset", "cuset_fused": fused})
            assert run.losses_and_norms == pytest.approx(expected, rel=1e-5)
    # If this assertion fails, LLaMA-Factory's SFT now does the same: update what docs/ says about images.
    assert llamafactory({**cut, "stage": "sft"}).losses_and_norms != pytest.approx(expected, rel=1e-4)


def test_random_numbers_are_those_of_sft(llamafactory):
    """Dropout and NEFTune's noise are SFT's: what the stage does before the first batch uses up no random numbers."""
    keys = {"lora_dropout": 0.3, "neftune_noise_alpha": 5.0, "cutoff_len": 128, "max_samples": 6}
    sft = llamafactory({**keys, "stage": "sft"})
    for fused in FUSED:
        run = llamafactory({**keys, **OFF, "stage": "cuset", "cuset_fused": fused})
        assert run.losses_and_norms == pytest.approx(sft.losses_and_norms, rel=1e-5)


@pytest.fixture(scope="session")
def mixtral(tiny_model, tmp_path_factory):
    """Recipe keys that train a tiny Mixtral on rows that all have 64 supervised tokens."""
    folder = make_of_type(tiny_model, tmp_path_factory.mktemp("mixtral"), model_type="mixtral", num_local_experts=4)
    keys = {"model_name_or_path": str(folder), "lora_target": "q_proj", "disable_gradient_checkpointing": True}
    return {**keys, "cutoff_len": 64, "train_on_prompt": True, "max_samples": 8, "per_device_train_batch_size": 1}


@pytest.mark.parametrize(
    ("accumulation", "ranks"),
    [pytest.param(1, 1, marks=pytest.mark.slow), (2, 1), pytest.param(1, 2, marks=pytest.mark.slow)],
)
def test_a_router_s_loss_is_sft_s_times_the_share_of_the_micro_batch(llamafactory, mixtral, accumulation, ranks):
    """The router's loss does not depend on how a step is cut.

    SFT adds it in full for every micro-batch of every rank, so that its effective coefficient grows with their number.
    """
    parts = accumulation * ranks
    keys = {**mixtral, "gradient_accumulation_steps": accumulation}
    sft = llamafactory({**keys, "stage": "sft", "moe_aux_loss_coef": 0.5}, ranks=ranks)
    keys |= {**OFF, "stage": "cuset", "moe_aux_loss_coef": 0.5 * parts}
    for fused in FUSED:
        run = llamafactory({**keys, "cuset_fused": fused}, ranks=ranks)
        assert run.losses_and_norms == pytest.approx(sft.losses_and_norms, rel=1e-5)
        router = run.steps[0]["loss"] - run.steps[0]["cuset/nll"]
        assert 0.8 < router / parts < 3.0  # with balanced experts the loss is 2, times 0.5 is 1


@pytest.mark.slow
def test_rows_grouped_by_length_are_those_of_sft(llamafactory):
    grouped = {"train_sampling_strategy": "group_by_length"} if IS_FIVE else {"group_by_length": True}
    keys = {"disable_shuffling": False, "per_device_train_batch_size": 2, "cutoff_len": 256, "template": "gpt_oss"}
    mixed, sft = (llamafactory({**keys, **more, "stage": "sft"}) for more in ({}, grouped))
    assert sft.losses_and_norms != pytest.approx(mixed.losses_and_norms, rel=1e-3)
    run = llamafactory({**keys, **grouped, **OFF, "stage": "cuset"})
    assert run.losses_and_norms == pytest.approx(sft.losses_and_norms, rel=1e-5)


def test_a_step_is_divided_by_its_tokens_or_its_samples(llamafactory):
    """All rows are one step here, so its divisors are the numbers of tokens and samples that the preprocessing
    reports.
    """
    keys = {**OFF, "stage": "cuset", "max_samples": 4, "per_device_train_batch_size": 2, "max_steps": 1}
    keys |= {"gradient_accumulation_steps": 2}
    by_tokens, by_samples = (
        llamafactory({**keys, "cuset_normalization": normalization}) for normalization in ("tokens", "samples")
    )
    tokens = int(re.search(r"of ([\d,]+) supervised tokens", by_tokens.output)[1].replace(",", ""))
    ratio = by_samples.steps[0]["loss"] / by_tokens.steps[0]["loss"]
    assert ratio == pytest.approx(tokens / 4, rel=1e-4)
