"""The web UI (LlamaBoard) in a real browser: from choosing the stage to a finished run with CuSeT's statistics in its
log.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli_server import free_port

from cuset_stage.objective.statistics import LOG_PREFIX


ROOT = Path(__file__).parent.parent.parent
EXTRA = {"optim": "adamw_torch", "use_cpu": True, "max_steps": 6, "gradient_accumulation_steps": 1}
EXTRA |= {"cuset_tau": 0, "cuset_region_weight": "off"}
EXTRA |= {"preprocessing_num_workers": 1}  # the UI's default, 16, takes a minute to start on two cores
MINUTES = 8  # limit for the whole run, on a busy machine


@pytest.fixture
def web_ui(tmp_path):
    """The address of a running web UI, whose working directory has nothing but the bundled data."""
    (tmp_path / "data").symlink_to(ROOT / "data")
    port = free_port()
    scripts = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}", "CUDA_VISIBLE_DEVICES": ""}
    environment |= {"GRADIO_SERVER_NAME": "127.0.0.1", "GRADIO_SERVER_PORT": str(port)}
    environment |= {"GRADIO_ANALYTICS_ENABLED": "False"}
    with (tmp_path / "log").open("w") as log:
        server = subprocess.Popen(
            [str(scripts / "llamafactory-cli"), "webui"], cwd=tmp_path, env=environment, stdout=log, stderr=log
        )
        try:
            yield f"http://127.0.0.1:{port}/"
        finally:
            server.terminate()
            server.wait(60)


@pytest.mark.slow
def test_a_run_from_the_stage_to_its_log(web_ui, browser, tiny_model, tmp_path):
    page = browser.new_page(viewport={"width": 1400, "height": 1000})
    page.set_default_timeout(60_000)
    for _ in range(60 * MINUTES):
        try:
            page.goto(web_ui)
            break
        except Exception:
            page.wait_for_timeout(1000)

    def choose(label: str, option: str, search: bool = False) -> None:
        page.wait_for_timeout(1000)  # the previous choice may still change these options
        field = page.get_by_label(label, exact=True).first
        field.click()
        if search:  # long lists show only their first entries
            field.fill(option)
        page.get_by_role("option", name=option, exact=True).first.click()

    choose("Model name", "Custom", search=True)
    page.get_by_label("Model path").first.fill(str(tiny_model))
    choose("Finetuning method", "full")
    choose("Chat template", "qwen", search=True)
    choose("Stage", "CUDA-Sensitive Fine-Tuning (CuSeT)")
    choose("Dataset", "cuset_kernels")
    page.keyboard.press("Escape")
    choose("Compute type", "fp32")
    page.get_by_label("Max samples").first.fill("8")
    page.get_by_label("Output dir", exact=True).first.fill("run")
    page.get_by_text("Extra configurations").first.click()
    page.get_by_label("number input for Logging steps").first.fill("1")
    page.get_by_label("Extra arguments").first.fill(json.dumps(EXTRA))
    page.keyboard.press("Tab")
    page.get_by_role("button", name="Start").first.click()
    ended = page.get_by_text("Finished.").or_(page.get_by_text("Failed."))
    ended.first.wait_for(timeout=60_000 * MINUTES)
    assert "Finished." in ended.first.text_content(), ended.first.text_content()

    run = tmp_path / "saves" / "Custom" / "full" / "run"
    assert "cuset_region_weight=false" in (run / "running_log.txt").read_text()
    assert f"{LOG_PREFIX}nll:" in page.get_by_text(f"{LOG_PREFIX}nll:").first.text_content()
    assert (run / "training_loss.png").exists()
    page.close()
