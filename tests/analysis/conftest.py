"""Tiny models and a LoRA adapter, made once from the bundled data, and the content of a heat map page."""

from pathlib import Path

import pytest
from worker_folders import shared_folder

from cuset_stage.analysis.confidence import Reading, Region, Sample
from cuset_stage.analysis.requests import HeatmapSettings


ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def models(tiny_model, tmp_path_factory) -> Path:
    """A folder with `before`, `after` (the same tokenizer, other weights), `deeper` (larger), and `adapter` (LoRA on
    `deeper`).
    """

    def make(folder: Path) -> None:
        from tiny_models import make_adapter, make_another

        before = make_another(tiny_model, folder / "before", num_hidden_layers=1)
        make_another(before, folder / "after", seed=1)
        deeper = make_another(before, folder / "deeper", num_hidden_layers=2, hidden_size=64, intermediate_size=128)
        make_adapter(deeper, folder / "adapter")

    return shared_folder(tmp_path_factory, "analysis-models", make)


@pytest.fixture
def page() -> tuple[list[Sample], HeatmapSettings]:
    """A sample and settings for a heat map: two turns with all characters that HTML could trip over, and a window in
    each turn.
    """
    texts = ["<|im_start|>user\n", "Sum & scan. More", "</script>", "<b>", 'a"b', "\n", "\tx\r\n", "'&amp;'"]
    texts += ["é", "", "q", "end\0"]
    supervised = [False, False, True, True, True, True, True, True, True, True, False, True]
    cuda = [False, False, True, True, False, False, True, False, False, False, False, False]

    def reading(scale: float) -> Reading:
        values = [scale * (1 + index) / 20 if on else None for index, on in enumerate(supervised)]
        regions = [Region(3, 6, 0.25 * scale, 1 - 0.25 * scale), Region(11, 12, 0.6 * scale, 1 - 0.6 * scale)]
        return Reading(values, values, regions)

    sample = Sample("kernels <1>, row 1", texts, supervised, cuda, {"before": reading(0.1), "after": reading(1.0)})
    settings = {"model": "models/A <title>", "before": "models/b", "dataset": ("kernels",), "window": 3, "tau": 0.1}
    return [sample], HeatmapSettings.model_construct(**settings)
