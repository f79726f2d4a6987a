"""The corpus as token ids. Imports tokenizers and NumPy, not torch, so that many processes start at once."""

from concurrent.futures import Executor, Future
from pathlib import Path

import numpy as np

from ..jsonl import read_objects
from ..settings import SettingsError


def submit_shards(data: Path, pool: Executor) -> list[Future[np.ndarray]]:
    """A result a shard of `cuset miniature data`: its token ids, uint16, with an end token after each document.

    They are kept beside the shard as .npy.
    """
    shards = sorted((data / "corpus").glob("*.jsonl"))
    if not shards:
        raise SettingsError(f"{data}/corpus: no shard in it; run `cuset miniature data {data}` first.")
    return [pool.submit(_encode, data / "tokenizer" / "tokenizer.json", shard) for shard in shards]


def _encode(tokenizer: Path, shard: Path) -> np.ndarray:
    kept = shard.with_suffix(".npy")
    if not kept.exists():
        from tokenizers import Tokenizer

        encoder = Tokenizer.from_file(str(tokenizer))
        end = encoder.token_to_id("<|im_end|>")
        texts = [row["text"] for _, row in read_objects(shard)]
        rows = (encoding.ids for encoding in encoder.encode_batch(texts, add_special_tokens=False))
        np.save(kept, np.concatenate([np.array([*row, end], dtype=np.uint16) for row in rows]))
    return np.load(kept)
