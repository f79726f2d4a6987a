"""LLaMA-Factory's SFT features and what becomes of them under `stage: cuset`.

tests/stage/test_features.py tries each entry; scripts/write_docs.py writes docs/features.md from the same list.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any


ROOT = Path(__file__).parents[2]
OFF = {"cuset_confidence_mask": False, "cuset_cuda_mask": False, "cuset_region_weight": False}  # what is left is SFT


class Outcome(StrEnum):
    WORKS = "works"
    REFUSED = "refused"
    FAILS = "fails in SFT as well"
    UNTESTED = "not tested here"


@dataclass(frozen=True, kw_only=True)
class Feature:
    """One feature.

    Attributes:
        keys: of a recipe, which turn it on. In texts, {folder} is a folder of the run's own, {first} the output of the run `first`,
            {chats} the folder of `write_chats`.
        more: further keys for the test.
        first: keys of a run that comes before, if one has to.
        says: what the output of both runs has to hold: that it was on; or why it failed; or the refusal.
        leaves: patterns of files that both runs have to leave in {folder} or in their output.
        packages: of Python; without them the entry is skipped.
        ranks, environment: of the runs.
        rel: how far the losses and the gradient norms may be apart, relative to SFT's.
        steps: how many steps both log.
        held: the test that holds it instead, as path::name.
        note: for the page.
        is_quick: whether it belongs to every run of the tests, not only to the slow ones.
    """

    keys: Mapping[str, Any] = field(default_factory=dict)
    outcome: Outcome = Outcome.WORKS
    more: Mapping[str, Any] = field(default_factory=dict)
    first: Mapping[str, Any] | None = None
    says: str = ""
    leaves: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    ranks: int = 1
    environment: Mapping[str, str] = field(default_factory=dict)
    rel: float = 1e-5
    steps: int = 3
    held: str = ""
    note: str = ""
    is_quick: bool = False

    @property
    def is_tested(self) -> bool:
        return self.outcome is not Outcome.UNTESTED


QUANTISED = "tests/stage/test_quantised.py::test_all_parts_off_is_sft"
RUNS = "tests/stage/test_runs.py::"
PARITY = "tests/stage/test_sft_parity.py::"
ARGUMENTS = "tests/stage/test_arguments.py::"
HERE = "tests/stage/test_features.py::"
ON_GPUS = "tests/gpu/test_training_gpu.py::"
FULL = {"learning_rate": 1.0e-3}
EVALUATED = {"val_size": 2, "per_device_eval_batch_size": 1}
OFFLOAD = {"offload_optimizer": {"device": "cpu", "pin_memory": False}}
TWO_RANKS = "two CPU ranks; GPUs in `tests/gpu`"
TORCHRUN = {"FORCE_TORCHRUN": "1"}


def deepspeed(stage: int, **zero: Any) -> dict[str, Any]:
    """The bundled configuration for DeepSpeed with changes to its part for ZeRO."""
    config = json.loads((ROOT / "yaml_configs" / "deepspeed" / f"ds_z{stage}_config.json").read_text(encoding="utf-8"))
    config["zero_optimization"] |= zero
    return config


FEATURES: dict[str, dict[str, Feature]] = {
    "Tuning methods": {
        "LoRA": Feature(keys={"finetuning_type": "lora"}, says="Fine-tuning method: LoRA", is_quick=True),
        "DoRA": Feature(keys={"use_dora": True}, says="Fine-tuning method: DoRA"),
        "rsLoRA": Feature(keys={"use_rslora": True}),
        "PiSSA": Feature(
            keys={"pissa_init": True, "pissa_convert": True},
            says="Using PiSSA initialization",
            leaves=("pissa_converted/adapter_model.safetensors",),
        ),
        # Adam's first step is as long for a gradient near 0 as for any other, whatever its sign, and LoRA+ makes it 16 times as long.
        "LoRA+": Feature(keys={"loraplus_lr_ratio": 16.0}, says="Using LoRA+ optimizer", rel=2e-4),
        "LoRA and trained embeddings": Feature(keys={"additional_target": "embed_tokens,lm_head"}),
        "new tokens": Feature(
            keys={"add_tokens": "<kernel>,<launch>", "resize_vocab": True}, says="Resized token embeddings"
        ),
        "continuing an adapter": Feature(keys={"adapter_name_or_path": "{first}"}, first={}, says="Loaded adapter(s)"),
        "OFT": Feature(keys={"finetuning_type": "oft"}, more={"oft_block_size": 8}, says="Fine-tuning method: OFT"),
        "freeze": Feature(
            keys={"finetuning_type": "freeze"},
            more={"freeze_trainable_layers": 1, **FULL},
            says="Fine-tuning method: Freeze",
        ),
        "full": Feature(keys={"finetuning_type": "full"}, more=FULL, says="Fine-tuning method: Full"),
        "LLaMA-Pro": Feature(
            keys={"finetuning_type": "freeze", "use_llama_pro": True},
            more={"freeze_trainable_layers": 1, **FULL},
            says="Set trainable layers",
        ),
        "Mixture-of-Depths": Feature(
            keys={"mixture_of_depths": "convert"},
            outcome=Outcome.FAILS,
            packages=("MoD",),
            says="cannot import name 'TRANSFORMERS_CACHE'",
            note="its package knows no transformers 5",
        ),
        "NEFTune": Feature(keys={"neftune_noise_alpha": 5.0}, held=PARITY + "test_random_numbers_are_those_of_sft"),
    },
    "Optimizers": {
        "GaLore": Feature(
            keys={"use_galore": True, "finetuning_type": "full", "optim": "adamw_torch"},
            more={"galore_rank": 4, **FULL},
            packages=("galore_torch",),
            says="Using GaLore optimizer",
        ),
        "APOLLO": Feature(
            keys={"use_apollo": True, "finetuning_type": "full", "optim": "adamw_torch"},
            more={"apollo_rank": 4, **FULL},
            packages=("apollo_torch",),
            says="Using APOLLO optimizer",
        ),
        "GaLore by layer": Feature(
            keys={"use_galore": True, "galore_layerwise": True, "finetuning_type": "full", "optim": "adamw_torch"},
            more={"galore_rank": 4, "gradient_accumulation_steps": 1, **FULL},
            packages=("galore_torch",),
            says="gradient norm will be all zeros in layerwise GaLore",
        ),
        "APOLLO by layer": Feature(
            keys={"use_apollo": True, "apollo_layerwise": True, "finetuning_type": "full", "optim": "adamw_torch"},
            more={"apollo_rank": 4, "gradient_accumulation_steps": 1, **FULL},
            packages=("apollo_torch",),
            says="gradient norm will be all zeros in layerwise APOLLO",
        ),
        "BAdam by layer": Feature(
            keys={"use_badam": True, "finetuning_type": "full"},
            more={"badam_switch_interval": 2, **FULL},
            packages=("badam",),
            says="Using BAdam optimizer with layer-wise update",
        ),
        "BAdam by ratio": Feature(
            keys={"use_badam": True, "badam_mode": "ratio", "finetuning_type": "full"},
            more=FULL,
            note="badam does not know an option of AdamW",
            packages=("badam",),
            outcome=Outcome.FAILS,
            says="unexpected keyword argument 'fused'",
        ),
        "Adam-mini": Feature(
            keys={"use_adam_mini": True, "finetuning_type": "full"},
            more=FULL,
            packages=("adam_mini",),
            says="Using Adam-mini optimizer",
        ),
        "Muon": Feature(
            keys={"use_muon": True},
            more={"finetuning_type": "full", **FULL},
            says="Using Muon optimizer",
            rel=5e-5,
            note="within 5e-5: its iteration in bfloat16 magnifies the last bit of a gradient",
        ),
    },
    "Quantised models": {
        "bitsandbytes, 4 bit": Feature(keys={"quantization_bit": 4}, held=QUANTISED),
        "bitsandbytes, 8 bit": Feature(keys={"quantization_bit": 8}, held=QUANTISED),
        "bitsandbytes, 4 bit, with OFT": Feature(
            keys={"quantization_bit": 4, "finetuning_type": "oft"},
            more={"oft_block_size": 8},
            says="Fine-tuning method: OFT",
        ),
        "HQQ": Feature(
            keys={"quantization_bit": 4, "quantization_method": "hqq"},
            packages=("hqq",),
            outcome=Outcome.FAILS,
            says="QuantizationMethod.HQQ is not available yet",
            note="transformers 5 cannot load it yet",
        ),
        "GPTQ": Feature(outcome=Outcome.UNTESTED, note="gptqmodel was not installed"),
        "AWQ": Feature(outcome=Outcome.UNTESTED, note="autoawq was not installed"),
    },
    "Data": {
        "packing": Feature(keys={"packing": True}),
        "neat packing": Feature(keys={"neat_packing": True}),
        "streaming": Feature(
            keys={"streaming": True, "dataloader_num_workers": 1}, more={"buffer_size": 4, "max_samples": None}
        ),
        "streaming without workers": Feature(
            keys={"streaming": True, "dataloader_num_workers": 0},
            more={"buffer_size": 4, "max_samples": None},
            outcome=Outcome.FAILS,
            says="StopIteration",
            note="no rows: it makes as many shards as there are workers",
        ),
        "resume_from_checkpoint": Feature(
            keys={"resume_from_checkpoint": "{first}/checkpoint-2"},
            first={"save_strategy": "steps", "save_steps": 2},
            says="Resuming training from checkpoint with epoch 1 and global step 2",
        ),
        "tokenized_path": Feature(
            keys={"tokenized_path": "{folder}/tokenized"},
            first={"tokenized_path": "{folder}/tokenized", "max_steps": 1},
            says="Loaded tokenized dataset from",
        ),
        "tokenized_path of another stage": Feature(
            keys={"tokenized_path": "..."},
            outcome=Outcome.REFUSED,
            held=RUNS + "test_a_tokenized_data_set_of_another_stage_is_refused",
            note="it has no labels",
        ),
        "several data sets, interleaved": Feature(
            keys={"dataset": "turns,tools", "mix_strategy": "interleave_over", "interleave_probs": "0.6,0.4"},
            more={"dataset_dir": "{chats}"},
        ),
        "weights and spans in the data": Feature(
            held="tests/invariant/test_weights.py::test_exactness",
            note="SFT ignores them; [what they are](data.md)",
        ),
        "mask_history": Feature(keys={"mask_history": True}, more={"dataset": "turns", "dataset_dir": "{chats}"}),
        "train_on_prompt": Feature(keys={"train_on_prompt": True}),
        "system message and several turns": Feature(more={"dataset": "turns", "dataset_dir": "{chats}"}),
        "tool calls": Feature(
            more={"dataset": "tools", "dataset_dir": "{chats}", "template": "qwen3_nothink", "cutoff_len": 512},
            note="kernels inside their JSON are labelled",
        ),
        "reasoning": Feature(
            keys={"enable_thinking": True},
            more={"dataset": "thinking", "dataset_dir": "{chats}", "template": "qwen3"},
            is_quick=True,
        ),
        "reasoning taken out": Feature(
            keys={"enable_thinking": False},
            more={"dataset": "thinking", "dataset_dir": "{chats}", "template": "qwen3"},
        ),
        "images": Feature(
            held=PARITY + "test_images_train_as_sft_of_the_whole_step",
            note="with accumulation SFT depends on how a step is cut; cuset does not, so the two differ",
        ),
    },
    "Evaluation": {
        "evaluation": Feature(keys={"eval_strategy": "steps", "eval_steps": 1}, more=EVALUATED),
        "several evaluation sets": Feature(
            keys={"eval_dataset": "turns,thinking", "eval_on_each_dataset": True},
            more={"dataset": "turns", "dataset_dir": "{chats}", "eval_strategy": "steps", "eval_steps": 2},
        ),
        "compute_accuracy": Feature(
            keys={"compute_accuracy": True}, more={**EVALUATED, "eval_strategy": "steps", "eval_steps": 2}
        ),
        "early stopping": Feature(
            keys={"early_stopping_steps": 1, "metric_for_best_model": "eval_loss", "load_best_model_at_end": True},
            more={
                **EVALUATED,
                **dict(eval_strategy="steps", eval_steps=1, save_strategy="steps", save_steps=1),
                "learning_rate": 0.0,  # the second evaluation is no better
            },
            steps=2,
        ),
        "predict_with_generate": Feature(
            keys={"predict_with_generate": True, "do_predict": True},
            more={**EVALUATED, "do_sample": False, "max_new_tokens": 8},
            packages=("jieba", "nltk", "rouge_chinese"),
            leaves=("generated_predictions.jsonl",),
        ),
        "export": Feature(held=HERE + "test_an_adapter_is_exported"),
    },
    "Trackers": {
        "tensorboard": Feature(
            keys={"report_to": "tensorboard"},
            environment={"TENSORBOARD_LOGGING_DIR": "{folder}"},
            packages=("tensorboard",),
            leaves=("events.out.tfevents.*",),
        ),
        "wandb": Feature(
            keys={"report_to": "wandb"},
            environment={"WANDB_MODE": "offline", "WANDB_DIR": "{folder}"},
            packages=("wandb",),
            leaves=("wandb/offline-run-*/*.wandb",),
            note="offline",
        ),
        "swanlab": Feature(
            keys={"use_swanlab": True},
            outcome=Outcome.UNTESTED,
            note="it wants protobuf below 7, the pinned one is newer",
        ),
        "mlflow": Feature(
            keys={"report_to": "mlflow"},
            environment={"MLFLOW_TRACKING_URI": "sqlite:///{folder}/mlflow.db"},
            packages=("mlflow",),
            leaves=("mlflow.db",),
            note="offline",
        ),
    },
    "Several GPUs and machines": {
        "DDP": Feature(ranks=2, note=TWO_RANKS),
        "ZeRO-2": Feature(
            keys={"deepspeed": "ds_z2_config.json"},
            says="Using DeepSpeed's value",
            more={"deepspeed": deepspeed(2)},
            ranks=2,
            note=TWO_RANKS,
        ),
        "ZeRO-2, offload": Feature(
            keys={"deepspeed": "ds_z2_offload_config.json"},
            says="Using DeepSpeed's value",
            more={"deepspeed": deepspeed(2, **OFFLOAD)},
            environment=TORCHRUN,
            note="one CPU rank",
        ),
        "ZeRO-3": Feature(
            keys={"deepspeed": "ds_z3_config.json"},
            says="Using DeepSpeed's value",
            more={"deepspeed": deepspeed(3)},
            environment=TORCHRUN,
            note="one CPU rank; GPUs in `tests/gpu`",
        ),
        "ZeRO-3, offload": Feature(
            keys={"deepspeed": "ds_z3_offload_config.json"},
            says="Using DeepSpeed's value",
            more={"deepspeed": deepspeed(3, **OFFLOAD, offload_param=OFFLOAD["offload_optimizer"])},
            environment=TORCHRUN,
            note="one CPU rank",
        ),
        "FSDP 1": Feature(
            keys={"fsdp": "full_shard auto_wrap"},
            held=ON_GPUS + "test_two_gpus_train_as_one",
            note="two GPUs train as one",
        ),
        "FSDP 2": Feature(
            keys={"fsdp": "full_shard auto_wrap", "fsdp_config": {"fsdp_version": 2}},
            held=ON_GPUS + "test_two_gpus_train_as_one",
            note="two GPUs train as one",
        ),
        "Ray": Feature(environment={"USE_RAY": "1"}, held=HERE + "test_a_worker_of_ray", note="one worker, on a CPU"),
        "several nodes": Feature(
            environment={"NNODES": "2"}, held=HERE + "test_two_nodes", note="two of one CPU rank each, on one machine"
        ),
        "context parallelism": Feature(
            environment={"ACCELERATE_USE_PARALLELISM_CONFIG": "true", "PARALLELISM_CONFIG_CP_SIZE": "2"},
            outcome=Outcome.REFUSED,
            held=ARGUMENTS + "test_a_layout_that_splits_sequences_is_refused",
            note="the windows of a sample must stay on one GPU",
        ),
    },
    "Other libraries": {
        "Liger": Feature(
            keys={"enable_liger_kernel": True},
            held=ON_GPUS + "test_the_fused_head_trains_as_materialised_logits_do",
            note="the fused head against logits",
        ),
        "torch.compile": Feature(keys={"torch_compile": True}, held=RUNS + "test_a_compiled_model"),
        "unsloth": Feature(keys={"use_unsloth": True}, outcome=Outcome.UNTESTED, note="needs a GPU and its package"),
        "KTransformers": Feature(
            keys={"use_kt": True},
            outcome=Outcome.REFUSED,
            held=ARGUMENTS + "test_ktransformers_is_refused_before_loading",
            note="it computes its own loss",
        ),
        "HyperParallel": Feature(
            keys={"use_hyper_parallel": True},
            outcome=Outcome.REFUSED,
            held=ARGUMENTS + "test_wrong_values_and_combinations_are_refused",
            note="another trainer",
        ),
        "Megatron": Feature(
            environment={"USE_MCA": "1"},
            outcome=Outcome.REFUSED,
            held=ARGUMENTS + "test_a_trainer_that_the_environment_chooses_is_refused",
            note="another trainer",
        ),
        "LLaMA-Factory's v1": Feature(
            environment={"USE_V1": "1"},
            outcome=Outcome.REFUSED,
            held="tests/stage/test_proof.py::test_the_v1_engine_is_refused",
            note="knows no stages; [experimental](other_trainers.md#llama-factorys-v1)",
        ),
        "label smoothing": Feature(
            keys={"label_smoothing_factor": 0.1},
            outcome=Outcome.REFUSED,
            says="weighs the likelihood of the target token, which has no smoothed form",
            note="the weighted likelihood has no smoothed form",
        ),
    },
}


KERNEL = "__global__ void add(float* x, int n) {{\n  int i = threadIdx.x;\n  if (i < n) x[i] += {0}.0f;\n}}"
TOOL = {
    "name": "compile",
    "description": "Compile a kernel.",
    "parameters": {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]},
}


def write_chats(folder: Path) -> None:
    """Data sets with several turns and a system message (turns), tool calls (tools) and thoughts (thinking), of eight rows each."""
    turns, tools, thinking = [], [], []
    for number in range(8):
        code = KERNEL.format(number)
        ask, again = f"Add {number} to each element.", {"from": "human", "value": "And launch it."}
        answer, launch = {"from": "gpt", "value": code}, {"from": "gpt", "value": f"add<<<1, {32 + number}>>>(x, n);"}
        question = {"from": "human", "value": ask}
        turns.append({"conversations": [question, answer, again, launch], "system": "You write CUDA."})
        call = {"from": "function_call", "value": json.dumps({"name": "compile", "arguments": {"code": code}})}
        result = {"from": "observation", "value": json.dumps({"ok": True})}
        tools.append({"conversations": [question, call, result, launch], "tools": json.dumps([TOOL])})
        thought = f"<think>\nOne thread an element, {number}.\n</think>\n\n"
        thinking.append({"conversations": [question, {"from": "gpt", "value": thought + code}, again, launch]})
    info = {}
    for name, rows in {"turns": turns, "tools": tools, "thinking": thinking}.items():
        (folder / f"{name}.json").write_text(json.dumps(rows), encoding="utf-8")
        columns = {"messages": "conversations", "system": "system", "tools": "tools"}
        present = {key: value for key, value in columns.items() if value in rows[0]}
        info[name] = {"file_name": f"{name}.json", "formatting": "sharegpt", "columns": present}
    (folder / "dataset_info.json").write_text(json.dumps(info), encoding="utf-8")
