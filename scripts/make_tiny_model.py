"""Make a small, untrained Qwen2-shaped model and its tokenizer, from local files alone.

The tokenizer is a byte-level BPE trained on the bundled kernels, with Qwen's chat markers. Nothing is downloaded. The
model has random weights. It is for demonstrations and tests that need a real model and tokenizer, but no good answers.

    python scripts/make_tiny_model.py outputs/tiny --hidden-size 128 --layers 4
    python scripts/make_tiny_model.py outputs/random-7b --shape 7b    # Qwen2.5-7B's shape: 15 GB, on a GPU if any
"""

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import build_data


CHAT_TEMPLATE = (  # what LLaMA-Factory's template qwen writes
    "{% if messages[0]['role'] != 'system' %}<|im_start|>system\n"
    "You are Qwen, created by Alibaba Cloud. You are a helpful assistant.<|im_end|>\n{% endif %}"
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
SPECIAL_TOKENS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]


def shape(
    width: int, feed_forward: int, layers: int, heads: int, key_value_heads: int, vocab_size: int, **more
) -> dict:
    """Return sizes of a model under the names that they have in its config.json."""
    sizes = {"hidden_size": width, "intermediate_size": feed_forward, "num_hidden_layers": layers}
    sizes |= {"num_attention_heads": heads, "num_key_value_heads": key_value_heads, "vocab_size": vocab_size}
    return {**sizes, **more}


SHAPES = {  # Qwen2.5's, and Qwen3's 14B
    "tiny": shape(64, 256, 2, 4, 2, 4096),
    "1.5b": shape(1536, 8960, 28, 12, 2, 151936, tie_word_embeddings=True),
    "7b": shape(3584, 18944, 28, 28, 4, 152064),
    "14b": shape(5120, 17408, 40, 40, 8, 151936, model_type="qwen3", head_dim=128),
    "32b": shape(5120, 27648, 64, 40, 8, 152064),
}


def make_tokenizer(texts: Iterable[str], vocab_size: int) -> Any:
    """Train a byte-level BPE with Qwen's chat markers and return it as a transformers tokenizer.

    Each digit is a token of its own, as in Qwen's tokenizer.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    digits = pre_tokenizers.Digits(individual_digits=True)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([digits, pre_tokenizers.ByteLevel(add_prefix_space=False)])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=SPECIAL_TOKENS,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        additional_special_tokens=["<|im_start|>"],
        chat_template=CHAT_TEMPLATE,
        clean_up_tokenization_spaces=False,
    )


def read_texts() -> list[str]:
    """Return all strings of the harder tasks' rows, split at "<<<".

    These rows do not change when operations are added or removed, so the tokenizer stays the same. Because of the
    split, "<<<" does not become a token of the vocabulary, and tests can add it as a new one.

    They are built first if they are missing.
    """
    file = build_data.DATA / "cuset_kernels_hard.json"
    if not file.is_file():
        build_data.main()
    rows = json.loads(file.read_text(encoding="utf-8"))
    return [part for row in rows for value in row.values() if isinstance(value, str) for part in value.split("<<<")]


def make_model(path: Path, *, hidden_size: int = 64, layers: int = 2, vocab_size: int = 2048) -> None:
    """Write tokenizer and model to `path`. The same arguments give the same files."""
    import torch
    from transformers import Qwen2Config, Qwen2ForCausalLM

    tokenizer = make_tokenizer(read_texts(), vocab_size)
    torch.manual_seed(0)
    config = Qwen2Config(
        vocab_size=len(tokenizer),
        hidden_size=hidden_size,
        intermediate_size=4 * hidden_size,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=8192,
        tie_word_embeddings=False,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    model = Qwen2ForCausalLM(config)
    model.save_pretrained(path)
    tokenizer.save_pretrained(path)
    size = sum(parameter.numel() for parameter in model.parameters())
    print(f"{path}: {size / 1e6:.2f} M parameters, {len(tokenizer)} tokens in the vocabulary")


def make_shape(path: Path, shape: str) -> None:
    """Write a model with random weights and a tokenizer to `path`, unless there is one. `shape` is a key of SHAPES."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    if (path / "config.json").exists():
        return
    tokenizer = make_tokenizer(read_texts(), 4096)
    config = AutoConfig.for_model(
        **{"model_type": "qwen2", "tie_word_embeddings": False, "max_position_embeddings": 32768} | SHAPES[shape]
    )
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    with torch.device(device):
        model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16 if device == "cuda" else torch.float32)
    model.save_pretrained(path)
    tokenizer.save_pretrained(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path, help="folder to write the model to")
    parser.add_argument("--hidden-size", type=int, default=64)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--shape", choices=SHAPES, help="a real model's, such as 7b, in place of the sizes")
    options = vars(parser.parse_args())
    shape = options.pop("shape")
    if shape is None:
        make_model(**options)
    else:
        make_shape(options["path"], shape)


if __name__ == "__main__":
    main()
