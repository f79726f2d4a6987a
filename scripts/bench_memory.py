"""Measure the peak GPU memory of training under stage: cuset, for each model size, tuning method and length.

    python scripts/bench_memory.py --json benchmarks/memory_h200.json
    python scripts/bench_memory.py --json benchmarks/memory_h200.json --only 7b

Models have random weights and the shapes of Qwen2.5 (1.5B, 7B, 32B) and Qwen3 (14B). Each row is a run of
bench_step.py: the paper's recipe with batch size 1 and rows packed to the full length. `peak_gib` is the peak of
memory in tensors, `reserved_gib` the peak of memory that PyTorch held. The CUDA context comes on top of both. The tests
compare the formula of `cuset init memory_gib=` with this file. Each row is written as soon as it is measured, and rows
that the file already has are not measured again. The model is written to the folder that TMPDIR names: 61 GiB for 32B.
"""

import argparse
import datetime
import json
import shutil
import tempfile
from pathlib import Path

import torch
from bench_step import measure
from make_tiny_model import make_shape


LORA, QLORA = {"stage": "cuset"}, {"stage": "cuset", "quantization_bit": 4, "quantization_method": "bnb"}
FULL = {"stage": "cuset", "finetuning_type": "full", "learning_rate": 1e-5}
ROWS = [  # shape, tuning, recipe keys, tokens
    *(("7b", "lora", LORA, length) for length in (4096, 1024, 8192)),
    *(("7b", "qlora", QLORA, length) for length in (4096, 1024)),
    ("1.5b", "full", FULL, 4096),
    ("1.5b", "lora", LORA, 4096),
    ("14b", "lora", LORA, 4096),
    ("14b", "qlora", QLORA, 4096),
    ("32b", "qlora", QLORA, 4096),
    ("32b", "qlora", QLORA, 2048),
    ("32b", "lora", LORA, 4096),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--only", nargs="+", help="these shapes")
    args = parser.parse_args()
    args.warm_up, args.steps, args.ranks, args.memory_gib, args.shape, args.profile = 2, 3, 1, 0, "", False
    rows = json.loads(args.json.read_text(encoding="utf-8")) if args.json.is_file() else []
    measured = {(row["model"], row["method"], row["cutoff_len"]) for row in rows}
    args.model = Path(tempfile.gettempdir()) / "bench_memory_model"
    for shape, method, keys, length in ROWS:
        if (args.only and shape not in args.only) or (shape, method, length) in measured:
            continue
        if args.shape != shape:
            shutil.rmtree(args.model, ignore_errors=True)
            make_shape(args.model, shape)
            torch.cuda.empty_cache()
            args.shape = shape
        args.cutoff_len = length
        result = measure(args, keys)
        row = {"model": shape, "method": method, "quantization": keys.get("quantization_bit"), "cutoff_len": length}
        row |= {**result, "gpu": torch.cuda.get_device_name(), "date": datetime.date.today().isoformat()}
        print(json.dumps(row), flush=True)
        if "error" not in result:
            rows.append(row)
            args.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    shutil.rmtree(args.model, ignore_errors=True)


if __name__ == "__main__":
    main()
