"""Measure what the labels cost: `datasets.map` with LLaMA-Factory's SFT processor and with ours, on the same rows, in turn.

    python scripts/bench_preprocessing.py --json benchmarks/preprocessing.json

Rows are the bundled prompt-response pairs (each with another number in its prompt, so that nothing is cached), the tokenizer is a
byte-level BPE. Each round runs both processors, the first one alternating; the result is the ratio of the medians.
"""

import argparse
import datetime
import json
import os
import platform
import statistics
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

from make_tiny_model import make_tokenizer, read_texts


ROOT = Path(__file__).parent.parent


def make_rows(count: int):
    from datasets import Dataset

    pairs = json.loads((ROOT / "data" / "cuset_kernels.json").read_text(encoding="utf-8"))
    rows = []
    for index in range(count):
        pair = pairs[index % len(pairs)]
        rows.append(
            {
                "_prompt": [{"role": "user", "content": f"Task {index}. {pair['instruction']}\n{pair['input']}"}],
                "_response": [{"role": "assistant", "content": pair["output"]}],
                "_system": "",
                "_tools": "",
                "_images": None,
                "_videos": None,
                "_audios": None,
            }
        )
    return Dataset.from_list(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--vocab-size", type=int, default=8000)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()

    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    import datasets
    from llamafactory.data import get_template_and_fix_tokenizer
    from llamafactory.data.processor import PackedSupervisedDatasetProcessor, SupervisedDatasetProcessor
    from llamafactory.hparams import DataArguments

    from cuset_stage.stage.processors import LabelledPackedProcessor, LabelledProcessor, LabelRules

    datasets.disable_progress_bars()
    rows = make_rows(args.rows)
    tokenizer = make_tokenizer(read_texts(ROOT / "data"), args.vocab_size)
    rules = LabelRules(("kernel_body", "launch_config"))
    results = {}
    for name, options, plain, labelled in (
        ("plain", {}, SupervisedDatasetProcessor, LabelledProcessor),
        ("packing", {"packing": True}, PackedSupervisedDatasetProcessor, LabelledPackedProcessor),
    ):
        data_args = DataArguments(template="qwen", cutoff_len=4096, **options)
        template = get_template_and_fix_tokenizer(tokenizer, data_args)
        processors = {
            "sft": plain(template, tokenizer, None, data_args),
            "cuset": labelled(template, tokenizer, None, data_args, rules),
        }
        seconds = {stage: [] for stage in processors}
        for round_number in range(args.rounds + 1):
            for stage in sorted(processors, reverse=round_number % 2 == 0):
                with tempfile.TemporaryDirectory() as folder:
                    start = time.perf_counter()
                    rows.map(
                        processors[stage].preprocess_dataset,
                        batched=True,
                        batch_size=1000,
                        remove_columns=rows.column_names,
                        cache_file_name=str(Path(folder) / "rows.arrow"),
                        load_from_cache_file=False,
                    )
                    if round_number:  # the first round warms up
                        seconds[stage].append(time.perf_counter() - start)
        medians = {stage: statistics.median(values) for stage, values in seconds.items()}
        results[name] = {
            "sft_seconds": medians["sft"],
            "cuset_seconds": medians["cuset"],
            "ratio": medians["cuset"] / medians["sft"],
            "extra_ms_per_row": 1000 * (medians["cuset"] - medians["sft"]) / args.rows,
        }
        print(f"{name}: {results[name]['ratio']:.2f} x SFT, {results[name]['extra_ms_per_row']:.2f} ms a row more")

    characters = sum(len(row["_response"][0]["content"]) for row in rows) / len(rows)
    record = {
        "date": datetime.date.today().isoformat(),
        "rows": args.rows,
        "rounds": args.rounds,
        "mean_response_characters": round(characters),
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "versions": {name: version(name) for name in ("llamafactory", "datasets", "tokenizers", "tree-sitter-cuda")},
        "results": results,
    }
    if args.json:
        args.json.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
