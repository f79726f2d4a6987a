"""Measure what `cuset generate` writes with a local model: tokens a second, continuous batching beside batches of `generate`.

    python scripts/bench_generate.py --json benchmarks/generate_h200.json
    python scripts/bench_generate.py --quick          # smoke run, also on a CPU

The models have Qwen2's shape and random weights in bf16, made on the GPU; prompts are those of the bundled tasks (data/kernels), sampling is
at temperature 0.8 and top_p 0.95. "before" is what all models went through until continuous batching came, and those that it cannot take
still do; "after" is the same samples with it, in the same process. Times are of whole runs over `waves` batches of samples, from prompts to
texts, captured CUDA graphs included, which weigh more on short runs: "long" is continuous batching again, where an answer has
`long_tokens`. Workload "equal": no answer ends before max_tokens. "varied": each token ends an answer with a chance of 1 in `mean`.
"""

import argparse
import datetime
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import torch
import transformers
from make_tiny_model import make_tokenizer, read_texts
from transformers import Qwen2Config, Qwen2ForCausalLM

from cuset_stage.generate import RecordedSettings
from cuset_stage.generate.hf import HFBackend
from cuset_stage.generate.plan import make_plan
from cuset_stage.tasks import load_tasks


DATA = Path(__file__).resolve().parent.parent / "data"
SHAPES = {  # hidden size, intermediate size, layers, heads, key heads, vocabulary
    "tiny": (64, 128, 2, 4, 2, 8192),
    "small": (512, 1408, 12, 8, 4, 8192),
    "7b": (3584, 18944, 28, 28, 4, 152064),
}


class Case(NamedTuple):
    """`waves` times `batch` samples of at most `max_tokens` tokens."""

    shape: str
    batch: int
    waves: int
    max_tokens: int
    mean: int | None = None
    long_tokens: int | None = None


CASES = (
    Case("7b", 64, 1, 48, long_tokens=512),
    Case("7b", 1, 1, 24),
    Case("7b", 256, 1, 24),
    Case("7b", 64, 2, 48, mean=24),
    Case("small", 64, 1, 128, long_tokens=1024),
    Case("small", 1, 1, 64),
    Case("small", 256, 1, 96, long_tokens=512),
    Case("small", 64, 2, 96, mean=48),
)
QUICK = (Case("tiny", 4, 2, 16, long_tokens=32), Case("tiny", 4, 2, 64, mean=16))


class RandomModel(HFBackend):
    """The back end with a model that was made here in place of one from files."""

    def __init__(self, settings: RecordedSettings, model: Any, case: Case, device: str) -> None:
        self._made = model
        super().__init__(settings, batch_size=case.batch, device=device)
        vocabulary = model.config.vocab_size
        # The first tokens of the vocabulary are alphabet; an end token that the model does not know never comes.
        ends = range(1000, 1000 + vocabulary // case.mean) if case.mean else [vocabulary]
        self._stop_ids = set(ends)
        self.model.generation_config.eos_token_id = sorted(ends)

    def _load_model(self, device: str, trust_remote_code: bool) -> Any:
        return self._made


def make_model(shape: str, device: str) -> Any:
    hidden, intermediate, layers, heads, key_heads, vocabulary = SHAPES[shape]
    config = Qwen2Config(
        vocab_size=vocabulary,
        hidden_size=hidden,
        intermediate_size=intermediate,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=key_heads,
        max_position_embeddings=32768,
        tie_word_embeddings=False,
    )
    torch.manual_seed(0)
    usual = torch.get_default_dtype()
    torch.set_default_dtype(torch.bfloat16 if device == "cuda" else torch.float32)
    with torch.device(device):
        model = Qwen2ForCausalLM(config)
    torch.set_default_dtype(usual)
    return model


def measure(backend: HFBackend, plan: list[Any], continuous: bool) -> dict[str, Any]:
    backend.continuous = continuous
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    begin = time.perf_counter()
    answers = list(backend.replies(plan))
    seconds = time.perf_counter() - begin
    tokens = sum(answer.tokens for answer in answers)
    result = {"seconds": round(seconds, 2), "tokens": tokens, "tokens_per_s": round(tokens / seconds)}
    if torch.cuda.is_available():
        result["peak_gib"] = round(torch.cuda.max_memory_allocated() / 2**30, 2)
    return result


def run(case: Case, model: Any, tokenizer: Path, device: str) -> dict[str, Any]:
    settings = RecordedSettings(
        backend="hf", model=str(tokenizer), temperature=0.8, top_p=0.95, max_tokens=case.max_tokens, seed=1
    )
    tasks = load_tasks(DATA / "kernels").tasks
    samples = -(-case.batch * case.waves // len(tasks))
    plan = make_plan(tasks, settings, samples)[: case.batch * case.waves]
    backend = RandomModel(settings, model, case, device)
    before = measure(backend, plan, continuous=False)
    after = measure(backend, plan, continuous=True)
    result = {
        **case._asdict(),
        "workload": "varied" if case.mean else "equal",
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "samples": len(plan),
        "before": before,
        "after": after,
        "faster": round(after["tokens_per_s"] / before["tokens_per_s"], 2),
    }
    if case.long_tokens:
        longer = settings.model_copy(update={"max_tokens": case.long_tokens})
        result["long"] = measure(RandomModel(longer, model, case, device), plan, continuous=True)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--shapes", nargs="+", default=["7b", "small"])
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    result: dict[str, Any] = {
        "date": datetime.date.today().isoformat(),
        "gpu": torch.cuda.get_device_name() if device == "cuda" else None,
        "cores": os.cpu_count(),
        "versions": {"torch": torch.__version__, "transformers": transformers.__version__},
        "what": "tokens a second of whole runs, CUDA graphs included; before: batches of generate, after: continuous batching",
        "cases": [],
    }
    cases = QUICK if args.quick else [case for case in CASES if case.shape in args.shapes]
    with tempfile.TemporaryDirectory() as folder:
        make_tokenizer(read_texts(DATA), 8192).save_pretrained(folder)
        model, made = None, ""
        for case in cases:
            if made != case.shape:
                del model
                model, made = make_model(case.shape, device), case.shape
                # What the first run of a process pays for, such as loading kernels.
                warm = Case(case.shape, 2, 1, 4)
                run(warm, model, Path(folder), device)
            result["cases"].append(run(case, model, Path(folder), device))
            print(json.dumps(result["cases"][-1]), flush=True)
            if args.json:
                args.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
