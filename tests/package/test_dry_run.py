"""`pip install cuset-stage` into an environment where LLaMA-Factory works changes none of its versions: pip itself is asked.

The environments hold metadata and no code: pip reads nothing else of what is installed.
"""

import json
import subprocess
import sys
from importlib import metadata

import pytest
from packaging.utils import canonicalize_name

from .conftest import write


pytestmark = pytest.mark.slow
# What people's environments differ in from the suite's.
ENVIRONMENTS = {
    "the suite's": "",
    "transformers 4.55, older torch": """
        transformers==4.55.0 tokenizers==0.21.4 huggingface-hub==0.36.2 trl==0.22.2 gradio==4.44.1 deepspeed==0.16.9
        torch==2.6.0 torchaudio==2.6.0 torchvision==0.21.0 triton==3.2.0
        numpy==1.26.4 pandas==2.1.4 scipy==1.13.1 pyarrow==17.0.0 matplotlib==3.8.4 pydantic==2.10.6 markupsafe==2.1.5
        typer==0.12.5 rich==13.7.1 click==8.1.7 httpx==0.27.2 psutil==5.9.8 pyyaml==6.0.1 packaging==24.1""",
    "transformers 4.57": "transformers==4.57.6 huggingface-hub==0.36.2",
    "transformers 5.0, newest torch": "transformers==5.0.0 torch==2.14.1 torchvision==0.29.1 triton==3.8.0",
}


def dry_run(environment, wheel, *options: str) -> dict[str, str]:
    """Name and version of all that pip would install. Fails with pip's own words where it finds no way."""
    command = [sys.executable, "-m", "pip", "--python", str(environment.python), "install", str(wheel), "--quiet"]
    done = subprocess.run([*command, "--dry-run", "--report", "-", *options], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = [entry["metadata"] for entry in json.loads(done.stdout)["install"]]
    return {canonicalize_name(each["name"]): each["version"] for each in found}


@pytest.fixture
def environment_with(new_environment):
    """An environment with all that the suite's has but cuset-stage, in the versions given. LLaMA-Factory's own bounds stand."""

    def make(pins: str):
        versions = dict(pin.split("==") for pin in pins.split())
        environment = new_environment()
        for distribution in metadata.distributions():
            name = canonicalize_name(distribution.name)
            version = versions.get(name, distribution.version)
            stub = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
            text = distribution.read_text("METADATA") if name == "llamafactory" else stub
            if name != "cuset-stage":
                write(environment.site, {f"{name.replace('-', '_')}-{version}.dist-info/METADATA": text})
        return environment

    return make


@pytest.mark.parametrize("pins", ENVIRONMENTS.values(), ids=ENVIRONMENTS)
def test_nothing_but_cuset_stage_is_installed(pins, built, environment_with):
    assert set(dry_run(environment_with(pins), built.wheel, "--no-index")) == {"cuset-stage"}


def test_a_version_that_does_not_work_is_seen(built, environment_with):
    with pytest.raises(AssertionError, match=r"transformers.*<5\.6"):
        dry_run(environment_with("transformers==5.6.0"), built.wheel, "--no-index")
