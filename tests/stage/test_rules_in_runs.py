"""Users' own rules, and the choice of the confidence, in whole runs through llamafactory-cli."""

import pytest


RULE = '''"""Rules of our own."""

from dataclasses import dataclass

from cuset_stage.objective.rules import MadeUpTokens


@dataclass
class Options:
    gamma: float = 2.0


training = False


def focal(tokens, options: Options):
    """Focal loss."""
    global training
    assert not (training and isinstance(tokens, MadeUpTokens)), "a rule that counts rows on the GPU would fail on the CPU"
    training = training or not isinstance(tokens, MadeUpTokens)
    return (1 - tokens.confidence) ** options.gamma
'''


def test_a_rule_of_one_s_own_with_options(llamafactory, tmp_path):
    (tmp_path / "rules.py").write_text(RULE)
    keys = {"stage": "cuset", "cuset_objective": f"{tmp_path}/rules.py:focal", "cuset_options": {"gamma": 1.5}}
    keys |= {"gradient_accumulation_steps": 2, "val_size": 2, "do_eval": True, "max_samples": 8, "plot_loss": True}
    fused = llamafactory({**keys, "cuset_fused": "on"})
    assert "cuset_options.gamma=1.5" in fused.output
    card = (fused.output_dir / "README.md").read_text()
    assert "objective: Focal loss.\n" in card and "| `cuset_options.gamma` | 1.5 |" in card
    assert 0 < fused.results["eval_focal_loss"] < fused.results["eval_loss"]


def test_the_confidence_of_the_base_model(llamafactory):
    """In the first step both confidences agree, since adapters begin at 0. In the second step they differ.

    DFT is used because it weighs each token by its confidence.
    """
    keys = {"stage": "cuset", "cuset_objective": "dft", "max_samples": 8, "max_steps": 2}
    online, base = (llamafactory({**keys, "cuset_confidence": whose}) for whose in ("online", "base"))
    assert online.losses[0] == pytest.approx(base.losses[0], rel=1e-5)
    assert online.losses[1] != pytest.approx(base.losses[1], rel=1e-3)
