"""Measure what a training makes of a cast that its rows need and the untrained models do not write.

    python scripts/cast.py MODEL OUTPUT.json outputs/real/tier2/runs/qwen2.5-coder-0.5b/*/*/model

CUDABench gives each prompt two functions that read and write `float*`; a program that hands integers to one of them
compiles only with a cast. Twelve training rows that call the functions so, evenly over all that do, give the confidence
of the cast's first token. It is host code, so CuSeT leaves it out while that is 0.1 or less. OUTPUT.json has these
numbers for the untrained model and for each adapter, and how many answers of an adapter's run have the cast, check for
a CUDA error, as 76 % of all rows do, or go on with text after the program, as no row does.
"""

import argparse
import json
import re
from pathlib import Path

import torch
from llamafactory.hparams import DataArguments
from peft import PeftModel
from transformers import AutoModelForCausalLM

from cuset_stage.stage.loading import open_template, open_tokenizer


ROWS = 12
CAST = re.compile(r"(?:read|write)_binary\([^,]*,\s*(?=(?:reinterpret_cast<|\()(?:const )?float ?\*)")
CHECK = re.compile("cudaGetLastError|cudaPeekAtLastError|cudaSuccess")
TEXT = re.compile(r"```\s+(?!.*```)\S", re.DOTALL)  # behind the program's last line
RULES = {"cast": CAST, "check": CHECK, "text": TEXT}  # what is counted in answers


@torch.no_grad()
def confidences(model: torch.nn.Module, rows: list[list[int]]) -> list[float]:
    """Return the model's probability of the last token of each row's tokens."""
    logits = (model(torch.tensor([ids[:-1]], device=model.device), logits_to_keep=1).logits[0, -1] for ids in rows)
    return [round(of_row.float().softmax(-1)[ids[-1]].item(), 6) for of_row, ids in zip(logits, rows, strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("output", type=Path)
    parser.add_argument("adapters", nargs="*", type=Path)
    args = parser.parse_args()
    tokenizer = open_tokenizer(args.model)
    template = open_template(tokenizer, DataArguments(template="qwen"))
    data = json.loads(Path("data/cuset_kernels.json").read_text(encoding="utf-8"))
    with_cast = [row for row in data if CAST.search(row["output"])]
    rows = []
    for row in with_cast[:: len(with_cast) // ROWS][:ROWS]:
        turns = [{"role": "user", "content": "\n".join(filter(None, (row["instruction"], row["input"])))}]
        turns.append({"role": "assistant", "content": row["output"]})
        prompt, answer = template.encode_oneturn(tokenizer, turns, row["system"])
        before = CAST.search(row["output"]).end()
        length = next(n for n in range(1, len(answer)) if len(tokenizer.decode(answer[:n])) > before)
        rows.append(prompt + answer[:length])
    model = AutoModelForCausalLM.from_pretrained(args.model, dtype=torch.bfloat16)
    model = model.to("cuda" if torch.cuda.is_available() else "cpu").eval()
    result = {"rows": len(with_cast), "vanilla": {"confidence": confidences(model, rows)}}
    for adapter in args.adapters:
        trained = PeftModel.from_pretrained(model, adapter).eval()
        answers = (adapter.parent / "answers.jsonl").read_text(encoding="utf-8").splitlines()
        texts = [json.loads(line)["answer"] for line in answers]
        counts = {name: sum(map(bool, map(rule.search, texts))) for name, rule in RULES.items()}
        name = "/".join(adapter.parts[-3:-1])  # METHOD/SEED
        result[name] = {"confidence": confidences(trained, rows), "answers": len(texts), **counts}
        model = trained.unload()
    args.output.write_text(json.dumps(result) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
