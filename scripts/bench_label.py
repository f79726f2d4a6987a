"""Measure `cuset label` on a data set of the paper's size: 6,278 rows of 4 kB, through the command line.

    python scripts/bench_label.py --json benchmarks/label.json

The rows are pieces of the bundled programs, each numbered so that all differ. The time is that of the whole command,
including the start of Python and loading the tokenizer.
"""

import argparse
import datetime
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

from make_tiny_model import make_tokenizer, read_texts


ROOT = Path(__file__).parent.parent
ROWS, CHARACTERS = 6278, 4096


def make_rows(count: int, characters: int) -> list[dict[str, str]]:
    """Alpaca rows whose answers have exactly `characters` characters: whole programs, and part of a last one."""
    pairs = json.loads((ROOT / "data" / "cuset_kernels.json").read_text(encoding="utf-8"))
    rows = []
    for index in range(count):
        answer, number = f"Answer {index}.\n", index
        while len(answer) < characters:
            answer += pairs[number % len(pairs)]["output"] + "\n"
            number += 1
        pair = pairs[index % len(pairs)]
        rows.append({"instruction": pair["instruction"], "input": pair["input"], "output": answer[:characters]})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--characters", type=int, default=CHARACTERS)
    parser.add_argument("--vocab-size", type=int, default=8000)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_tokenizer(read_texts(ROOT / "data"), args.vocab_size).save_pretrained(folder / "tokenizer")
        rows = make_rows(args.rows, args.characters)
        (folder / "rows.json").write_text(json.dumps(rows), encoding="utf-8")
        (folder / "dataset_info.json").write_text(json.dumps({"rows": {"file_name": "rows.json"}}), encoding="utf-8")
        settings = {"model": folder / "tokenizer", "dataset": "rows", "dataset_dir": name}
        settings |= {"output": folder / "page.html", "numbers": folder / "summary.json"}
        command = [sys.executable, "-m", "cuset_stage.cli", "label", *(f"{k}={v}" for k, v in settings.items())]
        start = time.perf_counter()
        subprocess.run(command, check=True, env={**os.environ, "HF_HOME": str(folder / "hub")})
        seconds = time.perf_counter() - start
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))

    record = {
        "date": datetime.date.today().isoformat(),
        "rows": args.rows,
        "characters": args.characters,
        "seconds": round(seconds, 1),
        "cpu_seconds": round(used.ru_utime + used.ru_stime, 1),
        "peak_mib_of_a_process": round(used.ru_maxrss / 1024),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("llamafactory", "datasets", "tokenizers", "tree-sitter-cuda")},
        **{key: summary[key] for key in ("row_tokens", "supervised_tokens", "cuda_tokens", "rows_without_cuda")},
    }
    print(f"{args.rows} rows of {args.characters} characters: {seconds:.1f} s on {os.cpu_count()} cores")
    if args.json:
        args.json.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
