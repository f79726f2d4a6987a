"""Measure `cuset analyze` on a GPU: seconds and memory of reading files with a 7B shape of random weights.

    python scripts/bench_analyze.py --json benchmarks/analyze_7b_h200.json

Files are the bundled kernels, one after another, cut at --tokens. Each count of files is a run of its own in the same process; their
memory shows that it does not grow with the number of files. `per_1000_files_s` is the last run's, scaled. `difference`: of log p
against the softmax of the model's logits in float32, row by row, over --checked files.
"""

import argparse
import json
import os
import platform
import tempfile
import threading
import time
from importlib.metadata import version
from pathlib import Path

import psutil
from bench_step import make_model

from cuset_stage.analysis.analyze import analyze
from cuset_stage.analysis.requests import AnalyzeSettings


ROOT = Path(__file__).parent.parent


def write_files(folder: Path, count: int, characters: int) -> None:
    """Files of `characters` or more, each beginning with another kernel, so that all of them differ."""
    kernels = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "data" / "kernels").rglob("*.cu"))]
    for number in range(count):
        text, at = f"// file {number}\n", number
        while len(text) < characters:
            text += kernels[at % len(kernels)]
            at += 1
        (folder / f"{number:04}.cu").write_text(text, encoding="utf-8")


class HostMemory:
    """The most resident memory of this process in the second half of the context's time, in GiB: the first half loads the model."""

    def __enter__(self) -> "HostMemory":
        self._seen: list[int] = []
        self._is_open = True
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def _watch(self) -> None:
        process = psutil.Process()
        while self._is_open:
            self._seen.append(process.memory_info().rss)
            time.sleep(0.05)

    def __exit__(self, *_) -> None:
        self._is_open = False
        self._thread.join()
        self.gib = max(self._seen[len(self._seen) // 2 :]) / 2**30


def difference(settings: AnalyzeSettings, rows: int) -> dict[str, float]:
    """Log-probabilities from the output layer in batches against a softmax of each row's logits."""
    import numpy as np
    import torch

    from cuset_stage.analysis.analyze import _rows
    from cuset_stage.analysis.readers import open_reader
    from cuset_stage.analysis.token_probabilities import token_log_probabilities
    from cuset_stage.stage.loading import open_tokenizer

    (request,) = settings.models.values()
    tokenizer = open_tokenizer(request.model)
    model = open_reader(request, tokenizer, "cuda:0" if torch.cuda.is_available() else "cpu")
    taken = [row._asdict() for _, row in zip(range(rows), _rows(request, settings, tokenizer)[1], strict=False)]
    gaps, own = [], []
    for row, found in zip(taken, token_log_probabilities(model, taken), strict=True):
        ids = torch.from_numpy(row["input_ids"]).long().to(model.device)
        with torch.no_grad():
            logits = model(ids[None], use_cache=False).logits[0, :-1].float()
        log_p = logits.log_softmax(-1).gather(1, ids[1:, None])[:, 0].cpu().numpy()
        gaps.append(np.abs(found[-len(log_p) :] - log_p))
        own.append(log_p)
    gaps = np.concatenate(gaps)
    return {
        "rows": rows,
        "mean": float(gaps.mean()),
        "largest": float(gaps.max()),
        "log_p_mean": float(np.concatenate(own).mean()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--shape", default="7b")
    parser.add_argument("--model", type=Path, default=Path(os.environ.get("TMPDIR", "/tmp")) / "bench_7b")
    parser.add_argument("--files", type=int, nargs="+", default=[50, 300])
    parser.add_argument("--tokens", type=int, default=2000)
    parser.add_argument("--checked", type=int, default=3)
    parser.add_argument("--quantization-bit", type=int, choices=[4, 8])
    args = parser.parse_args()

    import torch

    began = time.perf_counter()
    make_model(args.model, args.shape)
    made_s = time.perf_counter() - began
    has_gpu = torch.cuda.is_available()
    record = {
        "device": torch.cuda.get_device_name() if has_gpu else platform.processor(),
        "torch": version("torch"),
        "transformers": version("transformers"),
        "shape": args.shape,
        "quantization_bit": args.quantization_bit,
        "tokens_a_file": args.tokens,
        "making_the_model_s": round(made_s, 1),
        "runs": [],
    }
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder), max(args.files), 5 * args.tokens)
        model = {"model": str(args.model), "quantization_bit": args.quantization_bit}
        keys = {"models": {"model": model}, "code": [folder], "cutoff_len": args.tokens, "output": folder}
        for count in args.files:
            settings = AnalyzeSettings.checked({**keys, "samples": count})
            if has_gpu:
                torch.cuda.reset_peak_memory_stats()
            began = time.perf_counter()
            with HostMemory() as host:
                measured = analyze(settings)["models"]["model"]
            run = {key: measured[key] for key in ("files", "tokens", "read_s", "statistics_s", "peak_gpu_gib")}
            run |= {"all_s": round(time.perf_counter() - began, 2), "peak_host_gib": round(host.gib, 2)}
            run["d"] = {name: one["ks"]["d"]["value"] for name, one in measured["notions"].items()}
            record["runs"].append(run)
            print(json.dumps(run), flush=True)
            last = record["runs"][-1]
            record["per_1000_files_s"] = round(1000 * (last["read_s"] + last["statistics_s"]) / last["files"], 1)
            args.json.parent.mkdir(parents=True, exist_ok=True)
            args.json.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
        if args.checked:
            record["difference"] = difference(settings, args.checked)
        args.json.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
