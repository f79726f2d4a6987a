"""LLaMA-Factory's SFT features and how each behaves under `stage: cuset`, read from features.yaml.

tests/stage/test_features.py tests each entry. scripts/write_docs.py writes docs/features.md from the same list, so the
page claims only what is tested.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import yaml
from data_sets import write_data_set


ROOT = Path(__file__).parents[2]
OFF = {"cuset_confidence_mask": False, "cuset_cuda_mask": False, "cuset_region_weight": False}  # leaves SFT's loss


class Outcome(StrEnum):
    WORKS = "works"
    REFUSED = "refused"
    FAILS = "fails in SFT as well"
    UNTESTED = "not tested here"


@dataclass(frozen=True, kw_only=True)
class Feature:
    """One feature. The test trains with it under `stage: sft` and under `stage: cuset` with all of CuSeT's parts off.

    In values of recipe keys {folder} stands for a folder of the run's own, {first} for the output folder of the run
    `first`, and {chats} for the folder of `write_chats`. In features.yaml, `deepspeed` gives the ZeRO stage and the
    keys that differ from the bundled configuration.
    """

    keys: Mapping[str, Any] = field(default_factory=dict)  # recipe keys that turn the feature on
    outcome: Outcome = Outcome.WORKS  # what has to happen
    more: Mapping[str, Any] = field(default_factory=dict)  # further recipe keys for the test
    first: Mapping[str, Any] | None = None  # recipe keys of a run that has to come before
    # Text in the output of both runs, which shows that the feature was on. For one that fails it is the error, and for
    # one that is refused the refusal, in the last line.
    says: str = ""
    leaves: Sequence[str] = ()  # patterns of files that both runs have to leave in {folder} or in their output folder
    packages: Sequence[str] = ()  # Python packages without which the test is skipped
    ranks: int = 1
    environment: Mapping[str, str] = field(default_factory=dict)
    rel: float = 1e-5  # allowed difference of the losses and the gradient norms, relative to SFT's
    steps: int = 3  # logged by both runs
    held: str = ""  # the test that covers the feature instead, as path::name
    note: str = ""  # a remark for the page
    is_quick: bool = False  # part of every test run, not only of the slow ones


def deepspeed(stage: int, **zero: Any) -> dict[str, Any]:
    """Return the bundled DeepSpeed configuration of a ZeRO stage, with these keys changed in its `zero_optimization`."""
    config = json.loads((ROOT / "yaml_configs" / "deepspeed" / f"ds_z{stage}_config.json").read_text(encoding="utf-8"))
    config["zero_optimization"] |= zero
    return config


def read_features() -> dict[str, dict[str, Feature]]:
    """Return the features of features.yaml by group and name."""
    groups = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
    for entries in groups.values():
        for name, entry in entries.items():
            entry["outcome"] = Outcome[entry.get("outcome", "works").upper()]
            if zero := entry.get("more", {}).get("deepspeed"):
                entry["more"]["deepspeed"] = deepspeed(**zero)
            entries[name] = Feature(**entry)
    return groups


FEATURES = read_features()


KERNEL = "__global__ void add(float* x, int n) {{\n  int i = threadIdx.x;\n  if (i < n) x[i] += {0}.0f;\n}}"
TOOL = {
    "name": "compile",
    "description": "Compile a kernel.",
    "parameters": {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]},
}


def write_chats(folder: Path) -> None:
    """Write three data sets of eight rows each.

    `turns` has two turns and a system message, `tools` has tool calls, and `thinking` has reasoning before the first
    answer.
    """
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
    for name, rows in {"turns": turns, "tools": tools, "thinking": thinking}.items():
        columns = {"messages": "conversations", "system": "system", "tools": "tools"}
        present = {key: value for key, value in columns.items() if value in rows[0]}
        write_data_set(folder, name, rows, formatting="sharegpt", columns=present)
