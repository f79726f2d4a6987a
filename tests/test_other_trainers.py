"""docs/other_trainers.md: its own code trains a tiny model, with TRL and in a plain loop, with the loss of the readable equations."""

import copy
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from cuset_stage import cuset_loss


PAGE = Path(__file__).parent.parent / "docs" / "other_trainers.md"
KERNEL = "Here:\n\n```cuda\n__global__ void k{0}(float *x) {{ x[threadIdx.x] = {0}; }}\n\nint main() {{ k{0}<<<1, 32>>>(x); }}\n```\nDone."
RESPONSES = [KERNEL.format(1), "No kernel.", KERNEL.format(2) + " " + KERNEL.format(3), KERNEL.format(4)]


@pytest.fixture(scope="module")
def page():
    """What the page's Python blocks define, run one after the other."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 4
    found = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), found)
    return found


@pytest.fixture(scope="module")
def loaded(tiny_model):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(tiny_model, dtype=torch.float32)
    return model, AutoTokenizer.from_pretrained(tiny_model)


@pytest.fixture
def model(loaded):
    return copy.deepcopy(loaded[0])


@pytest.fixture
def rows(page, loaded):
    prompts = (f"<|im_start|>user\nWrite {number}.<|im_end|>\n<|im_start|>assistant\n" for number in range(4))
    return [page["make_row"](loaded[1], *pair) for pair in zip(prompts, RESPONSES, strict=True)]


def readable(model, batch, **options):
    """The loss of a batch from logits."""
    logits = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).logits
    return cuset_loss(logits, batch["labels"], batch["cuda_mask"], batch["sample_ids"], **options)


def test_the_rows_have_the_mask_of_the_kernels(page, loaded, rows):
    _, tokenizer = loaded
    for row, response in zip(rows, RESPONSES, strict=True):
        assert {len(column) for column in row.values()} == {len(row["input_ids"])}
        marked = tokenizer.decode(
            [token for token, bit in zip(row["input_ids"], row["cuda_mask"], strict=True) if bit]
        )
        pieces = re.findall(r"\{ x.*?; \}|<<<.*?>>>", response)
        assert all(piece in marked for piece in pieces) and bool(pieces) == bool(marked)
        assert len(marked) <= sum(map(len, pieces)) + 8 * len(pieces)
        supervised = [token for token, label in zip(row["input_ids"], row["labels"], strict=True) if label != -100]
        assert tokenizer.decode(supervised) == response + tokenizer.eos_token
    triton = page["make_row"](tokenizer, "x", "@triton.jit\ndef k(x):\n    f(x)\n", "triton")
    assert sum(triton["cuda_mask"]) > 0


def settings_of(folder, **options):
    """Options of `train_with_trl`: plain SGD on the CPU."""
    settings = {
        "output_dir": str(folder),
        "report_to": [],
        "use_cpu": True,
        "bf16": False,
        "gradient_checkpointing": False,
    }
    settings |= {
        "logging_steps": 1,
        "save_strategy": "no",
        "learning_rate": 1e-2,
        "optim": "sgd",
        "lr_scheduler_type": "constant",
    }
    settings |= {"max_grad_norm": 0, "disable_tqdm": True, "seed": 1}
    return {**settings, **options}


def trained(page, model, tokenizer, rows, folder, **options):
    from datasets import Dataset

    return page["train_with_trl"](model, tokenizer, Dataset.from_list(rows), **settings_of(folder, **options))


# A rank of a run under torchrun: the page's code on this rank's rows, as `job` says; rank 0 writes the trained weights.
RANK = """
import json, os, re, sys
import torch
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer

job = json.loads(open(sys.argv[1]).read())
page = {}
for block in re.findall(r"```python\\n(.*?)```", open(job["page"]).read(), re.DOTALL):
    exec(compile(block, job["page"], "exec"), page)
model = AutoModelForCausalLM.from_pretrained(job["model"], dtype=torch.float32)
if job["trainer"] == "trl":
    page["train_with_trl"](model, AutoTokenizer.from_pretrained(job["model"]), Dataset.from_list(job["rows"]), **job["options"])
else:
    torch.distributed.init_process_group("gloo")
    rows = job["rows"][torch.distributed.get_rank() :: torch.distributed.get_world_size()]
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    for _ in range(2):
        page["train_step"](model, optimizer, [page["collate"]([row]) for row in rows], tau=0.05)
    torch.distributed.destroy_process_group()
if os.environ["RANK"] == "0":
    torch.save(torch.cat([parameter.detach().flatten() for parameter in model.parameters()]), job["out"])
"""


@pytest.mark.slow
@pytest.mark.parametrize("trainer", ["trl", "loop"])
def test_two_ranks_train_as_one(tiny_model, loaded, rows, tmp_path, trainer):
    (tmp_path / "rank.py").write_text(RANK)
    start = torch.cat([parameter.detach().flatten() for parameter in loaded[0].parameters()])
    options = settings_of(tmp_path, max_steps=2)
    trained = {}
    for ranks in (1, 2):
        options |= {"per_device_train_batch_size": 1, "gradient_accumulation_steps": 4 // ranks}
        job = {"page": str(PAGE), "model": str(tiny_model), "trainer": trainer, "rows": rows, "options": options}
        out = tmp_path / f"{ranks}.pt"
        (tmp_path / "job.json").write_text(json.dumps({**job, "out": str(out)}))
        command = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}"]
        done = subprocess.run(
            [*command, tmp_path / "rank.py", tmp_path / "job.json"], capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr[-3000:]
        trained[ranks] = torch.load(out)
    moved = (trained[1] - start).norm()
    assert moved > 1e-4
    assert (trained[2] - trained[1]).norm() < 1e-4 * moved


def losses(trainer):
    return [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]


def test_trl_trains_with_the_loss_of_the_equations(page, loaded, model, rows, tmp_path):
    expected = readable(loaded[0], page["collate"](rows)).item()
    trainer = trained(page, model, loaded[1], rows, tmp_path, per_device_train_batch_size=4, max_steps=8)
    assert losses(trainer)[0] == pytest.approx(expected, rel=1e-3)  # the log rounds to four digits
    assert losses(trainer)[-1] < losses(trainer)[0]
    assert trainer.fused.is_confirmed


def test_accumulation_divides_by_the_tokens_of_the_whole_step(page, loaded, rows, tmp_path):
    weights = []
    for size in (4, 1):
        model = copy.deepcopy(loaded[0])
        trained(
            page,
            model,
            loaded[1],
            rows,
            tmp_path,
            per_device_train_batch_size=size,
            gradient_accumulation_steps=4 // size,
            max_steps=2,
        )
        weights.append(torch.cat([parameter.detach().flatten() for parameter in model.parameters()]))
    start = torch.cat([parameter.detach().flatten() for parameter in loaded[0].parameters()])
    assert (weights[0] - start).norm() > 1e-4
    assert (weights[0] - weights[1]).norm() < 1e-4 * (weights[0] - start).norm()


def test_trl_with_lora(page, loaded, model, rows, tmp_path):
    from peft import LoraConfig, get_peft_model

    expected = readable(loaded[0], page["collate"](rows)).item()
    lora = get_peft_model(model, LoraConfig(target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM"))
    trainer = trained(
        page, lora, loaded[1], rows, tmp_path, per_device_train_batch_size=4, max_steps=3, gradient_checkpointing=True
    )
    assert losses(trainer)[0] == pytest.approx(expected, rel=1e-3) and losses(trainer)[-1] < losses(trainer)[0]


def test_a_loop_of_ones_own(page, loaded, model, rows):
    batches = [page["collate"](rows[:2]), page["collate"](rows[2:])]
    whole = page["collate"](rows)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    other = copy.deepcopy(loaded[0])
    other_optimizer = torch.optim.SGD(other.parameters(), lr=1e-2)
    for _ in range(3):
        loss = page["train_step"](model, optimizer, batches, tau=0.05)
        expected = readable(other, whole, tau=0.05)
        expected.backward()
        other_optimizer.step()
        other_optimizer.zero_grad()
        assert loss == pytest.approx(expected.item(), rel=1e-5)
    assert page["train_step"](model, optimizer, batches, tau=0.05) < readable(loaded[0], whole, tau=0.05).item()
