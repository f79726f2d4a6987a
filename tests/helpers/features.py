"""LLaMA-Factory's SFT features and what becomes of them under `stage: cuset`, from features.yaml.

tests/stage/test_features.py tries each entry; scripts/write_docs.py writes docs/features.md from the same list.
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
        more: further keys for the test. In the file `deepspeed` gives ZeRO's stage and what differs from the bundled configuration.
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
    leaves: Sequence[str] = ()
    packages: Sequence[str] = ()
    ranks: int = 1
    environment: Mapping[str, str] = field(default_factory=dict)
    rel: float = 1e-5
    steps: int = 3
    held: str = ""
    note: str = ""
    is_quick: bool = False


def deepspeed(stage: int, **zero: Any) -> dict[str, Any]:
    """The bundled configuration for DeepSpeed with changes to its part for ZeRO."""
    config = json.loads((ROOT / "yaml_configs" / "deepspeed" / f"ds_z{stage}_config.json").read_text(encoding="utf-8"))
    config["zero_optimization"] |= zero
    return config


def read_features() -> dict[str, dict[str, Feature]]:
    """The features by group and name."""
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
    for name, rows in {"turns": turns, "tools": tools, "thinking": thinking}.items():
        columns = {"messages": "conversations", "system": "system", "tools": "tools"}
        present = {key: value for key, value in columns.items() if value in rows[0]}
        write_data_set(folder, name, rows, formatting="sharegpt", columns=present)
