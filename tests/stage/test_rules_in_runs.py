"""Rules of one's own and the choice of the confidence in whole runs, through llamafactory-cli."""

import json

import pytest
import torch

from cuset_stage.confidence_file import ConfidenceWriter
from cuset_stage.stage.loading import open_rows, open_tokenizer
from cuset_stage.stage.processors import LabelRules


RULE = '''"""Rules of our own."""

from dataclasses import dataclass


@dataclass
class Options:
    gamma: float = 2.0


def focal(tokens, options: Options):
    """Focal loss."""
    return (1 - tokens.confidence) ** options.gamma


def of_the_base(tokens):
    return tokens.base_probability + tokens.base_mass
'''


@pytest.fixture(scope="module")
def focal(tmp_path_factory):
    file = tmp_path_factory.mktemp("rules") / "rules.py"
    file.write_text(RULE)
    return {"stage": "cuset", "cuset_objective": f"{file}:focal", "cuset_options": {"gamma": 1.5}}


def test_a_rule_of_one_s_own_trains_fused_as_from_logits(llamafactory, focal):
    keys = {**focal, "gradient_accumulation_steps": 2, "val_size": 2, "do_eval": True, "max_samples": 8}
    keys |= {"plot_loss": True}
    fused, logits = (llamafactory({**keys, "cuset_fused": how}) for how in ("on", "off"))
    assert fused.losses == pytest.approx(logits.losses, rel=1e-5)
    assert "cuset_options.gamma=1.5" in fused.output
    card = (fused.output_dir / "README.md").read_text()
    assert "objective: Focal loss.\n" in card and "| `cuset_options.gamma` | 1.5 |" in card
    results = json.loads((fused.output_dir / "all_results.json").read_text())
    assert 0 < results["eval_focal_loss"] < results["eval_loss"]


def test_a_rule_that_cannot_be_used_ends_in_a_sentence(llamafactory, focal):
    run = llamafactory({**focal, "cuset_options": {"gama": 1}}, check=False)
    assert run.returncode
    assert "has no option 'gama'; did you mean gamma?" in run.output


@pytest.fixture(scope="module")
def saved(tiny_model, tmp_path_factory):
    """Keys of a run on six short examples, and those that give it the base model's probabilities, computed here one by one."""
    from transformers import AutoModelForCausalLM

    folder = tmp_path_factory.mktemp("confidence")
    rows = [
        {
            "instruction": f"Task {number}.",
            "input": "",
            "output": f"```cuda\nk<<<{number}, 256>>>(x);\n```\n{'Done. ' * number}",
        }
        for number in range(1, 7)
    ]
    (folder / "short.json").write_text(json.dumps(rows))
    (folder / "dataset_info.json").write_text('{"short": {"file_name": "short.json"}}')
    data = {"dataset_dir": str(folder), "cutoff_len": 256}
    model, path = AutoModelForCausalLM.from_pretrained(tiny_model).eval(), folder / "base.arrow"
    rules, options = LabelRules(("kernel_body", "launch_config")), {"dataset": ["short"], "template": "qwen"}
    rows = open_rows(open_tokenizer(str(tiny_model)), str(tiny_model), rules, **options, **data)
    with ConfidenceWriter(path, {"model": "tiny"}) as writer, torch.no_grad():
        for row in rows.tokens():
            ids, labels = (torch.as_tensor(row[name]).long() for name in ("input_ids", "labels"))
            p = model(ids[None]).logits[0, :-1].softmax(-1)
            at = (labels[1:] != -100).nonzero()[:, 0]
            writer.add(row["input_ids"], p[at, labels[1:][at]].numpy())
    recipe = {"stage": "cuset", "dataset": "short", **data}
    return recipe, {"cuset_confidence": "file", "cuset_confidence_file": str(path)}


@pytest.mark.parametrize(
    "packing",
    [*(pytest.param(keys, marks=pytest.mark.slow) for keys in ({}, {"packing": True})), {"neat_packing": True}],
    ids=str,
)
def test_a_file_of_the_base_model_s_confidence_is_the_base_model(llamafactory, saved, packing):
    """Read once or computed in each step, with the adapters off: the same run; and another one than with the model's own.

    DFT weighs a token by its probability; CuSeT's loss hardly changes with those of an untrained model.
    """
    recipe, file = saved
    keys = {**recipe, **packing, "cuset_objective": "dft", "max_steps": 2}
    online, base, read = (llamafactory({**keys, **how}) for how in ({}, {"cuset_confidence": "base"}, file))
    assert online.losses[0] == pytest.approx(base.losses[0], rel=1e-5)  # the adapters begin at 0
    assert online.losses[1] != pytest.approx(base.losses[1], rel=1e-3)
    if packing == {"packing": True}:  # an example sees what stands before it in the row; the file does not
        assert read.losses[0] != pytest.approx(base.losses[0], rel=1e-5)
    else:
        assert read.losses == pytest.approx(base.losses, rel=1e-5)


def test_a_rule_reads_the_base_model_fused_as_from_logits(llamafactory, saved, focal):
    rule = focal["cuset_objective"].replace(":focal", ":of_the_base")
    keys = {**saved[0], "cuset_objective": rule, "max_steps": 2}
    fused, logits = (llamafactory({**keys, "cuset_fused": how}) for how in ("on", "off"))
    assert fused.losses == pytest.approx(logits.losses, rel=1e-5)
    assert fused.losses[0] > 0


def test_an_objective_that_went_ends_in_a_sentence(llamafactory):
    run = llamafactory(
        {"stage": "cuset", "cuset_objective": "prift_mass", "cuset_options": {"threshold": 0.4}}, check=False
    )
    assert (
        run.returncode and "return tokens.base_mass >= threshold\n\nand set cuset_objective: rules.py:" in run.output
    )


def test_an_example_that_the_file_lacks_is_named(llamafactory, saved):
    recipe, file = saved
    run = llamafactory({**recipe, **file, "cutoff_len": 20}, check=False)
    assert run.returncode and "an example (20 tokens) is not among its 6 examples" in run.output


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"cuset_confidence": "file"}, "Set both, or remove both"),
        ({"cuset_confidence_file": "p.arrow"}, "Set both, or remove both"),
        ({"cuset_confidence": "file", "cuset_confidence_file": "p.arrow"}, "p.arrow: cannot be read"),
        ({"cuset_confidence": "frozen"}, "expected one of online, base, file"),
    ],
    ids=lambda value: "",
)
def test_wrong_choices_of_the_confidence(llamafactory, keys, message):
    run = llamafactory({"stage": "cuset", **keys}, check=False)
    assert run.returncode and message in run.output
