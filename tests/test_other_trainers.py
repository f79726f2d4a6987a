"""docs/other_trainers.md: its own code trains a tiny model, with TRL and in a plain loop, with the loss of the readable equations."""

import copy
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from datasets import Dataset
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer

from cuset_stage import cuset_loss, find_spans
from cuset_stage.objective import ObjectiveSettings, objective_loss
from cuset_stage.spans import token_mask
from cuset_stage.stage.batch_labels import BatchLabeller
from cuset_stage.trl import CusetTrainer, labelled_batch


PAGE = Path(__file__).parent.parent / "docs" / "other_trainers.md"
KERNEL = "Here:\n\n```cuda\n__global__ void k{0}(float *x) {{ x[threadIdx.x] = {0}; }}\n\nint main() {{ k{0}<<<1, 32>>>(x); }}\n```\nDone."
RESPONSES = [KERNEL.format(1), "No kernel.", KERNEL.format(2) + " " + KERNEL.format(3), KERNEL.format(4)]


@pytest.fixture(scope="module")
def page():
    """What the page's Python blocks define, run one after the other."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 3
    found = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), found)
    return found


@pytest.fixture(scope="module")
def loaded(tiny_model):
    model = AutoModelForCausalLM.from_pretrained(tiny_model).float()
    return model, AutoTokenizer.from_pretrained(tiny_model)


@pytest.fixture
def model(loaded):
    return copy.deepcopy(loaded[0])


@pytest.fixture
def texts():
    """Rows as TRL takes them."""
    prompts = (f"<|im_start|>user\nWrite {number}.<|im_end|>\n<|im_start|>assistant\n" for number in range(4))
    return [{"prompt": prompt, "completion": text} for prompt, text in zip(prompts, RESPONSES, strict=True)]


@pytest.fixture
def rows(page, loaded, texts):
    return [page["make_row"](loaded[1], row["prompt"], row["completion"]) for row in texts]


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
    settings = {"output_dir": str(folder), "report_to": [], "use_cpu": True, "bf16": False, "logging_steps": 1}
    settings |= {"gradient_checkpointing": False, "save_strategy": "no", "learning_rate": 1e-2, "optim": "sgd"}
    settings |= {"lr_scheduler_type": "constant", "max_grad_norm": 0, "disable_tqdm": True, "seed": 1}
    return {**settings, **options}


def flat(model):
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])


def loss_by_equations(page, model, rows, objective):
    """Of a model before it is trained, which is its own base model; and the batch."""
    settings, batch = ObjectiveSettings(objective), page["collate"](rows)
    logits = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).logits
    columns = {name: batch[name] for name in ("labels", "cuda_mask", "sample_ids")}
    reference = {"reference_logits": logits} if settings.needs_reference else {}
    return objective_loss(logits, **columns, settings=settings, **reference).item(), batch


def trained(page, model, tokenizer, texts, folder, objective="cuset", **options):
    return page["train_with_trl"](
        model, Dataset.from_list(texts), objective, tokenizer, **settings_of(folder, **options)
    )


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
model = AutoModelForCausalLM.from_pretrained(job["model"]).float()
if job["trainer"] == "trl":
    tokenizer = AutoTokenizer.from_pretrained(job["model"])
    page["train_with_trl"](model, Dataset.from_list(job["texts"]), tokenizer=tokenizer, **job["options"])
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
def test_two_ranks_train_as_one(tiny_model, loaded, texts, rows, tmp_path, trainer):
    (tmp_path / "rank.py").write_text(RANK)
    start = flat(loaded[0])
    options = settings_of(tmp_path, max_steps=2)
    trained = {}
    for ranks in (1, 2):
        options |= {"per_device_train_batch_size": 1, "gradient_accumulation_steps": 4 // ranks}
        job = {"page": str(PAGE), "model": str(tiny_model), "trainer": trainer, "rows": rows, "texts": texts}
        job["options"] = options
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


@pytest.mark.parametrize("objective", ["cuset", "sft", "dft", "eaft", "profit"])
def test_trl_trains_with_the_loss_of_the_equations(page, loaded, model, texts, rows, tmp_path, objective):
    expected, batch = loss_by_equations(page, loaded[0], rows, objective)
    # The others weigh next to nothing where a model has only small probabilities.
    falls = objective in ("cuset", "sft")
    options = {"per_device_train_batch_size": 4, "max_steps": 8 if falls else 1}
    trainer = trained(page, model, loaded[1], texts, tmp_path, objective, **options)
    assert losses(trainer)[0] == pytest.approx(expected, rel=1e-3, abs=1e-4)  # the log rounds to four digits
    assert not falls or losses(trainer)[-1] < losses(trainer)[0]
    assert trainer.fused_head.is_confirmed or not expected
    share = (batch["cuda_mask"] * (batch["labels"] != -100)).sum() / (batch["labels"] != -100).sum()
    assert trainer.state.log_history[0]["cuset/cuda_share"] == pytest.approx(share.item(), rel=1e-3)


def test_trl_evaluates_by_cross_entropy(loaded, model, texts, tmp_path):
    found = []
    for kind in (SFTTrainer, CusetTrainer):
        data = Dataset.from_list(texts)
        settings = SFTConfig(**settings_of(tmp_path, per_device_eval_batch_size=4))
        trainer = kind(
            copy.deepcopy(model), settings, train_dataset=data, eval_dataset=data, processing_class=loaded[1]
        )
        found.append(trainer.evaluate()["eval_loss"])
    assert found[1] == pytest.approx(found[0], rel=1e-6)


def test_rows_laid_end_to_end_and_cut_kernels_are_labelled(loaded):
    tokenizer = loaded[1]
    settings = {"kinds": ("kernel_body",), "aliases": ("KERNEL",), "language": "cuda,triton"}
    texts = [KERNEL.format(1), "No kernel.", f"Größe 𝛼 \U0001f680 Ω<|im_end|>\n{KERNEL.format(3)}", KERNEL.format(22)]
    texts[:0] = "A\nKERNEL void k(float *x) { x[0] = 1; }", "A\n```python\n@triton.jit\ndef k(x):\n    f(x)\n```\n"
    encoded = [tokenizer(text, return_offsets_mapping=True, add_special_tokens=False) for text in texts]
    ids = [each["input_ids"] for each in encoded]
    ids[-1] = ids[-1][: len(ids[-1]) // 2]
    batch = {
        "input_ids": torch.tensor([[token for row in ids for token in row]]),
        "labels": torch.tensor([[label for row in ids for label in [-100, *row[1:]]]]),
    }
    labelled = labelled_batch(lambda _: batch, BatchLabeller(tokenizer, **settings), None)
    numbers = [number for number, row in enumerate(ids, start=1) for number in [0] + [number] * (len(row) - 1)]
    assert labelled["sample_ids"].tolist() == [numbers]
    expected = []
    for text, each, row in zip(texts, encoded, ids, strict=True):
        expected += token_mask(each["offset_mapping"], find_spans(text, **settings))[: len(row)]
    assert labelled["cuda_mask"].tolist() == [expected] and sum(expected)


def test_names_in_place_of_a_list_of_them_are_refused(loaded):
    with pytest.raises(ValueError, match="kinds='kernel_body': a sequence of kinds"):
        BatchLabeller(loaded[1], "kernel_body", (), "cuda")


@pytest.mark.parametrize("name", ["normalization", "label_smoothing_factor", "loss_type", "output_router_logits"])
def test_a_setting_without_effect_is_refused(page, loaded, model, texts, tmp_path, name):
    objective, options = "cuset", {}
    if name == "normalization":
        objective = ObjectiveSettings(normalization="samples")
    elif name == "label_smoothing_factor":
        options = {name: 0.5}
    elif name == "loss_type":
        if not hasattr(SFTConfig, "loss_type"):
            pytest.skip("this version of TRL has no such setting")
        options = {name: "dft"}
    else:
        model.config.output_router_logits = True
    with pytest.raises(ValueError, match=f"{name}: this trainer does not add it to the loss"):
        trained(page, model, loaded[1], texts, tmp_path, objective, **options)


def test_trl_warns_of_data_without_cuda(page, loaded, model, texts, tmp_path, caplog):
    plain = [{**row, "completion": "No kernel."} for row in texts]
    trained(page, model, loaded[1], plain, tmp_path, per_device_train_batch_size=4, max_steps=1)
    assert "NOT ONE CUDA TOKEN" in caplog.text


def test_accumulation_divides_by_the_tokens_of_the_whole_step(page, loaded, texts, tmp_path):
    weights = []
    for size in (4, 1):
        model = copy.deepcopy(loaded[0])
        accumulated = {"per_device_train_batch_size": size, "gradient_accumulation_steps": 4 // size}
        trained(page, model, loaded[1], texts, tmp_path, max_steps=2, **accumulated)
        weights.append(flat(model))
    start = flat(loaded[0])
    assert (weights[0] - start).norm() > 1e-4
    assert (weights[0] - weights[1]).norm() < 1e-4 * (weights[0] - start).norm()


@pytest.mark.parametrize("objective", ["cuset", "asft"])
def test_trl_with_lora(page, loaded, model, texts, rows, tmp_path, objective):
    # ASFT's distance to the base model is 0 before the first step: LoRA's second factor begins with zeros
    expected, _ = loss_by_equations(page, loaded[0], rows, objective)
    lora = get_peft_model(model, LoraConfig(target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM"))
    options = {"per_device_train_batch_size": 4, "max_steps": 3, "gradient_checkpointing": True, "learning_rate": 1.0}
    trainer = trained(page, lora, loaded[1], texts, tmp_path, objective, **options)
    assert losses(trainer)[0] == pytest.approx(expected, rel=1e-3, abs=1e-4)
    assert objective == "asft" or losses(trainer)[-1] < losses(trainer)[0]
    with pytest.raises(ValueError, match="peft_config"):
        trained(page, copy.deepcopy(loaded[0]), loaded[1], texts, tmp_path, "asft")


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
