"""The documentation as a site: it builds without a warning, and what it shows for a terminal runs."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import docs_math
import markdown
import pytest
import yaml


ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^```bash([^\n]*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
MARKS = ("downloads packages", "downloads a model", "an example")  # and "needs ...": a GPU, another machine
CHECKOUT = "in a checkout"
OF_A_CHECKOUT = re.compile(r"\b(scripts|yaml_configs|data/(kernels|operations)|benchmarks)/|pip install '?\.")


def ordered_pages() -> list[Path]:
    """The pages in the order of the navigation, in which a reader meets their commands."""
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    parts = [page for section in yaml.safe_load(text)["nav"] for pages in section.values() for page in pages]
    return [ROOT / "docs" / name for page in parts for name in page.values()]


def blocks() -> list[tuple[str, str, str]]:
    """(page, title, commands) of every block of shell commands; a title says where it runs, or why it cannot be run here."""
    return [
        (page.name, title.strip(" {}").removeprefix("title=").strip('"'), commands)
        for page in ordered_pages()
        for title, commands in BLOCK.findall(page.read_text(encoding="utf-8"))
    ]


def test_the_site_builds_without_a_warning(site):
    assert {page.stem for page in ordered_pages()} == {page.stem for page in (ROOT / "docs").glob("*.md")}
    assert "<math" in (site / "methods.html").read_text(encoding="utf-8")


def test_a_list_goes_on_behind_a_formula_at_the_head_of_a_line():
    text = "- more than\n  $\\tau$ is **confident**\n- the next"
    page = markdown.markdown(docs_math.on_page_markdown(text))
    items = "<ul> <li>more than t is <strong>confident</strong></li> <li>the next</li> </ul>"
    assert re.sub("<span>.*</span>", "t", page).split() == items.split()


@pytest.mark.parametrize(("page", "title", "commands"), blocks())
def test_a_block_runs_or_says_why_it_cannot_here(page, title, commands):
    assert all(part in (CHECKOUT, *MARKS) or part.startswith("needs ") for part in title.split(", ") if part)
    assert bool(OF_A_CHECKOUT.search(commands)) == (CHECKOUT in title), f"{page}: does it need a checkout?"


@pytest.mark.slow
def test_the_commands_run(tmp_path):
    """In an empty folder with the wheel alone, and those that name files of a checkout in one; both write into the same outputs/."""
    checkout, empty, wheel = (tmp_path / name for name in ("checkout", "empty", "wheel"))
    (checkout / "outputs").mkdir(parents=True)
    for path in ROOT.iterdir():
        if path.name not in ("src", "outputs", "build"):
            (checkout / path.name).symlink_to(path)
    # A build writes there.
    shutil.copytree(ROOT / "src", checkout / "src", ignore=shutil.ignore_patterns("*.egg-info"))
    empty.mkdir()
    (empty / "outputs").symlink_to(checkout / "outputs")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--target", str(wheel), str(checkout)], check=True)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PYTHONPATH": str(wheel), "PATH": path, "CUDA_VISIBLE_DEVICES": ""}
    first = (  # what the demo has made for a reader
        "python scripts/make_tiny_model.py outputs/demo/tiny --hidden-size 64 --layers 2\n"
        "llamafactory-cli train yaml_configs/cuset_smoke.yaml max_steps=2 do_eval=false eval_strategy='\"no\"'\n"
    )
    has_compiler = shutil.which("nvcc") is not None
    for page, title, commands in [("demo", CHECKOUT, first), *blocks()]:
        if title not in ("", CHECKOUT) or (not has_compiler and page in ("evaluate.md", "curate.md", "questions.md")):
            continue
        folder = checkout if title else empty
        command, hour = ["bash", "-e", "-c", commands], 3600.0  # study.md's study is 22 jobs
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=hour)
        assert done.returncode == 0, f"{page}:\n{commands}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
