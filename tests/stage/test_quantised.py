"""Models quantised to 4 and 8 bits by bitsandbytes, on a CPU.

With all parts off they train as under SFT, and nothing that the stage does makes bitsandbytes repack their weights for
inference.
"""

import importlib.util

import pytest
import torch
from features import OFF
from tiny_models import make_another
from transformers import TrainerCallback


# Not imported here: that takes seconds, in every worker.
ABSENT = importlib.util.find_spec("bitsandbytes") is None
pytestmark = [
    pytest.mark.skipif(ABSENT, reason="bitsandbytes is not installed: pip install bitsandbytes"),
    pytest.mark.skipif(torch.cuda.is_available(), reason="the model would lie on the GPU: see tests/gpu"),
]


@pytest.fixture(scope="module")
def keys(tiny_model, tmp_path_factory):
    """Recipe keys for a model whose layers have at least 64 columns, which is one block of 4-bit weights."""
    path = make_another(tiny_model, tmp_path_factory.mktemp("model"), hidden_size=64, intermediate_size=256)
    return {"model_name_or_path": str(path), "cutoff_len": 128, "max_samples": 8, "gradient_accumulation_steps": 2}


@pytest.mark.parametrize("bits", [4, pytest.param(8, marks=pytest.mark.slow)])
def test_all_parts_off_is_sft(llamafactory, keys, bits):
    keys = {**keys, "quantization_bit": bits}
    sft = llamafactory({**keys, "stage": "sft"})
    assert f"Quantizing model to {bits} bit with bitsandbytes" in sft.output
    for fused in ("on", "off"):
        run = llamafactory({**keys, **OFF, "stage": "cuset", "cuset_fused": fused})
        assert run.losses_and_norms == pytest.approx(sft.losses_and_norms, rel=1e-5)
        assert run.history[-1]["total_flos"] == sft.history[-1]["total_flos"]


class Repacked(TrainerCallback):
    """Counts, at the end of training, the 4-bit layers whose weights have bitsandbytes' layout for inference on CPUs."""

    def on_train_end(self, args, state, control, model=None, **kwargs):
        from bitsandbytes.nn import Linear4bit

        layers = [layer for layer in model.modules() if isinstance(layer, Linear4bit)]
        states = [layer.weight.quant_state for layer in layers]
        self.count = sum(getattr(state, "packing_format_for_cpu", False) for state in states)
        assert layers


@pytest.mark.parametrize(
    ("more", "repacks"),
    [
        ({"stage": "cuset", "cuset_fused": "on", "cuset_objective": "asft"}, False),
        ({"stage": "cuset", "cuset_fused": "off", "cuset_objective": "asft"}, False),
        ({"stage": "sft", "val_size": 2, "eval_strategy": "steps", "eval_steps": 1}, True),
    ],
    ids=["probe and reference", "reference logits", "evaluation"],
)
def test_4_bit_weights_keep_their_layout(recipe, keys, monkeypatch, more, repacks):
    """The probe and the reference of ASFT do not repack weights.

    bitsandbytes is made to believe that the CPU has AVX512-BF16, so that it would repack. An evaluation under SFT does
    repack, which shows that the test can see it.
    """
    from llamafactory.train.tuner import run_exp

    monkeypatch.setattr("bitsandbytes.nn.modules.has_avx512bf16", lambda: True)
    own = {"quantization_bit": 4, "finetuning_type": "lora", "lora_target": "all"}
    repacked = Repacked()
    run_exp({**recipe, **keys, **own, **more}, callbacks=[repacked])
    assert bool(repacked.count) == repacks
