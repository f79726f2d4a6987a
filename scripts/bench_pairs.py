#!/usr/bin/env python3
"""Time and memory of the forward passes of `cuset pairs` on a model with random weights, on a GPU.

    python scripts/bench_pairs.py --output benchmarks/pairs_7b_h200.json
    python scripts/bench_pairs.py --hidden-size 64 --layers 2 --samples 8 --device cpu    # tries the script out

The default shape is Qwen2.5-7B's, in bfloat16. The tokenizer is trained on the bundled data with 2,048 entries, so that a program has
more tokens than with that model's own.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.util
import json
import sys
import tempfile
import time
from pathlib import Path

import torch
from llamafactory.hparams import DataArguments
from transformers import AutoTokenizer, Qwen2Config, Qwen2ForCausalLM

from cuset_stage.analysis.token_probabilities import token_log_probabilities
from cuset_stage.files import write_atomically
from cuset_stage.pairs.likelihood import differences
from cuset_stage.pairs.rows import evenly, read_pairs
from cuset_stage.pairs.summary import summarise
from cuset_stage.stage.loading import open_template


ROOT = Path(__file__).resolve().parent.parent


def make_tokenizer(folder: Path):
    """The tokenizer that scripts/make_tiny_model.py makes."""
    spec = importlib.util.spec_from_file_location("make_tiny_model", ROOT / "scripts" / "make_tiny_model.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    script.make_model(folder, ROOT / "data", hidden_size=32, layers=1)
    return AutoTokenizer.from_pretrained(folder)


def make_model(options: argparse.Namespace) -> Qwen2ForCausalLM:
    config = Qwen2Config(
        vocab_size=options.vocabulary,
        hidden_size=options.hidden_size,
        intermediate_size=round(options.hidden_size * 18944 / 3584),
        num_hidden_layers=options.layers,
        num_attention_heads=options.hidden_size // options.head_size,
        num_key_value_heads=max(1, options.hidden_size // options.head_size // 7),
        tie_word_embeddings=False,
    )
    dtype = torch.bfloat16 if options.device.startswith("cuda") else torch.float32
    torch.manual_seed(0)
    torch.set_default_dtype(dtype)
    try:
        with torch.device(options.device):
            return Qwen2ForCausalLM(config).eval()
    finally:
        torch.set_default_dtype(torch.float32)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", default="cuset_mini", help="a pair file, or the bundled one (cuset_mini)")
    parser.add_argument("--samples", type=int, help="only so many pairs")
    parser.add_argument("--hidden-size", type=int, default=3584)
    parser.add_argument("--head-size", type=int, default=128)
    parser.add_argument("--layers", type=int, default=28)
    parser.add_argument("--vocabulary", type=int, default=152064)
    parser.add_argument("--batch-tokens", type=int, default=8192, help="as of `cuset pairs`")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--output", type=Path, help="write the record here")
    options = parser.parse_args(arguments)
    on_gpu = options.device.startswith("cuda")
    tasks = ROOT / "data" / "cuset_mini.jsonl"
    pairs = evenly([pair for pair in read_pairs(options.pairs, tasks) if not pair.is_floor], options.samples)
    with tempfile.TemporaryDirectory() as folder:
        tokenizer = make_tokenizer(Path(folder) / "tiny")
    template = open_template(tokenizer, DataArguments(template="qwen"))
    model = make_model(options)
    weights_gib = torch.cuda.memory_allocated() / 2**30 if on_gpu else None
    counted = {"responses": 0, "tokens": 0}

    def score(rows):
        rows = list(rows)
        counted["responses"] += len(rows)
        counted["tokens"] += sum(len(row["input_ids"]) for row in rows)
        return token_log_probabilities(model, rows, batch_tokens=options.batch_tokens)

    list(differences(pairs[:4], template, tokenizer, score))  # compiles and warms up
    counted.update(responses=0, tokens=0)
    print(f"{len(pairs)} pairs", file=sys.stderr, flush=True)
    began = time.perf_counter()
    found = list(differences(pairs, template, tokenizer, score))
    seconds = time.perf_counter() - began
    summary = summarise(pairs, found)
    record = {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "gpu": torch.cuda.get_device_name() if on_gpu else None,
        "torch": torch.__version__,
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "pairs": len(pairs),
        **counted,
        "batch_tokens": options.batch_tokens,
        "seconds": round(seconds, 2),
        "weights_gib": weights_gib and round(weights_gib, 2),
        "peak_gib": round(torch.cuda.max_memory_allocated() / 2**30, 2) if on_gpu else None,
        "accuracy": summary["accuracy"],
        "lengths": summary["lengths"],
    }
    text = json.dumps(record, indent=1) + "\n"
    if options.output:
        write_atomically(options.output, text)
    print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
