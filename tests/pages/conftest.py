"""Each kind of page that the package makes, made once from small real data.

A fixture returns the address of its page.
"""

import json
import random
import shutil
from pathlib import Path

import pytest
from commands import cuset
from data_sets import write_data_set
from results_factory import write_results
from safetensors.torch import load_file, save_file


ROOT = Path(__file__).parent.parent.parent
METHODS = ("SFT", "DFT", "EAFT", "ASFT", "ProFit", "CuSeT")
VERDICTS = ("mismatch", "compile_error", "runtime_error", "timeout", "no_code", "missing_output")


@pytest.fixture(scope="session")
def surer_model(tiny_model, tmp_path_factory) -> Path:
    """A tiny model that is sure of some tokens, with a model card that lists the settings of its training run.

    The weight of its last norm is multiplied by 60, which makes the logits large.
    """
    path = tmp_path_factory.mktemp("surer") / "model"
    shutil.copytree(tiny_model, path)
    weights = load_file(path / "model.safetensors")
    weights["model.norm.weight"] *= 60
    save_file(weights, path / "model.safetensors", metadata={"format": "pt"})
    keys = {"cuset_objective": "cuset", "cuset_tau": 0.2, "cuset_lambda": 1.5, "cuset_window": 64}
    keys |= {"cuset_cuda_mask": "true", "cuset_sensitive_kinds": "kernel_body"}
    (path / "README.md").write_text("| key | value |\n" + "".join(f"| `{key}` | {keys[key]} |\n" for key in keys))
    return path


@pytest.fixture(scope="session")
def heat_map(tiny_model, surer_model, tmp_path_factory) -> str:
    """A heat map of the first row in which the model is sure of a token outside CUDA code (whose M is then 1).

    The model is untrained, so it is sure of such a token by chance only, and not in every row.
    """
    known = json.loads((ROOT / "data" / "dataset_info.json").read_text())["cuset_kernels_eval"]
    for row in json.loads((ROOT / "data" / "cuset_kernels_eval.json").read_text()):
        page = tmp_path_factory.mktemp("heat_map") / "page.html"
        data = write_data_set(page.parent, "one", [row], columns=known["columns"]) | {"samples": 1, "cutoff_len": 1200}
        cuset("heatmap", model=surer_model, before=tiny_model, output=page, device="cpu", **data)
        if ', M 1"' in page.read_text():
            break
    return page.as_uri()


@pytest.fixture(scope="session")
def label_page(tiny_model, tmp_path_factory) -> str:
    page = tmp_path_factory.mktemp("labels") / "page.html"
    data = {"dataset": "cuset_kernels_eval", "dataset_dir": ROOT / "data", "cutoff_len": 1024}
    cuset("label", model=tiny_model, output=page, kinds="kernel_body,launch_config,thread_indexing", workers=1, **data)
    return page.as_uri()


@pytest.fixture(scope="session")
def report_page(tmp_path_factory) -> str:
    folder = tmp_path_factory.mktemp("report")
    draw = random.Random(0)
    results = []
    for place, method in enumerate(METHODS):
        verdicts = {
            str(task): ["passed" if draw.random() < 0.4 + 0.08 * place else draw.choice(VERDICTS) for _ in range(3)]
            for task in range(20)
        }
        results.append(
            write_results(folder / f"{method}.jsonl", method, verdicts, findings={"3": ["zeros pass"]}, audited=20)
        )
    cuset("report", *results, output=folder / "report")
    return (folder / "report" / "report.html").as_uri()


@pytest.fixture(scope="session")
def analyze_page(tiny_model, surer_model, tmp_path_factory) -> str:
    folder = tmp_path_factory.mktemp("analyze")
    models = f"{{untrained: {tiny_model}, 'surer <b>': {surer_model}}}"
    code = f"{ROOT / 'data/kernels/tiled_sgemm'},{ROOT / 'data/kernels/exclusive_scan'}"
    cuset("analyze", models=models, code=code, output=folder, device="cpu", resamples=100)
    assert {path.name for path in folder.iterdir()} == {"confidence.json", "confidence.html", "tokens.png"}
    return (folder / "confidence.html").as_uri()
