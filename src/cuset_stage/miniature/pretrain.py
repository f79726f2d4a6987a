"""Pretraining of the miniature's model: a Qwen2 from random weights, on the corpus that `write_miniature` wrote.

Plain PyTorch on one GPU: packed rows, autocast to bfloat16, torch.compile, fused AdamW. Imports torch and transformers.
"""

import math
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from transformers import AutoTokenizer, Qwen2ForCausalLM

from ..settings import SettingsError
from .model import corpus_ids, make_config
from .settings import PretrainSettings


def batches(ids: np.ndarray, end: int, rows: int, length: int, seed: int) -> Iterator[torch.Tensor]:
    """[rows, length] int64, without end: rows of the corpus in a new order each time it is read.

    A row begins with a document, the first one from each multiple of `length` on, so that long answers see their prompts.
    end: the token that ends a document.
    """
    documents = np.append(0, np.flatnonzero(ids == end) + 1)
    marks = np.arange(0, len(ids) - length, length)
    starts = documents[np.minimum(np.searchsorted(documents, marks), len(documents) - 1)]
    starts = np.unique(starts[starts + length <= len(ids)])
    if len(starts) < rows:
        raise SettingsError(
            f"the corpus has {len(starts)} rows of {length} tokens, a step takes {rows}: make more shards."
        )
    rng = np.random.default_rng(seed)
    while True:
        order = rng.permutation(starts)
        for first in range(0, len(order) - rows + 1, rows):
            yield torch.from_numpy(
                np.stack([ids[at : at + length] for at in order[first : first + rows]]).astype(np.int64)
            )


def schedule(progress: float, warmup: float) -> float:
    """Linear warm-up, then a cosine down to a tenth. progress: 0 to 1."""
    if progress < warmup:
        return progress / warmup
    return 0.1 + 0.45 * (1 + math.cos(math.pi * (progress - warmup) / (1 - warmup)))


def pretrain(settings: PretrainSettings) -> dict[str, Any]:
    """Train, write model and tokenizer to `output`, and return what was measured. Compilation is not counted.

    On a CPU it runs without compilation and in float32.
    """
    ids = corpus_ids(settings.data)
    gpu = torch.cuda.is_available()
    device = torch.device("cuda" if gpu else "cpu")
    tokenizer = AutoTokenizer.from_pretrained(settings.data / "tokenizer")
    torch.manual_seed(settings.seed)
    torch.set_float32_matmul_precision("high")
    shape = settings.model_dump(include={"hidden_size", "layers", "heads", "intermediate_size"})
    model = Qwen2ForCausalLM(make_config(tokenizer, **shape, context=max(4096, settings.length))).to(device)

    def loss_of(rows: torch.Tensor) -> torch.Tensor:
        with torch.autocast(device.type, torch.bfloat16, enabled=gpu):
            logits = model(input_ids=rows, use_cache=False).logits
        return torch.nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1).float(), rows[:, 1:].flatten())

    compute = torch.compile(loss_of) if gpu else loss_of
    if gpu:  # compiled before the clock starts
        compute(torch.zeros((settings.rows, settings.length), dtype=torch.int64, device=device)).backward()
        model.zero_grad(set_to_none=True)
    parameters = sum(one.numel() for one in model.parameters())
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=settings.learning_rate, betas=(0.9, 0.99), weight_decay=0.1, fused=gpu
    )
    stream = batches(ids, tokenizer.eos_token_id, settings.rows, settings.length, settings.seed)
    steps = max(1, settings.tokens // (settings.rows * settings.length))
    log, started, step = [], time.perf_counter(), 0
    while step < steps:
        elapsed = time.perf_counter() - started
        progress = max(step / steps, elapsed / settings.seconds if settings.seconds else 0.0)
        if progress >= 1:
            break
        for group in optimizer.param_groups:
            group["lr"] = settings.learning_rate * schedule(progress, settings.warmup)
        loss = compute(next(stream).to(device, non_blocking=True))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if step % 100 == 0 or step == steps - 1:
            log.append(
                {"step": step, "loss": round(loss.item(), 4), "seconds": round(time.perf_counter() - started, 1)}
            )
            print(f"pretraining: step {step} of {steps}, loss {log[-1]['loss']}, {log[-1]['seconds']} s", flush=True)
        step += 1
    loss.item()
    seconds = time.perf_counter() - started
    model.to(torch.bfloat16 if gpu else torch.float32).save_pretrained(settings.output)
    tokenizer.save_pretrained(settings.output)
    seen = step * settings.rows * settings.length
    return {
        "parameters": parameters,
        "corpus_tokens": len(ids),
        "tokens": seen,
        "seconds": round(seconds, 1),
        "tokens_a_second": round(seen / seconds),
        "log": log,
    }
