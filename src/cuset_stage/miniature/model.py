"""A small model from nothing: its tokenizer, its shape, and the corpus as its token ids.

transformers and tokenizers are imported when used, torch never: many processes that tokenize start at once.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ..jsonl import read_objects
from ..settings import SettingsError


CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
SPECIAL_TOKENS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]


def make_tokenizer(texts: Iterable[str], vocab_size: int) -> Any:
    """A byte-level BPE with Qwen's chat markers, as transformers has it. Digits are tokens of their own, as Qwen has them."""
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


def make_config(
    tokenizer: Any, *, hidden_size: int, layers: int, heads: int, intermediate_size: int, context: int
) -> Any:
    """A Qwen2 configuration with tied embeddings and half as many key and value heads."""
    from transformers import Qwen2Config

    return Qwen2Config(
        architectures=["Qwen2ForCausalLM"],
        vocab_size=-(-len(tokenizer) // 64) * 64,
        hidden_size=hidden_size,
        intermediate_size=intermediate_size,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=max(1, heads // 2),
        max_position_embeddings=context,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )


def encode_shard(shard: Path, tokenizer: Path) -> None:
    """Write a shard's token ids beside it: SHARD.npy, uint16, with an end token after each document. tokenizer: its tokenizer.json."""
    from tokenizers import Tokenizer

    encoder = Tokenizer.from_file(str(tokenizer))
    end = encoder.token_to_id("<|im_end|>")
    texts = [row["text"] for _, row in read_objects(shard)]
    rows = (encoding.ids for encoding in encoder.encode_batch(texts, add_special_tokens=False))
    part = shard.with_suffix(f".{os.getpid()}.npy")  # whole or not at all
    np.save(part, np.concatenate([np.array([*row, end], dtype=np.uint16) for row in rows]))
    part.replace(ids_of(shard))


def ids_of(shard: Path) -> Path:
    """Where `encode_shard` writes the ids of a shard."""
    return shard.with_suffix(".npy")


def corpus_ids(data: Path) -> np.ndarray:
    """The corpus that `cuset miniature data` wrote, as token ids: [tokens] uint16."""
    shards = sorted((data / "corpus").glob("*.jsonl"))
    missing = next((shard for shard in shards if not ids_of(shard).exists()), None)
    if missing or not shards:
        problem = f"{ids_of(missing)} is missing" if missing else f"{data}/corpus: no shard in it"
        raise SettingsError(
            f"{problem}; run `cuset miniature data {data}` first, with the settings in its miniature.json if it has one."
        )
    return np.concatenate([np.load(ids_of(shard)) for shard in shards])
