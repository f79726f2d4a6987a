"""The recipe's keys: they reach the labels and the objective, and wrong ones are refused before anything is loaded."""

import json
import pickle

import pytest
from llamafactory.hparams import get_infer_args, get_train_args
from llamafactory.hparams.finetuning_args import FinetuningArguments
from llamafactory.train.sft import run_sft

from cuset_stage.stage.arguments import (
    check_combination,
    check_layout,
    hyper_parameters,
    labelling_settings,
    objective_settings,
    unused_keys_note,
)


MIDDLE = {"threshold_direction": "middle"}


@pytest.fixture
def parse(tmp_path):
    def make(**changes):
        recipe = {"model_name_or_path": "some-model", "stage": "cuset", "do_train": True, "dataset": "cuset_kernels"}
        recipe |= {"template": "qwen", "output_dir": str(tmp_path / "out"), "use_cpu": True, "report_to": "none"}
        return get_train_args(recipe | changes)

    return make


def test_inside_the_process_the_stage_is_sft_and_outside_it_is_cuset(parse):
    """LLaMA-Factory's code sees the stage sft, and saved arguments say cuset.

    This also holds after pickling, as Ray and spawned processes do it. Chat, api and export need a model of the SFT
    stage.
    """
    ours, sft = parse(cuset_window=32)[3], parse(stage="sft")[3]
    inference = get_infer_args({"model_name_or_path": "some-model", "template": "qwen", "stage": "cuset"})[2]
    assert ours.stage == sft.stage == inference.stage == "sft"
    assert ours.is_cuset and not sft.is_cuset
    assert (ours.to_dict()["stage"], sft.to_dict()["stage"]) == ("cuset", "sft")
    again = pickle.loads(pickle.dumps(ours))
    assert again == ours and again.is_cuset
    with pytest.raises(ValueError, match="reward_model"):
        parse(stage="ppo")


def test_the_defaults_are_the_paper_s(parse):
    *_, finetuning_args, _ = parse()
    settings = objective_settings(finetuning_args)
    assert (settings.objective, settings.tau, settings.lam, settings.window) == ("cuset", 0.1, 1.0, 256)
    assert settings.use_confidence_mask and settings.use_cuda_mask and settings.use_region_weight
    expected = {"kinds": ("kernel_body", "launch_config"), "aliases": (), "language": "cuda"}
    assert labelling_settings(finetuning_args) == expected


def test_keys_reach_the_labels(parse):
    keys = {"cuset_sensitive_kinds": "kernel_body, shared_memory", "cuset_kernel_aliases": "MY_KERNEL, OTHER"}
    *_, args, _ = parse(**keys, cuset_language=["cuda", "triton"])
    expected = {"kinds": ("kernel_body", "shared_memory"), "aliases": ("MY_KERNEL", "OTHER")}
    assert labelling_settings(args) == {**expected, "language": "cuda,triton"}
    assert (
        hyper_parameters(args, objective_settings(args))["cuset_kernel_aliases"] == "MY_KERNEL,OTHER"
    )  # the model card, for `cuset heatmap`


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (dict(cuset_tau=0.3, cuset_lambda=2, cuset_window=64), dict(tau=0.3, lam=2, window=64)),
        (dict(cuset_confidence_mask=False), dict(use_confidence_mask=False, use_cuda_mask=True)),
        (dict(cuset_cuda_mask=False), dict(use_cuda_mask=False, use_region_weight=True)),
        (dict(cuset_region_weight=False), dict(use_region_weight=False, use_confidence_mask=True)),
        (dict(cuset_region_scope="cuda"), dict(region_scope="cuda", normalization="tokens")),
        (dict(cuset_normalization="samples"), dict(normalization="samples", region_scope="response")),
        (dict(cuset_objective="asft", asft_alpha=0.05), dict(asft_alpha=0.05)),
        (dict(cuset_objective="eaft", eaft_alpha=2.0), dict(eaft_alpha=2.0)),
        (dict(cuset_objective="profit"), dict(prob_threshold=(0.1,), threshold_direction="higher")),
        (dict(cuset_objective="profit", prob_threshold="0.2"), dict(prob_threshold=(0.2,))),
        (dict(cuset_objective="profit", prob_threshold=0.8, threshold_direction="lower"), dict(prob_threshold=(0.8,))),
        (dict(cuset_objective="profit", prob_threshold="[0.3,0.7]", **MIDDLE), dict(prob_threshold=(0.3, 0.7))),
        (dict(cuset_objective="profit", prob_threshold=[0.3, 0.7], **MIDDLE), dict(prob_threshold=(0.3, 0.7))),
    ],
    ids=str,
)
def test_keys_reach_the_objective(parse, keys, expected):
    *_, args, _ = parse(**keys)
    settings = objective_settings(args)
    assert {name: getattr(settings, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (dict(cuset_objective="asft", do_train=False), "name the model it was trained from as ref_model"),
        (dict(cuset_pairs="cuset_mini"), "cuset_pairs has no effect"),
        (dict(cuset_pairs="cuset_mini", eval_strategy="steps", val_size=2), None),
        (dict(cuset_pairs_samples=8), "cuset_pairs_samples has no effect without cuset_pairs"),
    ],
    ids=str,
)
def test_a_doubtful_combination_gets_a_note(parse, change, expected):
    model_args, _, training_args, args, _ = parse(**change)
    notes = check_combination(model_args, training_args, args)
    assert len(notes) == (expected is not None) and all(expected in note for note in notes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (dict(cuset_tau=1.5), r"cuset_tau=1.5: expected a probability in \[0, 1\)"),
        (
            dict(cuset_tau="5e-2"),
            "cuset_tau='5e-2': expected a probability.* YAML reads 1e-1 as text and 1.0e-1 as a number; write 0.05",
        ),
        (dict(cuset_tau="low"), r"cuset_tau='low': expected a probability in \[0, 1\)\.$"),
        (dict(cuset_think_weight=-0.2), "cuset_think_weight=-0.2: expected a number of at least 0"),
        (dict(cuset_think_weight=1e10), "cuset_think_weight=10000000000.0: .*at most 1e"),
        (dict(cuset_think_weight="light"), "cuset_think_weight='light': expected a number"),
        (dict(cuset_pairs=3), "pairs=3: no such file"),
        (dict(cuset_pairs_samples=0), "cuset_pairs_samples=0: expected a number of pairs, at least 1"),
        (dict(cuset_pairs_samples=1.5), "cuset_pairs_samples=1.5: expected a number of pairs, at least 1"),
        (dict(cuset_objective="dpo"), "cuset_objective='dpo': expected one of cuset, sft, dft"),
        (dict(cuset_objective=["dft"]), r"cuset_objective=\['dft'\]: expected one of cuset, sft, dft"),
        (dict(cuset_confidence=["online"]), r"cuset_confidence=\['online'\]: expected one of online, base"),
        (dict(cuset_confidence_mask="maybe"), "cuset_confidence_mask='maybe': expected true or false"),
        (dict(cuset_sensitive_kinds="kernel"), "cuset_sensitive_kinds='kernel': .*choose from kernel_body"),
        (dict(cuset_sensitive_kinds=""), "cuset_sensitive_kinds=''"),
        (dict(cuset_kernel_aliases=True, cuset_sensitive_kinds=["launch"]), r"cuset_sensitive_kinds=\['launch'\]"),
        (dict(cuset_kernel_aliases="MY KERNEL"), "cuset_kernel_aliases='MY KERNEL': .* is not a macro name"),
        (dict(cuset_language="tritn"), "cuset_language='tritn': 'tritn' is no language.* did you mean triton"),
        (dict(cuset_language=""), "cuset_language='': expected one of cuda, hip, triton"),
        (dict(cuset_language="no_such.py:find"), "cuset_language='no_such.py:find': there is no file no_such.py"),
        (dict(use_dft_loss=True), "use_dft_loss: true .* cuset_objective: dft, or use stage: sft"),
        (dict(use_eaft_loss=True), "cuset_objective: eaft"),
        (dict(use_asft_loss=True), "cuset_objective: asft"),
        (dict(use_hyper_parallel=True), "use_hyper_parallel chooses another trainer.* or use stage: sft"),
        (dict(cuset_objective="profit", prob_threshold="high"), "prob_threshold='high': expected a number"),
        (dict(cuset_objective="profit", prob_threshold="0.3,0.7"), "takes 1 value"),
        (dict(cuset_objective="profit", prob_threshold="0.7,0.3", **MIDDLE), "lower threshold first"),
        (dict(cuset_objective="profit", threshold_direction="up"), "threshold_direction='up'"),
        (dict(asft_alpha=-1.0, cuset_objective="asft"), "asft_alpha=-1.0"),
        (dict(label_smoothing_factor=0.1), "label_smoothing_factor=0.1: .* Remove the key, or use stage: sft"),
        (dict(cuset_objective="dft", cuset_normalization="samples"), "cuset_objective: dft is divided by tokens"),
        (dict(cuset_objective="asft", pissa_init=True), "pissa_init: true takes a part of the model's weights"),
    ],
    ids=lambda value: ",".join(value) if isinstance(value, dict) else "",
)
def test_wrong_values_and_combinations_are_refused(parse, change, message):
    """The refusal comes before anything is loaded, since some-model does not exist."""
    with pytest.raises(ValueError, match=message):
        run_sft(*parse(**change))


@pytest.mark.parametrize("begun", ["pissa_niter_16", "olora", "corda"])
def test_an_adapter_that_holds_a_part_of_the_base_model_is_no_base_without_one(parse, tmp_path, begun):
    (tmp_path / "adapter_config.json").write_text(json.dumps({"init_lora_weights": begun}))
    with pytest.raises(ValueError, match=rf"init_lora_weights: {begun}\) takes a part of the model's weights"):
        run_sft(*parse(cuset_objective="asft", adapter_name_or_path=str(tmp_path)))


@pytest.mark.parametrize("name", ["USE_MCA", "USE_MEGATRON_BRIDGE"])
def test_a_trainer_that_the_environment_chooses_is_refused(monkeypatch, name):
    monkeypatch.setenv(name, "1")
    with pytest.raises(ValueError, match=f"{name} chooses another trainer"):
        FinetuningArguments(stage="cuset")


def test_ktransformers_is_refused_before_loading(parse):
    """The key is set after parsing, because the parser asks for KTransformers' packages."""
    model_args, *others = parse()
    model_args.use_kt = True
    with pytest.raises(ValueError, match="use_kt: true computes its loss inside KTransformers"):
        run_sft(model_args, *others)


def test_a_layout_that_splits_sequences_is_refused(parse, monkeypatch):
    """The layout may come with the arguments, and is refused before loading.

    accelerate can also make it from the environment. Then the trainer finds it through
    `Accelerator.parallelism_config`.
    """
    from accelerate import Accelerator

    layouts = pytest.importorskip("accelerate.parallelism_config", reason="this accelerate has no such layouts")
    monkeypatch.setenv("PARALLELISM_CONFIG_CP_SIZE", "2")
    layout = layouts.ParallelismConfig()
    message = "parallelism_config.cp_size=2: a sample's windows must not be split over devices"
    with pytest.raises(ValueError, match=message):
        check_layout(layout)
    assert isinstance(Accelerator.parallelism_config, property)
    model_args, data_args, training_args, *others = parse()
    training_args.parallelism_config = layout
    with pytest.raises(ValueError, match=message):
        run_sft(model_args, data_args, training_args, *others)


@pytest.mark.parametrize(
    ("change", "keys"),
    [
        (dict(stage="sft"), None),
        (dict(stage="sft", cuset_tau=0.3), "cuset_tau has"),
        (dict(stage="sft", prob_threshold="0.1"), "prob_threshold has"),
        (dict(cuset_tau=0.3, cuset_fused="off", cuset_kernel_aliases="K"), None),
        (dict(cuset_objective="dft", cuset_tau=0.3, cuset_fused="off", cuset_kernel_aliases="K"), "cuset_tau has"),
        (dict(cuset_objective="asft", asft_alpha=0.5, eaft_alpha=2, cuset_window=8), "cuset_window, eaft_alpha have"),
        (dict(eaft_alpha=2.0), "eaft_alpha has"),
        (dict(ref_model="base"), "ref_model has"),
        (dict(cuset_objective="asft", ref_model="base"), None),
    ],
    ids=str,
)
def test_keys_without_effect_are_named(parse, change, keys):
    *_, args, _ = parse(**change)
    objective = change.get("cuset_objective", "cuset")
    where = f"on the loss of cuset_objective: {objective}."
    if "stage" in change:
        where = "under stage: sft. Set stage: cuset to train with CuSeT."
    expected = keys and f"{keys} no effect {where}"
    assert unused_keys_note(args) == expected
