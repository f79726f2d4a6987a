"""The documentation as a site: it builds without a warning, and what it shows for a terminal runs."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import markdown
import pytest
import yaml


ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^```bash([^\n]*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
MARKS = ("downloads packages", "downloads a model", "an example")  # and "needs ...": a GPU, another machine


def ordered_pages() -> list[Path]:
    """The pages in the order of the navigation, in which a reader meets their commands."""
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    sections = yaml.safe_load(text)["nav"]
    return [
        ROOT / "docs" / name
        for section in sections
        for pages in section.values()
        for page in pages
        for name in page.values()
    ]


def blocks() -> list[tuple[str, str, str]]:
    """(page, title, commands) of every block of shell commands; a title says why a block is not run."""
    return [
        (page.name, title.strip(" {}").removeprefix("title=").strip('"'), commands)
        for page in ordered_pages()
        for title, commands in BLOCK.findall(page.read_text(encoding="utf-8"))
    ]


def test_the_site_builds_without_a_warning(site):
    assert {page.stem for page in ordered_pages()} == {page.stem for page in (ROOT / "docs").glob("*.md")}
    assert "<math" in (site / "methods.html").read_text(encoding="utf-8")


def test_a_list_goes_on_behind_a_formula_at_the_head_of_a_line(load_script):
    text = "- more than\n  $\\tau$ is **confident**\n- the next"
    page = markdown.markdown(load_script("docs_math").on_page_markdown(text))
    assert re.sub("<span>.*</span>", "t", page).split() == (
        ["<ul>", "<li>more", "than", "t", "is", "<strong>confident</strong></li>", "<li>the", "next</li>", "</ul>"]
    )


@pytest.mark.parametrize(("page", "title", "commands"), blocks())
def test_a_block_runs_or_says_why_it_cannot_here(page, title, commands):
    assert not title or title.startswith("needs ") or any(mark in title for mark in MARKS), f"{page}: {title}"


@pytest.mark.slow
def test_the_commands_run(tmp_path):
    for name in ("data", "scripts", "src", "yaml_configs", "benchmarks"):
        (tmp_path / name).symlink_to(ROOT / name)
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "CUDA_VISIBLE_DEVICES": "",
        "HF_HUB_OFFLINE": "1",
    }
    first = (  # what the demo has made for a reader
        "python scripts/make_tiny_model.py outputs/demo/tiny --hidden-size 64 --layers 2\n"
        "llamafactory-cli train yaml_configs/cuset_smoke.yaml max_steps=2 do_eval=false eval_strategy='\"no\"'\n"
    )
    has_compiler = shutil.which("nvcc") is not None
    for page, title, commands in [("demo", "", first), *blocks()]:
        if title or (not has_compiler and page in ("evaluate.md", "curate.md")):
            continue
        command, hour = ["bash", "-e", "-c", commands], 3600.0  # study.md's study is 22 jobs
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=hour)
        assert done.returncode == 0, f"{page}:\n{commands}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
