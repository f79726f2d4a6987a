"""Whole runs through llamafactory-cli: what SFT there works with works here, and what a run leaves behind."""

import hashlib
import json
import math
import re
from pathlib import Path

import pytest
from features import OFF
from safetensors.torch import load_file


ROOT = Path(__file__).parents[2]


def weights(run):
    return hashlib.sha256((run.output_dir / "adapter_model.safetensors").read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def plain_sft(llamafactory):
    return llamafactory({"stage": "sft", "per_device_train_batch_size": 2, "gradient_accumulation_steps": 2})


def test_plain_sft_is_bit_for_bit_what_it_is_without_us(llamafactory, plain_sft):
    without = llamafactory(
        {"stage": "sft", "per_device_train_batch_size": 2, "gradient_accumulation_steps": 2},
        real=True,
        CUSET_STAGE_DISABLE="1",
    )
    assert without.losses == plain_sft.losses
    assert weights(without) == weights(plain_sft)


@pytest.mark.parametrize("fused", ["off", "on"])
def test_all_parts_off_is_sft(llamafactory, plain_sft, fused):
    """From logits the weights agree to the last bit; the fused head rounds otherwise, and so does the logged sum."""
    run = llamafactory(
        {
            "stage": "cuset",
            "cuset_fused": fused,
            "per_device_train_batch_size": 2,
            "gradient_accumulation_steps": 2,
            **OFF,
        }
    )
    if fused == "off":
        assert weights(run) == weights(plain_sft)
    assert run.losses == pytest.approx(plain_sft.losses, rel=1e-5)
    assert [step["cuset/nll"] for step in run.steps] == pytest.approx(plain_sft.losses, rel=1e-5)


FULL = {
    "stage": "cuset",
    "finetuning_type": "full",
    "cutoff_len": 1536,  # some CUDA in every row: statistics of CUDA tokens are logged where there are any
    "learning_rate": 3.0e-3,
    "max_steps": 6,
    "val_size": 3,
    "per_device_train_batch_size": 2,
}


@pytest.fixture(scope="module")
def full_run(llamafactory):
    """A run with everything a recipe usually asks for."""
    return llamafactory(
        {
            **FULL,
            "eval_strategy": "steps",
            "eval_steps": 3,
            "per_device_eval_batch_size": 2,
            "save_strategy": "steps",
            "save_steps": 4,
            "plot_loss": True,
            "compute_accuracy": True,
            "preprocessing_num_workers": 2,
            "include_effective_tokens_per_second": True,
            "load_best_model_at_end": False,
        }
    )


def test_the_loss_goes_down_and_a_checkpoint_is_written(full_run):
    # Losses of the same rows, which those of the steps are not.
    first, second = (evaluation["eval_loss"] for evaluation in full_run.evaluations)
    assert second < first
    assert (full_run.output_dir / "checkpoint-4" / "model.safetensors").exists()
    assert (full_run.output_dir / "model.safetensors").exists()


def test_every_statistic_is_logged_with_every_step(full_run):
    names = {
        "nll",
        "confident_share",
        "cuda_share",
        "left_out_share",
        "cuda_confidence",
        "cuda_nll",
        "other_confidence",
        "other_nll",
        *(f"{name}_{kind}" for name in ("region_confidence", "sample_weight") for kind in ("mean", "min", "max")),
    }
    assert len(full_run.steps) == 6
    for step in full_run.steps:
        assert {f"cuset/{name}" for name in names} <= set(step)


def test_evaluation_reports_plain_cross_entropy_and_the_objective_beside_it(full_run):
    assert len(full_run.evaluations) == 2
    for evaluation in full_run.evaluations:
        assert {"eval_loss", "eval_cuset_loss", "eval_accuracy"} <= set(evaluation)
        assert evaluation["eval_loss"] != evaluation["eval_cuset_loss"]
        assert 0 < evaluation["eval_loss"] < 2 * math.log(1024)


def test_the_log_is_drawn(full_run):
    for name in ("loss", "eval_loss", "eval_cuset_loss", "cuset"):
        assert (full_run.output_dir / f"training_{name}.png").stat().st_size > 5000


def test_the_model_card_names_the_method(full_run):
    card = (full_run.output_dir / "README.md").read_text()
    assert "arXiv 2606.16231" in card
    for line in ("| `cuset_tau` | 0.1 |", "| `cuset_lambda` | 1.0 |", "| `cuset_window` | 256 |"):
        assert line in card
    assert "| `cuset_sensitive_kinds` | kernel_body,launch_config |" in card
    assert card.count("## Training objective") == 1
    assert "- cuset-stage" in card.split("---")[1]


def test_the_model_card_has_no_dead_link(full_run, llamafactory):
    for run in (full_run, llamafactory({"stage": "cuset", "max_steps": 1})):
        card = (run.output_dir / "README.md").read_text()
        assert "fine-tuned version of `tiny` on the cuset_kernels dataset" in card
        assert set(re.findall(r"\]\(([^)]*)\)", card)) == {"https://arxiv.org/abs/2606.16231"}
        metadata = card.split("---")[1]
        assert "/tiny" not in metadata and "datasets:" not in metadata


def test_the_labels_are_told_once_more_when_training_begins(full_run):
    before, found, _ = full_run.output.partition("The loss is computed by the fused head")  # said of the first batch
    last = [line.partition(">> ")[2] for line in before.splitlines() if "INFO" in line][-3:-1]
    assert found and [line.partition(":")[0] for line in last] == [
        "CUDA labels of the training data",
        "CUDA labels of the evaluation data",
    ]


def test_the_preprocessing_says_how_much_is_cuda_and_marks_it(full_run):
    assert "CUDA tokens, between ⟦ and ⟧:" in full_run.output
    shown = full_run.output.partition("CUDA tokens, between ⟦ and ⟧:")[2]
    assert re.search(r"⟦\s*\{.*?⟧", shown, re.DOTALL)  # a kernel's body
    line = full_run.sentence("CUDA labels of the training data")
    assert "supervised tokens" in line and "rows have none" in line


def test_a_run_is_resumed(llamafactory, full_run):
    run = llamafactory({**FULL, "resume_from_checkpoint": str(full_run.output_dir / "checkpoint-4")})
    assert [step["loss"] for step in run.steps][-2:] == pytest.approx(full_run.losses[-2:], rel=1e-5)


@pytest.mark.parametrize("objective", ["dft", "eaft", "asft", "profit"])
def test_the_baselines_train_and_evaluate_through_the_stage(llamafactory, objective):
    """Under LoRA, with accumulation and packing; what LLaMA-Factory's own ASFT cannot do."""
    run = llamafactory(
        {
            "stage": "cuset",
            "cuset_objective": objective,
            "prob_threshold": "0.0005" if objective == "profit" else None,
            "packing": objective == "asft",
            "gradient_accumulation_steps": 2,
            "max_steps": 3,
            "val_size": 2,
            "do_eval": True,
            "max_samples": 8,
        }
    )
    assert all(math.isfinite(loss) for loss in run.losses)
    adapter = load_file(run.output_dir / "adapter_model.safetensors")
    assert any(tensor.abs().max() > 0 for name, tensor in adapter.items() if "lora_B" in name)
    results = json.loads((run.output_dir / "all_results.json").read_text())
    assert math.isfinite(results["eval_loss"]) and math.isfinite(results[f"eval_{objective}_loss"])


@pytest.mark.slow
def test_asft_is_evaluated_alone_as_after_training(llamafactory):
    """LLaMA-Factory merges the adapters then, so that there is nothing to switch off."""
    keys = {"stage": "cuset", "cuset_objective": "asft", "asft_alpha": 5.0, "val_size": 2, "do_eval": True}
    keys |= {"max_samples": 6, "cutoff_len": 256}
    trained = llamafactory({**keys, "max_steps": 3})
    alone = llamafactory({**keys, "do_train": False, "adapter_name_or_path": str(trained.output_dir)})
    found = [json.loads((run.output_dir / "all_results.json").read_text()) for run in (trained, alone)]
    assert found[1]["eval_asft_loss"] == pytest.approx(found[0]["eval_asft_loss"], rel=1e-4)
    dft = llamafactory(
        {**keys, "do_train": False, "cuset_objective": "dft", "adapter_name_or_path": str(trained.output_dir)}
    )
    without_kl = json.loads((dft.output_dir / "all_results.json").read_text())["eval_dft_loss"]
    assert found[1]["eval_asft_loss"] > without_kl * 1.001
    assert "asft_alpha has no effect on the loss of cuset_objective: dft" in dft.output


def test_asft_switches_off_adapters_of_any_kind(llamafactory, tiny_model):
    keys = {"stage": "cuset", "cuset_objective": "asft", "asft_alpha": 50.0, "max_samples": 4, "cutoff_len": 256}
    keys |= {"finetuning_type": "oft", "oft_rank": 0, "oft_block_size": 8, "learning_rate": 0.1}
    switched, copied = llamafactory(keys), llamafactory({**keys, "ref_model": str(tiny_model)})
    assert "frozen copy" not in switched.output
    assert switched.losses == pytest.approx(copied.losses, rel=1e-4)
    assert switched.losses[2] > 1.5 * switched.losses[0]  # the KL term is no trifle


def test_asft_says_so_when_nothing_tells_the_base_model(llamafactory):
    keys = {"stage": "cuset", "cuset_objective": "asft", "val_size": 2, "do_eval": True, "do_train": False}
    run = llamafactory({**keys, "max_samples": 4, "cutoff_len": 128})
    assert "name the model it was trained from as ref_model" in run.output


def test_asft_keeps_a_frozen_copy_under_full_fine_tuning(llamafactory):
    """At the first step the model is its own base: the loss is DFT's."""
    keys = {"stage": "cuset", "finetuning_type": "full", "max_steps": 2, "max_samples": 4}
    asft = llamafactory({**keys, "cuset_objective": "asft", "asft_alpha": 10.0})
    dft = llamafactory({**keys, "cuset_objective": "dft"})
    assert asft.losses[0] == pytest.approx(dft.losses[0], rel=1e-4)
    assert asft.losses[1] > dft.losses[1]


@pytest.mark.slow
def test_asft_finds_the_reference_s_weights_under_zero_3(llamafactory):
    """ZeRO-3 has taken them away again when the loss is computed. One rank: on CPUs LLaMA-Factory starts no more under ZeRO-3."""
    keys = {"stage": "cuset", "cuset_objective": "asft", "finetuning_type": "full", "max_steps": 2, "max_samples": 4}
    keys |= {"asft_alpha": 10.0, "learning_rate": 1.0e-3}
    expected = llamafactory(keys)
    sharded = llamafactory(
        {**keys, "cuset_fused": "on", "deepspeed": str(ROOT / "yaml_configs/deepspeed/ds_z3_config.json")},
        FORCE_TORCHRUN="1",
        NPROC_PER_NODE="1",
    )
    assert sharded.losses == pytest.approx(expected.losses, rel=1e-3)


def test_asft_wants_a_base_model_that_pissa_has_not_changed(llamafactory):
    keys = {"stage": "cuset", "cuset_objective": "asft", "pissa_init": True, "model_name_or_path": "no-such-model"}
    run = llamafactory(keys, check=False)
    assert run.returncode != 0
    assert "pissa_init: true takes a part of the model's weights" in run.output.strip().splitlines()[-1]


@pytest.mark.parametrize("objective", ["cuset", "asft"])
def test_a_trained_head_is_found_by_ddp_that_looks_for_unused_parameters(llamafactory, tmp_path, objective):
    """As it does under full tuning without gradient checkpointing. Two ranks train as one, also where a rank has nothing to learn."""
    good = {"instruction": "Scale.", "input": "", "output": "k<<<1, 32>>>(x);"}
    prompt_alone = {**good, "instruction": "long " * 400}
    rows = [good, {**good, "output": "The kernel scales an array."}, {**good, "output": "s<<<2, 64>>>(y);"}]
    rows = [*rows, prompt_alone, prompt_alone, prompt_alone, good, prompt_alone]
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
            # What float32 leaves of a KL term near 0, times 10, is good to 1e-6.
            assert ours[key] == pytest.approx(theirs[key], rel=5e-5, abs=2e-6), key


def test_a_router_s_loss_does_not_depend_on_how_a_step_is_cut(llamafactory, tiny_model, tmp_path):
    """A mixture of experts; its auxiliary loss is a mean over a micro-batch, and no part of eval_loss."""
    import torch
    from transformers import AutoTokenizer, MixtralConfig, MixtralForCausalLM

    tokenizer = AutoTokenizer.from_pretrained(tiny_model)
    torch.manual_seed(0)
    sizes = dict(
        hidden_size=32, intermediate_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2
    )
    config = MixtralConfig(
        vocab_size=len(tokenizer), num_local_experts=4, pad_token_id=tokenizer.pad_token_id, **sizes
    )
    MixtralForCausalLM(config).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    keys = {"model_name_or_path": str(tmp_path), "stage": "cuset", "cuset_objective": "sft", "moe_aux_loss_coef": 1.0}
    keys |= {
        "lora_target": "q_proj",
        "cutoff_len": 256,
        "max_steps": 1,
        "do_eval": True,
        "val_size": 2,
        "max_samples": 6,
    }
    keys |= {"disable_gradient_checkpointing": True, "per_device_eval_batch_size": 1}
    whole, cut = (
        llamafactory({**keys, "per_device_train_batch_size": 4 // parts, "gradient_accumulation_steps": parts})
        for parts in (1, 4)
    )
    router = [run.steps[0]["loss"] - run.steps[0]["cuset/nll"] for run in (whole, cut)]
    assert router[0] > 0.5  # else the comparison says nothing
    assert router[1] == pytest.approx(router[0], rel=0.05)  # of other tokens together, but of the same size
    results = json.loads((cut.output_dir / "all_results.json").read_text())
    assert results["eval_loss"] == pytest.approx(results["eval_sft_loss"], rel=0.05)  # rows of different length


@pytest.mark.slow
def test_a_compiled_model(llamafactory):
    keys = {
        "stage": "cuset",
        "max_steps": 2,
        "max_samples": 4,
        "cutoff_len": 128,
        "disable_gradient_checkpointing": True,
    }
    plain = llamafactory(keys)
    compiled = llamafactory({**keys, "torch_compile": True, "torch_compile_backend": "aot_eager"})
    assert "fused head" in compiled.output
    assert compiled.losses == pytest.approx(plain.losses, rel=1e-5)


def test_the_tokenized_data_set_is_written_and_read_again(llamafactory, tmp_path):
    path = tmp_path / "tokenized"
    keys = {"stage": "cuset", "tokenized_path": str(path), "max_samples": 6, "max_steps": 2}
    first = llamafactory(keys)
    again = llamafactory(keys, anew=True)
    assert again.losses == first.losses
    assert json.loads((path / "cuset_labels.json").read_text())["kinds"] == ["kernel_body", "launch_config"]

    labels = json.loads((path / "cuset_labels.json").read_text())
    assert labels["cuset_kernels"] == 3 and "cuset_kernels, edition 3" in (first.output_dir / "README.md").read_text()
    (path / "cuset_labels.json").write_text(json.dumps({key: labels[key] for key in labels if key != "cuset_kernels"}))
    old = llamafactory(keys, anew=True, check=False)
    assert "was made of edition 1 of cuset_kernels" in old.output and "cuset_kernels_hard" in old.output
    (path / "cuset_labels.json").write_text(json.dumps(labels))

    other = llamafactory({**keys, "cuset_sensitive_kinds": "launch_config"}, check=False)
    assert other.returncode != 0
    assert (
        "was labelled by other rules (kinds: ['kernel_body', 'launch_config'] there, ['launch_config'] here)"
        in other.output
    )


@pytest.mark.parametrize("text", ["", '{"kinds": ["kern', "[1]", "5"])
def test_the_record_of_a_tokenized_data_set_may_be_damaged(tmp_path, text):
    """As by a crash in the middle of its writing."""
    from cuset_stage.stage.dataset import check_saved_rules
    from cuset_stage.stage.processors import LabelRules

    (tmp_path / "cuset_labels.json").write_text(text)
    with pytest.raises(ValueError, match=r"cuset_labels.json is damaged .* Give another tokenized_path"):
        check_saved_rules(tmp_path, LabelRules(("kernel_body",)), None)


def test_a_tokenized_data_set_of_another_stage_is_refused(llamafactory, tmp_path):
    keys = {"tokenized_path": str(tmp_path / "tokenized"), "max_samples": 4, "max_steps": 1}
    llamafactory({**keys, "stage": "sft"})
    run = llamafactory({**keys, "stage": "cuset"}, check=False)
    assert run.returncode != 0
    assert "was not written by stage: cuset" in run.output and "Give another tokenized_path" in run.output


def test_streaming(llamafactory):
    run = llamafactory(
        {
            "stage": "cuset",
            "dataset": "cuset_kernels_eval",  # the smaller one: the loader's process reads ahead
            "streaming": True,
            "buffer_size": 8,
            "max_samples": None,
            "max_steps": 3,
            "dataloader_num_workers": 1,
        }
    )
    assert len(run.steps) == 3
    assert all(step["cuset/cuda_share"] > 0 for step in run.steps)


def test_generation_and_history_masking(llamafactory):
    """predict_with_generate evaluates on prompts, which carry no label columns."""
    run = llamafactory(
        {
            "stage": "cuset",
            "mask_history": True,
            "max_samples": 6,
            "max_steps": 1,
            "val_size": 2,
            "do_predict": True,
            "predict_with_generate": True,
            "max_new_tokens": 4,
            "cutoff_len": 128,
            "per_device_eval_batch_size": 2,
        }
    )
    assert len((run.output_dir / "generated_predictions.jsonl").read_text().splitlines()) == 2


def data_set(folder, rows):
    rows = rows if isinstance(rows, (bytes, str)) else json.dumps(rows)
    (folder / "rows.json").write_bytes(rows if isinstance(rows, bytes) else rows.encode())
    columns = {"prompt": "instruction", "query": "input", "response": "output"}
    (folder / "dataset_info.json").write_text(json.dumps({"rows": {"file_name": "rows.json", "columns": columns}}))
    return {"stage": "cuset", "dataset_dir": str(folder), "dataset": "rows", "max_steps": 1}


def test_a_data_set_without_cuda_says_so_loudly(llamafactory, tmp_path):
    rows = [{"instruction": "Say hello.", "input": "", "output": "Hello."}] * 4
    run = llamafactory(data_set(tmp_path, rows))
    assert "NOT ONE CUDA TOKEN was found in the training data" in run.output
    assert "cuset_kernel_aliases" in run.sentence("NOT ONE CUDA TOKEN")
    assert run.steps[0]["cuset/cuda_share"] == 0


def test_unusable_rows_are_counted_and_a_step_without_supervision_is_harmless(llamafactory, tmp_path):
    """An empty answer and a missing one are left out; a prompt that fills cutoff_len leaves nothing to learn."""
    good = {"instruction": "Scale.", "input": "", "output": "k<<<1, 32>>>(x);"}
    rows = [
        {**good, "output": ""},
        {**good, "output": None},
        {**good, "instruction": "long " * 400},
        good,
        {**good, "instruction": "long " * 400},
        good,
    ]
    run = llamafactory(
        {
            **data_set(tmp_path, rows),
            "max_steps": 2,
            "cutoff_len": 20,
            "gradient_accumulation_steps": 2,
            "train_on_prompt": False,
        }
    )
    assert "rows with an empty response" in run.output
    assert "rows without an assistant message to learn from" in run.output
    assert all(math.isfinite(loss) for loss in run.losses)


def test_ranks_whose_rows_have_nothing_to_evaluate(llamafactory, tmp_path):
    """Every rank takes part in what evaluation gathers, also with a row whose prompt fills cutoff_len."""
    good = {"instruction": "Scale.", "input": "", "output": "k<<<1, 32>>>(x);"}
    rows = [good, {**good, "instruction": "long " * 400}, good, good]
    keys = {**data_set(tmp_path, rows), "eval_dataset": "rows", "do_eval": True, "cutoff_len": 24, "max_steps": 1}
    one, two = (
        llamafactory({**keys, "per_device_eval_batch_size": 1, "learning_rate": 0.0}, ranks=ranks) for ranks in (1, 2)
    )
    found = [json.loads((run.output_dir / "all_results.json").read_text()) for run in (one, two)]
    assert found[0]["eval_cuset_loss"] == pytest.approx(found[1]["eval_cuset_loss"], rel=1e-4)
    assert math.isfinite(found[1]["eval_loss"])


def test_rows_repeated_to_fill_the_last_batch_count_once(llamafactory, tmp_path):
    """Three rows in batches of two on two ranks: the fourth is the first one again, which is much the longest."""
    good = {"instruction": "Scale.", "input": "", "output": "k<<<1, 32>>>(x);"}
    rows = [{**good, "output": "k<<<1, 32>>>(x);\n" * 40}, good, {**good, "output": "nothing"}]
    keys = {**data_set(tmp_path, rows), "eval_dataset": "rows", "do_eval": True, "learning_rate": 0.0}
    keys |= {"cuset_normalization": "samples", "per_device_eval_batch_size": 2}
    found = []
    for ranks in (1, 2):
        run = llamafactory(keys, ranks=ranks)
        found.append(json.loads((run.output_dir / "all_results.json").read_text())["eval_cuset_loss"])
    assert found[1] == pytest.approx(found[0], rel=1e-4)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("this is not json", "rows.json: line 1, column 1 is not JSON (Expecting value); expected a list of objects"),
        (
            '{"instruction": "a", "input": "", "output": "b"}\n{"instruction": ',
            "rows.json: line 2, column 17 is not JSON",
        ),
        (
            [{"instruction": "Say hello.", "input": ""}],
            "rows.json: no row has the key 'output', which is the response column of the data set rows; the rows have input, "
            "instruction. Name the right key",
        ),
        ("[]", "rows.json"),
        (["text"], 'rows.json: row 1 is "text"; expected an object'),
        (
            [{"instruction": "a", "input": "", "output": "b"}, {"instruction": "a", "input": "", "output": 5}],
            "rows.json: row 2: 'output', the response column, is 5; expected text",
        ),
        ('[{"instruction": "größer", "output": "b"}]'.encode("latin-1"), "rows.json: byte 21 is not UTF-8"),
        (
            '[{"instruction": "a", "output": "b"}]'.encode("utf-8-sig"),
            "rows.json: the file begins with a byte order mark",
        ),
    ],
    ids=["no json", "a line that breaks off", "missing key", "no row", "no object", "no text", "latin-1", "mark"],
)
def test_broken_data_end_in_a_sentence(llamafactory, tmp_path, rows, message):
    run = llamafactory(data_set(tmp_path, rows), check=False)
    assert run.returncode != 0
    assert message in run.output.strip().splitlines()[-1]


def test_wrong_keys_are_refused_before_the_model_loads(llamafactory):
    run = llamafactory({"stage": "cuset", "cuset_tau": 1.5, "model_name_or_path": "no-such-model"}, check=False)
    assert run.returncode != 0
    assert "cuset_tau=1.5: expected a probability in [0, 1)" in run.output.strip().splitlines()[-1]
