"""Whole runs through llamafactory-cli: they work wherever SFT works, and leave the expected files, logs and errors
behind.
"""

import itertools
import json
import math
import os
import re
import shutil
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
import transformers
from data_sets import write_data_set
from features import OFF
from llamafactory.train.tuner import run_exp
from safetensors.torch import load_file

from cuset_stage.text import InputError


ROOT = Path(__file__).parents[2]
GOOD = {"instruction": "Scale.", "input": "", "output": "k<<<1, 32>>>(x);"}
LONG = {**GOOD, "instruction": "long " * 400}  # its prompt fills cutoff_len, so nothing is left to learn


CUT = {"per_device_train_batch_size": 2, "gradient_accumulation_steps": 2}


def test_plain_sft_is_bit_for_bit_what_it_is_without_us(llamafactory):
    plain_sft = llamafactory({"stage": "sft", **CUT})
    without = llamafactory({"stage": "sft", **CUT}, real=True, CUSET_STAGE_DISABLE="1")
    assert without.losses == plain_sft.losses
    assert without.adapter == plain_sft.adapter


@pytest.mark.parametrize("fused", ["off", "on"])
def test_all_parts_off_is_sft(llamafactory, fused):
    """From logits the trained weights agree to the last bit.

    The fused head rounds differently, and so does the logged sum.
    """
    plain_sft = llamafactory({"stage": "sft", **CUT})
    run = llamafactory({"stage": "cuset", "cuset_fused": fused, **CUT, **OFF})
    if fused == "off":
        assert run.adapter == plain_sft.adapter
    assert run.losses == pytest.approx(plain_sft.losses, rel=1e-5)
    assert [step["cuset/nll"] for step in run.steps] == pytest.approx(plain_sft.losses, rel=1e-5)
    assert run.results["train_nll"] == pytest.approx(plain_sft.results["train_loss"], rel=1e-5)


# Rows are cut late enough that each has some CUDA, because statistics of CUDA tokens are logged only if there are any.
FULL = {"stage": "cuset", "finetuning_type": "full", "cutoff_len": 1536, "learning_rate": 3.0e-3, "max_steps": 4}
FULL |= {"val_size": 3, "per_device_train_batch_size": 2}
FULL |= {"eval_strategy": "steps", "eval_steps": 2, "per_device_eval_batch_size": 2, "compute_accuracy": True}
FULL |= {"save_strategy": "steps", "save_steps": 3, "plot_loss": True, "preprocessing_num_workers": 2}
FULL |= {"include_effective_tokens_per_second": True}
BRIEF = {"stage": "cuset", "max_steps": 1}


def test_a_run_with_everything_a_recipe_usually_asks_for(llamafactory):
    """Checks the log, the evaluations, the plots and the files of a run with the usual options."""
    run = llamafactory(FULL)
    assert (run.output_dir / "checkpoint-3" / "model.safetensors").exists()
    assert (run.output_dir / "model.safetensors").exists()
    names = {"nll", "confident_share", "cuda_share", "left_out_share"}
    names |= {f"{tokens}_{what}" for tokens in ("cuda", "other") for what in ("confidence", "nll")}
    names |= {f"{what}_{kind}" for what in ("region_confidence", "sample_weight") for kind in ("mean", "min", "max")}
    assert len(run.steps) == 4 and all({f"cuset/{name}" for name in names} <= set(step) for step in run.steps)
    first, second = run.evaluations
    # Evaluations are over the same rows and can be compared, unlike the losses of steps.
    assert second["eval_loss"] < first["eval_loss"] < 2 * math.log(1024)
    assert "eval_accuracy" in second and second["eval_cuset_loss"] != second["eval_loss"]
    for name in ("loss", "eval_loss", "eval_cuset_loss", "cuset"):
        assert (run.output_dir / f"training_{name}.png").stat().st_size > 5000

    # The labels are shown in the log of the preprocessing, and summarised there once.
    shown = run.output.partition("CUDA tokens, between ⟦ and ⟧:")[2]
    assert re.search(r"⟦\s*\{.*?⟧", shown, re.DOTALL)  # the body of a kernel
    for name in ("training", "evaluation"):
        assert "supervised tokens" in run.sentence(f"CUDA labels of the {name} data")
        assert run.output.count(f"CUDA labels of the {name} data") == 1


def test_the_model_card_names_the_method_and_has_no_dead_link(llamafactory):
    for keys in (FULL, BRIEF):
        card = (llamafactory(keys).output_dir / "README.md").read_text()
        rows = ("tau` | 0.1", "window` | 256", "sensitive_kinds` | kernel_body,launch_config")
        assert all(f"| `cuset_{row} |" in card for row in rows)
        assert card.count("## Training objective") == 1
        assert "fine-tuned version of `tiny` on the cuset_kernels dataset" in card
        assert set(re.findall(r"\]\(([^)]*)\)", card)) == {"https://arxiv.org/abs/2606.16231"}
        metadata = card.split("---")[1]
        assert "- cuset-stage" in metadata and "/tiny" not in metadata and "datasets:" not in metadata


@pytest.mark.parametrize("objective", ["dft", "eaft", "asft", "profit"])
def test_the_baselines_train_and_evaluate_through_the_stage(llamafactory, objective):
    """Each baseline trains under LoRA with accumulation.

    ASFT also runs with packing, which LLaMA-Factory's own ASFT cannot do.
    """
    keys = {"stage": "cuset", "cuset_objective": objective, "packing": objective == "asft", "do_eval": True}
    keys |= {"prob_threshold": "0.0005" if objective == "profit" else None, "gradient_accumulation_steps": 2}
    run = llamafactory({**keys, "max_steps": 3, "val_size": 2, "max_samples": 8})
    assert all(math.isfinite(loss) for loss in run.losses)
    adapter = load_file(run.output_dir / "adapter_model.safetensors")
    assert any(tensor.abs().max() > 0 for name, tensor in adapter.items() if "lora_B" in name)
    assert math.isfinite(run.results["eval_loss"]) and math.isfinite(run.results[f"eval_{objective}_loss"])


@pytest.mark.slow
def test_asft_is_evaluated_alone_as_after_training(llamafactory):
    """An evaluation without training gives the same loss.

    LLaMA-Factory merges the adapters then, so none can be switched off.
    """
    keys = {"stage": "cuset", "cuset_objective": "asft", "asft_alpha": 5.0, "val_size": 2, "do_eval": True}
    keys |= {"max_samples": 6, "cutoff_len": 256}
    trained = llamafactory({**keys, "max_steps": 3})
    keys |= {"do_train": False, "adapter_name_or_path": str(trained.output_dir)}
    alone = llamafactory(keys).results["eval_asft_loss"]
    assert alone == pytest.approx(trained.results["eval_asft_loss"], rel=1e-4)
    dft = llamafactory({**keys, "cuset_objective": "dft"})
    assert alone > dft.results["eval_dft_loss"] * 1.001  # DFT has no KL term
    assert "asft_alpha has no effect on the loss of cuset_objective: dft" in dft.output


def test_asft_switches_off_adapters_of_any_kind(llamafactory, tiny_model):
    keys = {"stage": "cuset", "cuset_objective": "asft", "asft_alpha": 50.0, "max_samples": 4, "cutoff_len": 256}
    keys |= {"finetuning_type": "oft", "oft_rank": 0, "oft_block_size": 8, "learning_rate": 0.1}
    switched, copied = llamafactory(keys), llamafactory({**keys, "ref_model": str(tiny_model)})
    assert "frozen copy" not in switched.output
    assert switched.losses == pytest.approx(copied.losses, rel=1e-4)
    assert switched.losses[2] > 1.5 * switched.losses[0]  # the KL term matters here


def test_asft_keeps_a_frozen_copy_under_full_fine_tuning(llamafactory):
    """In the first step the model still is its base model, so the loss is DFT's. Later the KL term adds to it."""
    keys = {"stage": "cuset", "finetuning_type": "full", "max_steps": 2, "max_samples": 4}
    asft = llamafactory({**keys, "cuset_objective": "asft", "asft_alpha": 10.0})
    dft = llamafactory({**keys, "cuset_objective": "dft"})
    assert asft.losses[0] == pytest.approx(dft.losses[0], rel=1e-4)
    assert asft.losses[1] > dft.losses[1]


@pytest.mark.parametrize("is_named", [False, True])
def test_a_base_model_apart_gets_the_added_tokens(llamafactory, tiny_model, is_named):
    keys = {"ref_model": str(tiny_model)} if is_named else {"finetuning_type": "full"}
    keys |= {"add_tokens": "<kernel>,<launch>", "add_special_tokens": "<mark>", "resize_vocab": True}
    run = llamafactory({**keys, "stage": "cuset", "cuset_objective": "asft", "max_steps": 1, "max_samples": 4})
    assert "Created reference model" in run.output


def test_a_base_model_that_cannot_be_loaded_is_named(llamafactory):
    run = llamafactory({"stage": "cuset", "cuset_objective": "asft", "ref_model": "/nothing"}, check=False)
    assert run.returncode != 0
    assert "ref_model: /nothing: expected a model's folder or Hub name; " in run.output.strip().splitlines()[-1]


@pytest.mark.slow
def test_asft_finds_the_reference_s_weights_under_zero_3(llamafactory):
    """When the loss is computed, ZeRO-3 has already released the weights of the reference's head.

    The test uses one rank, since LLaMA-Factory starts no more of them on CPUs under ZeRO-3.
    """
    keys = {"stage": "cuset", "cuset_objective": "asft", "finetuning_type": "full", "max_steps": 2, "max_samples": 4}
    keys |= {"asft_alpha": 10.0, "learning_rate": 1.0e-3}
    expected = llamafactory(keys)
    keys |= {"cuset_fused": "on", "deepspeed": str(ROOT / "yaml_configs/deepspeed/ds_z3_config.json")}
    sharded = llamafactory(keys, FORCE_TORCHRUN="1", NPROC_PER_NODE="1")
    assert sharded.losses == pytest.approx(expected.losses, rel=1e-3)


@pytest.mark.parametrize("objective", ["cuset", "asft"])
def test_a_trained_head_is_found_by_ddp_that_looks_for_unused_parameters(llamafactory, tmp_path, objective):
    """DDP looks for unused parameters under full tuning without gradient checkpointing.

    Two ranks train as one rank does, also if one of them has nothing to learn in a step.
    """
    rows = [GOOD, {**GOOD, "output": "The kernel scales an array."}, {**GOOD, "output": "s<<<2, 64>>>(y);"}]
    rows = [*rows, LONG, LONG, LONG, GOOD, LONG]
    keys = {**data_set(tmp_path, rows), "cuset_objective": objective, "cuset_fused": "on", "asft_alpha": 10.0}
    keys |= {"finetuning_type": "full", "learning_rate": 1.0e-3, "max_steps": 4, "cutoff_len": 40}
    keys |= {"disable_gradient_checkpointing": True, "ddp_find_unused_parameters": True}
    keys |= {"cuset_normalization": "samples"} if objective == "cuset" else {}
    one = llamafactory({**keys, "per_device_train_batch_size": 4})
    two = llamafactory({**keys, "per_device_train_batch_size": 1, "gradient_accumulation_steps": 2}, ranks=2)
    assert "computed by the fused head" in two.output
    assert "materialised logits" not in two.output
    for ours, theirs in zip(two.steps, one.steps, strict=True):
        for key in set(theirs) - {"epoch", "step"}:
            # Near 0, float32 gives the KL term, times 10 here, with an error of up to 1e-6.
            assert ours[key] == pytest.approx(theirs[key], rel=5e-5, abs=2e-6), key


@pytest.mark.slow
def test_a_compiled_model(llamafactory):
    keys = {"stage": "cuset", "max_steps": 2, "max_samples": 4, "cutoff_len": 128}
    keys |= {"disable_gradient_checkpointing": True}
    plain = llamafactory(keys)
    compiled = llamafactory({**keys, "torch_compile": True, "torch_compile_backend": "aot_eager"})
    assert "fused head" in compiled.output
    assert compiled.losses == pytest.approx(plain.losses, rel=1e-5)


def test_the_tokenized_data_set_is_written_and_read_again(llamafactory, tmp_path):
    path = tmp_path / "tokenized"
    keys = {"stage": "cuset", "tokenized_path": str(path), "max_samples": 6, "max_steps": 2}
    first, again = llamafactory(keys), llamafactory(keys, anew=True)
    elsewhere = [llamafactory({**keys, **away}) for away in ({"dataset": "other"}, {"dataset_dir": str(tmp_path)})]
    assert first.losses == again.losses == elsewhere[0].losses == elsewhere[1].losses
    labels = json.loads((path / "cuset_labels.json").read_text())
    assert labels["kinds"] == ["kernel_body", "launch_config"]
    assert labels["cuset_kernels"] == 3 and "cuset_kernels, edition 3" in (first.output_dir / "README.md").read_text()
    (path / "cuset_labels.json").write_text(json.dumps({key: labels[key] for key in labels if key != "cuset_kernels"}))
    old = llamafactory(keys, anew=True, check=False)
    assert "was made of edition 1 of cuset_kernels" in old.output and "cuset_kernels_hard" in old.output
    (path / "cuset_labels.json").write_text(json.dumps(labels))
    other = llamafactory({**keys, "cuset_sensitive_kinds": "launch_config"}, check=False)
    rules = "kinds: ['kernel_body', 'launch_config'] there, ['launch_config'] here"
    assert other.returncode != 0 and f"was labelled by other rules ({rules})" in other.output
    (file,) = (path / "train").glob("*.arrow")
    os.truncate(file, file.stat().st_size // 2)
    torn = llamafactory(keys, anew=True, check=False)
    assert f"tokenized_path: {path} cannot be read (" in torn.output.strip().splitlines()[-1]


@pytest.mark.parametrize("key", ["model_name_or_path", "adapter_name_or_path"])
def test_weights_that_are_cut_off_are_named(llamafactory, tiny_model, tmp_path, key):
    folder = tiny_model if key == "model_name_or_path" else llamafactory(BRIEF).output_dir
    shutil.copytree(folder, tmp_path / "torn")
    (file,) = (tmp_path / "torn").glob("*.safetensors")
    os.truncate(file, file.stat().st_size - 1)
    run = llamafactory({**BRIEF, key: str(tmp_path / "torn")}, check=False)
    assert f"InputError: {file}: its weights are cut off or damaged (" in run.output.strip().splitlines()[-1]


def test_a_tokenizer_that_is_cut_off_is_named(llamafactory, tiny_model, tmp_path):
    folder = shutil.copytree(tiny_model, tmp_path / "torn")
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "Qwen2Tokenizer"}')
    (folder / "vocab.json").write_text('{"a": 0, "b": 1, "ab": 2}')
    (folder / "merges.txt").write_text("#version: 0.2\na")
    last = llamafactory({**BRIEF, "model_name_or_path": str(folder)}, check=False).output.strip().splitlines()[-1]
    assert f"SettingsError: {folder}: its tokenizer cannot be loaded (a file that is cut off " in last


def test_a_model_folder_that_is_not_there_is_named(llamafactory, tmp_path):
    folder = tmp_path / "gone"
    last = llamafactory({**BRIEF, "model_name_or_path": str(folder)}, check=False).output.strip().splitlines()[-1]
    assert f"SettingsError: {folder}: its tokenizer cannot be loaded (there is no such folder, so it was " in last


WRITTEN = ["adapter_model.safetensors", "adapter_config.json", "tokenizer.json", "training_args.bin"]


@pytest.mark.parametrize("name", WRITTEN)
def test_an_output_folder_without_room_is_named(llamafactory, tmp_path, name):
    if name.endswith("safetensors"):
        (tmp_path / "out" / name).mkdir(parents=True)  # as on a full disk, it cannot be written; a link is replaced
    else:
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / name).symlink_to("/dev/full")
    keys = {"output_dir": f"{tmp_path}/out", "overwrite_output_dir": True}
    run = llamafactory({"stage": "cuset", "max_samples": 4, "max_steps": 1, **keys}, check=False)
    assert f"InputError: {tmp_path}/out: the model cannot be written (" in run.output.strip().splitlines()[-1]


def test_a_tokenized_data_set_of_another_stage_is_refused(llamafactory, tmp_path):
    keys = {"tokenized_path": str(tmp_path / "tokenized"), "max_samples": 4, "max_steps": 1}
    llamafactory({**keys, "stage": "sft"})
    run = llamafactory({**keys, "stage": "cuset"}, check=False)
    assert run.returncode != 0
    assert "was not written by stage: cuset" in run.output and "Give another tokenized_path" in run.output


def data_set(folder, rows):
    columns = {"prompt": "instruction", "query": "input", "response": "output"}
    return {"stage": "cuset", "max_steps": 1, **write_data_set(folder, "rows", rows, columns=columns)}


def test_another_model_s_template_is_named(llamafactory, tmp_path):
    """A template of another model asks for tokens that have no embeddings, and the error names the template.

    On a GPU, such a token would end the run with an obscure CUDA error.
    """
    run = llamafactory({**data_set(tmp_path, [GOOD]), "template": "llama3", "resize_vocab": False}, check=False)
    assert "template=llama3 asks otherwise than the model's own chat template" in run.output
    assert "the template or the tokenizer is not the model's" in run.output.strip().splitlines()[-1]
    run = llamafactory({**data_set(tmp_path, [GOOD]), "dataset": "row"}, check=False)
    assert "did you mean rows?" in run.output.strip().splitlines()[-1]


def test_a_data_set_without_cuda_says_so_loudly(llamafactory, tmp_path):
    rows = [{"instruction": "Say hello.", "input": "", "output": "Hello."}] * 4
    run = llamafactory(data_set(tmp_path, rows))
    assert "NOT ONE CUDA TOKEN was found in the training data" in run.output
    assert "cuset_kernel_aliases" in run.sentence("NOT ONE CUDA TOKEN")
    assert run.steps[0]["cuset/cuda_share"] == 0
    # Both warnings come where people see them: one at the end of the log, the one about random weights at the first
    # logged step.
    assert "NOT ONE CUDA TOKEN was trained on" in run.output[run.output.index("'loss'") :]
    assert "the template or the tokenizer is not the model's" in run.sentence("THE MODEL HARDLY KNOWS THE DATA")


def test_unusable_rows_are_counted_and_a_step_without_supervision_is_harmless(llamafactory, tmp_path):
    """Rows with an empty or a missing answer are dropped and counted.

    A row whose prompt fills cutoff_len has nothing to learn.
    """
    rows = [{**GOOD, "output": ""}, {**GOOD, "output": None}, LONG, GOOD, LONG, GOOD]
    keys = {"max_steps": 2, "cutoff_len": 20, "gradient_accumulation_steps": 2}
    run = llamafactory({**data_set(tmp_path, rows), **keys})
    assert "rows with an empty response" in run.output
    assert "rows without an assistant message to learn from" in run.output
    assert all(math.isfinite(loss) for loss in run.losses)


@pytest.mark.parametrize(
    ("rows", "keys"),
    [
        # A rank whose row has nothing to learn must still take part when the results are gathered.
        ([GOOD, LONG, GOOD, GOOD], {"cutoff_len": 24, "per_device_eval_batch_size": 1}),
        # Three rows in batches of two: on two ranks the first row, by far the longest, is repeated as the fourth.
        (
            [{**GOOD, "output": "k<<<1, 32>>>(x);\n" * 40}, GOOD, {**GOOD, "output": "nothing"}],
            {"cuset_normalization": "samples", "per_device_eval_batch_size": 2},
        ),
    ],
    ids=["a rank with nothing to evaluate", "rows that are repeated to fill the last batch"],
)
def test_two_ranks_evaluate_as_one(llamafactory, tmp_path, rows, keys):
    keys = {**data_set(tmp_path, rows), "eval_dataset": "rows", "do_eval": True, "learning_rate": 0.0, **keys}
    one, two = (llamafactory(keys, ranks=ranks).results for ranks in (1, 2))
    assert one["eval_cuset_loss"] == pytest.approx(two["eval_cuset_loss"], rel=1e-4)
    assert math.isfinite(two["eval_loss"])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (b'{"instruction": "a", "input": "", "output": "b"}\n{"instruction": ', "rows.json:2: not JSON"),
        ([], "rows.json: no rows; expected a list of objects"),
        (["text"], "rows.json: row 1 is 'text'; expected a list of objects"),
        ('[{"instruction": "größer", "output": "b"}]'.encode("latin-1"), "rows.json:1: not JSON ('utf-8' codec can't"),
        ([{"instruction": "Hello.", "input": ""}], "rows.json: no row has the key 'output', which is the response"),
        ([{**GOOD, "output": ""}], "no row of the data can be used (the warnings above say why)"),
    ],
    ids=["a line that breaks off", "no row", "no object", "latin-1", "missing key", "no answer"],
)
def test_broken_data_end_in_a_sentence(llamafactory, tmp_path, rows, message):
    keys = data_set(tmp_path, [])
    (tmp_path / "rows.json").write_bytes(rows if isinstance(rows, bytes) else json.dumps(rows).encode())
    run = llamafactory(keys, check=False)
    assert run.returncode != 0
    assert message in run.output.strip().splitlines()[-1]


def by(objective):
    """The state of a checkpoint that was trained with this objective."""
    return {"stateful_callbacks": {"TrainedBy": {"args": {"objective": objective}, "attributes": {}}}}


@pytest.mark.parametrize(
    ("state", "trained_by"),
    [
        ({"log_history": [{"loss": 1.0}]}, "stage: sft"),
        (by("dft"), "dft"),
        ({"log_history": [{"cuset/nll": 1.0}]}, None),
    ],
)
def test_training_does_not_go_on_from_another_objective(tmp_path, monkeypatch, state, trained_by):
    """Nothing would be left to train, and the model card would still name this one. The last is from an earlier version."""
    from cuset_stage.stage.workflow import choose_checkpoint

    (tmp_path / "checkpoint-5").mkdir()
    (tmp_path / "checkpoint-5" / "trainer_state.json").write_text(json.dumps(state))
    (tmp_path / "checkpoint-9").mkdir()  # a later one, which this run does not resume
    (tmp_path / "checkpoint-9" / "trainer_state.json").write_text(json.dumps(by("cuset")))
    monkeypatch.chdir(tmp_path.parent)
    for output in (str(tmp_path), tmp_path.name, "elsewhere"):
        fix = "Remove resume_from_checkpoint" if output == "elsewhere" else "Give another output_dir"
        refused = f"checkpoint-5 was trained by {trained_by}.*{fix}"
        args = SimpleNamespace(output_dir=output, resume_from_checkpoint=f"{tmp_path}/checkpoint-5")
        with pytest.raises(InputError, match=refused) if trained_by else nullcontext():
            choose_checkpoint(args, "cuset")


def test_a_checkpoint_of_an_earlier_version_gets_the_entry_of_the_objective(tmp_path):
    from transformers import TrainerControl, TrainerState

    from cuset_stage.stage.workflow import TrainedBy

    TrainerState(stateful_callbacks=[TrainerControl()]).save_to_json(str(tmp_path / "trainer_state.json"))
    state = TrainerState.load_from_json(str(tmp_path / "trainer_state.json"))
    TrainedBy("cuset").on_train_begin(None, state, None)
    assert state.stateful_callbacks["TrainedBy"] == by("cuset")["stateful_callbacks"]["TrainedBy"]


@pytest.mark.parametrize(("whole", "start"), [({5, 10}, "checkpoint-10"), (set(), None)])
def test_training_goes_on_from_the_last_whole_checkpoint(tmp_path, whole, start, monkeypatch):
    """An interrupt while a checkpoint is written leaves it without its last file, or with half of that file."""
    from cuset_stage.stage.workflow import choose_checkpoint, logger

    said = []
    monkeypatch.setattr(logger, "warning_rank0", said.append)

    for step in (5, 10, 20, 30):
        (tmp_path / f"checkpoint-{step}").mkdir()
        if step < 30:
            state = json.dumps(by("cuset")) if step in whole else '{"epoch":'
            (tmp_path / f"checkpoint-{step}" / "trainer_state.json").write_text(state)
    for last in (f"{tmp_path}/checkpoint-30", True):
        args = SimpleNamespace(output_dir=f"{tmp_path}/", resume_from_checkpoint=last)
        choose_checkpoint(args, "cuset")
        assert args.resume_from_checkpoint == (start and str(tmp_path / start))
    assert "not written to its end" in said[0] and ("another output_dir" in said[-1]) == bool(start)
    assert any("has no optimizer.pt and no scheduler.pt" in text for text in said) == bool(start)
    for name in ("optimizer.pt", "scheduler.pt"):
        torch.save({}, tmp_path / f"checkpoint-10/{name}")
    said.clear()
    choose_checkpoint(SimpleNamespace(output_dir=f"{tmp_path}/", resume_from_checkpoint=True), "cuset")
    assert not any("optimizer" in text for text in said)
    (tmp_path / "checkpoint-best").mkdir()  # the user's copy
    (tmp_path / "checkpoint-best" / "trainer_state.json").write_text(json.dumps(by("cuset")))
    args.resume_from_checkpoint = f"{tmp_path}/checkpoint-best"
    choose_checkpoint(args, "cuset")
    assert args.resume_from_checkpoint.endswith("checkpoint-best")
    for step in (20, 30):
        shutil.rmtree(tmp_path / f"checkpoint-{step}")
    args.resume_from_checkpoint = True
    choose_checkpoint(args, "cuset")
    assert args.resume_from_checkpoint == (start and str(tmp_path / start))


@pytest.mark.parametrize("name", ["optimizer.pt", "scheduler.pt", "rng_state.pth"])
@pytest.mark.parametrize("size", [0, 300])
def test_a_file_of_a_checkpoint_that_is_cut_off_is_named(tmp_path, name, size):
    from cuset_stage.stage.workflow import choose_checkpoint

    checkpoint = tmp_path / "checkpoint-5"
    checkpoint.mkdir()
    (checkpoint / "trainer_state.json").write_text(json.dumps(by("cuset")))
    torch.save({}, checkpoint / name)
    os.truncate(checkpoint / name, size)
    fix = f"{name} is cut off or damaged; remove .*/checkpoint-5, or resume from another checkpoint"
    with pytest.raises(InputError, match=fix):
        choose_checkpoint(SimpleNamespace(output_dir=str(tmp_path), resume_from_checkpoint=True), "cuset")


def test_weights_are_not_rounded_as_deepspeed_has_other_floats_rounded(monkeypatch):
    from transformers import Trainer

    from cuset_stage.stage.trainer import CusetTrainer

    monkeypatch.setattr(Trainer, "_prepare_inputs", lambda self, batch: {key: batch[key].bfloat16() for key in batch})
    trainer = CusetTrainer.__new__(CusetTrainer)
    trainer.args = SimpleNamespace(device="cpu")
    weights = torch.tensor([1.003, 65505.0])
    batch = trainer._prepare_inputs({"token_weights": weights, "other": torch.ones(1)})
    assert batch["token_weights"].equal(weights) and batch["other"].dtype == torch.bfloat16


def test_a_checkpoint_that_is_half_overwritten_is_not_taken_for_the_earlier_run_s(tmp_path, monkeypatch):
    """The file that marks a checkpoint as whole is removed before the checkpoint is overwritten.

    Otherwise an interrupt would leave a mixture with the checkpoint of an earlier run that looks whole.
    """
    from cuset_stage.stage.trainer import CusetTrainer

    trainer = CusetTrainer.__new__(CusetTrainer)
    trainer.args = SimpleNamespace(should_save=True, output_dir=str(tmp_path))
    trainer.state = SimpleNamespace(global_step=4)
    state = tmp_path / "checkpoint-4" / "trainer_state.json"
    state.parent.mkdir()
    state.write_text("{}")
    written = []
    monkeypatch.setattr(CusetTrainer.__base__, "_save_checkpoint", lambda *given: written.append(state.exists()))
    trainer._save_checkpoint(None, None)
    assert written == [False]


def test_every_row_of_the_model_cards_table_has_all_metrics(monkeypatch):
    """A run that goes on may have evaluated fewer before, and transformers' table takes no other metrics later."""
    from cuset_stage.stage.trainer import CusetTrainer

    rows = [{"eval_loss": 2.0}, {"loss": 1.0}, {"eval_loss": 1.0, "eval_pairs_accuracy": 0.7}]
    seen = []
    trainer = CusetTrainer.__new__(CusetTrainer)
    trainer.state = SimpleNamespace(log_history=rows)
    trainer.is_world_process_zero = lambda: False
    monkeypatch.setattr(CusetTrainer.__base__, "create_model_card", lambda self: seen.extend(self.state.log_history))
    trainer.create_model_card()
    assert seen == [{"eval_loss": 2.0, "eval_pairs_accuracy": ""}, {"loss": 1.0}, rows[2]]
    assert trainer.state.log_history is rows


@pytest.mark.parametrize("has_instructions", [True, False])
def test_16_bit_weights_are_float32_on_processors_without_16_bit_arithmetic(tiny_model, monkeypatch, has_instructions):
    from transformers import AutoModelForCausalLM

    from cuset_stage.stage.workflow import as_float32

    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: has_instructions)
    model = AutoModelForCausalLM.from_pretrained(tiny_model).to(torch.bfloat16)
    as_float32(model)
    expected = torch.bfloat16 if has_instructions else torch.float32
    assert {parameter.dtype for parameter in model.parameters()} == {expected}


def test_streamed_data_are_evaluated_without_training(llamafactory, tmp_path):
    (tmp_path / "trainer_state.json").write_text(json.dumps(by("dft")))  # no evaluation reads a checkpoint
    evaluated = {"do_train": False, "do_eval": True, "dataset": None, "eval_dataset": "cuset_kernels_eval"}
    evaluated |= {"resume_from_checkpoint": str(tmp_path)}
    streamed = {"streaming": True, "max_samples": None, "dataloader_num_workers": 1, "cutoff_len": 64}
    assert llamafactory({"stage": "cuset"} | evaluated | streamed).results["eval_loss"] > 0


def test_statistics_begin_anew_with_smaller_batches(recipe, monkeypatch):
    """`auto_find_batch_size` begins training anew when memory has run out, here within the second step."""
    plain, large = transformers.Trainer.training_step, itertools.count()

    def training_step(trainer, model, inputs, *args):
        if len(inputs["input_ids"]) > 1 and next(large) == 3:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return plain(trainer, model, inputs, *args)

    monkeypatch.setattr(transformers.Trainer, "training_step", training_step)
    run_exp({**recipe, **OFF, **CUT, "auto_find_batch_size": True, "logging_steps": 1, "max_steps": 2})
    step = json.loads((Path(recipe["output_dir"]) / "trainer_state.json").read_text())["log_history"][0]
    # Before transformers 5 the Trainer logs four decimals.
    assert step["loss"] in (pytest.approx(step["cuset/nll"], rel=1e-6), round(step["cuset/nll"], 4))
