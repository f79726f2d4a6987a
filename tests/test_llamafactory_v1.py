"""LLaMA-Factory's v1 engine trains with CuSeT's loss, by the command of docs/other_trainers.md, in a process of its own."""

import json
import subprocess
import sys

import pytest
import torch
import yaml
from transformers import AutoModelForCausalLM, AutoTokenizer

from cuset_stage import find_spans
from cuset_stage.objective import ObjectiveSettings, objective_loss
from cuset_stage.spans import token_mask


pytestmark = pytest.mark.slow
KERNEL = "Here:\n```cuda\n__global__ void k{0}(float *x) {{ x[threadIdx.x] = {0}; }}\nint main() {{ k{0}<<<1, 32>>>(x); }}\n```\n"
RATE = 1e-2


@pytest.fixture
def recipe(tmp_path, tiny_model):
    """A step over four rows, in two micro-batches, by plain SGD."""
    rows = [{"instruction": f"Write {i}.", "output": KERNEL.format(i) * (i + 1)} for i in range(4)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    dataset = {"mine": {"path": str(tmp_path / "rows.jsonl"), "source": "local", "converter": "alpaca"}}
    (tmp_path / "data.yaml").write_text(yaml.safe_dump(dataset))
    return {
        "model": str(tiny_model), "template": "chatml", "train_dataset": str(tmp_path / "data.yaml"), "output_dir": str(tmp_path / "out"),
        "micro_batch_size": 2, "global_batch_size": 4, "max_steps": 1, "bf16": False, "batching_workers": 0, "cutoff_len": 512,
        "enable_activation_checkpointing": False, "learning_rate": RATE, "max_grad_norm": 1e9, "seed": 1,
    }  # fmt: skip


def train(tmp_path, recipe):
    (tmp_path / "recipe.yaml").write_text(yaml.safe_dump(recipe))
    command = [sys.executable, "-m", "cuset_stage.llamafactory_v1", str(tmp_path / "recipe.yaml")]
    return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)


@pytest.mark.parametrize("own", [{}, {"objective": "dft", "kinds": ["launch_config"]}])
def test_a_step_has_the_loss_of_the_equations(tmp_path, tiny_model, recipe, own):
    done = train(tmp_path, recipe | {"cuset": own})
    assert done.returncode == 0, done.stderr
    [log] = [json.loads(line) for line in (tmp_path / "out" / "trainer_log.jsonl").read_text().splitlines()]
    kinds = {"kinds": tuple(own.pop("kinds"))} if "kinds" in own else {}
    assert log["loss"] == pytest.approx(by_hand(tmp_path, tiny_model, ObjectiveSettings(**own), kinds), rel=1e-4)


def by_hand(tmp_path, tiny_model, settings, kinds):
    """The sum over the rows, one at a time, over their supervised tokens."""
    model = AutoModelForCausalLM.from_pretrained(tiny_model).float()
    tokenizer = AutoTokenizer.from_pretrained(tiny_model)
    total = count = 0
    for row in map(json.loads, (tmp_path / "rows.jsonl").read_text().splitlines()):
        prompt = tokenizer.encode(f"<|im_start|>user\n{row['instruction']}<|im_end|>\n", add_special_tokens=False)
        text = f"<|im_start|>assistant\n{row['output']}<|im_end|>\n"
        read = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        mask = token_mask(read["offset_mapping"], find_spans(text, **kinds))
        assert any(mask) and len(prompt) + len(mask) <= 512
        ids = torch.tensor([prompt + read["input_ids"]])
        filled = ((-100, read["input_ids"]), (0, mask))
        columns = [torch.tensor([[fill] * len(prompt) + list(values)]) for fill, values in filled]
        logits = model(ids).logits
        total += objective_loss(logits, *columns, None, settings, num_items_in_batch=1).item()
        count += len(mask)
    return total / count


def test_what_cannot_be_is_refused(tmp_path, recipe):
    done = train(tmp_path, recipe | {"cuset": {"lambda": 2.0}})
    assert done.returncode and "cuset: no key lambda; expected some of objective, tau, lam" in done.stderr
    done = train(tmp_path, recipe | {"cuset": {"objective": "asft"}})
    assert done.returncode and "the model with its adapter off. Give a peft_config." in done.stderr
