"""The bundled kernels: their format, their NumPy references, and that every response compiles.

Needs numpy; nvcc for the compile tests, which are skipped without it except in CI. Running the programs needs a GPU and is
`python scripts/verify_data.py`.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest


ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "data"
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


sys.path.insert(0, str(ROOT / "scripts"))
import build_data  # noqa: E402 - scripts are no package
import verify_data  # noqa: E402


TASKS = {task.name: task for task in build_data.load_tasks()}
ROWS = {
    row["name"]: (split, row)
    for split, name in build_data.SPLIT_FILES.items()
    for row in json.loads((DATA / name).read_text(encoding="utf-8"))
}
by_task = pytest.mark.parametrize("name", sorted(TASKS))


def fenced_block(response: str) -> str:
    """The one fenced block of a response."""
    blocks = FENCE.findall(response)
    assert len(blocks) == 1
    assert response.count("```") == 2
    language, code = blocks[0]
    assert language in ("cpp", "cuda")
    return code


# ----------------------------------------------------------------------------------------------------- built files


def test_built_files_are_up_to_date(capsys):
    assert build_data.main(["--check"]) == 0, capsys.readouterr().out


def test_dataset_info_names_the_built_files():
    info = json.loads((DATA / "dataset_info.json").read_text(encoding="utf-8"))
    assert {key: entry["file_name"] for key, entry in info.items()} == {
        "cuset_kernels": build_data.SPLIT_FILES["train"],
        "cuset_kernels_eval": build_data.SPLIT_FILES["eval"],
    }
    for entry in info.values():
        assert entry["columns"] == {"prompt": "instruction", "query": "input", "response": "output"}


def test_rows_are_alpaca_with_unique_names_and_prompts():
    total = 0
    for name in build_data.SPLIT_FILES.values():
        rows = json.loads((DATA / name).read_text(encoding="utf-8"))
        total += len(rows)
        for row in rows:
            assert list(row) == ["instruction", "input", "output", "name", "family"]
            assert all(isinstance(value, str) for value in row.values())
            assert row["instruction"] and row["output"] and not row["input"]
    assert len(ROWS) == total  # a name in both splits, or twice in one, would be lost in the dictionary
    assert set(ROWS) == set(TASKS)
    assert len({row["instruction"] for _, row in ROWS.values()}) == total


def test_splits_and_families():
    splits = [split for split, _ in ROWS.values()]
    assert splits.count("train") == 28
    assert splits.count("eval") == 4
    trained = {row["family"] for split, row in ROWS.values() if split == "train"}
    assert trained == set(build_data.FAMILIES)


def test_no_sentence_is_in_every_prompt():
    # A fixed phrase would be learnt by heart; the contract is in every prompt in other words.
    sentences = [set(re.split(r"(?<=[.:])\s+", row["instruction"])) for _, row in ROWS.values()]
    common = [s for s in set.union(*sentences) if sum(s in other for other in sentences) > len(sentences) // 4]
    assert [s for s in common if len(s) > 25] == []


# -------------------------------------------------------------------------------------------------------- one task


@by_task
def test_prompt_states_the_contract(name):
    prompt = ROWS[name][1]["instruction"]
    task = TASKS[name]
    for tensor in task.inputs + task.outputs:
        lines = [line for line in prompt.splitlines() if f"data/{tensor.name}.bin" in line]
        assert any(tensor.dtype in line and str(tensor.shape) in line for line in lines), tensor
    assert "row-major" in prompt and "little-endian" in prompt
    numbers = {float(number) for number in re.findall(r"\d+(?:\.\d+)?(?:e-?\d+)?", prompt)}
    for rtol, atol in build_data.load_reference(task).tolerance.values():
        assert "rtol" in prompt and "atol" in prompt
        assert {rtol, atol} <= numbers


@by_task
def test_response_is_a_whole_program(name):
    code = fenced_block(ROWS[name][1]["output"])
    assert "__global__" in code and "<<<" in code and "int main(" in code
    assert "cudaGetErrorString" in code
    assert code == TASKS[name].source + "\n"
    assert max(map(len, code.splitlines())) <= 119
    # About three characters a token: prompt and response together stay inside cutoff_len 4096.
    assert len(ROWS[name][1]["instruction"]) + len(ROWS[name][1]["output"]) < 12_000


@by_task
def test_reference_runs_and_cannot_be_met_by_a_constant(name):
    task = TASKS[name]
    reference = build_data.load_reference(task)
    inputs = reference.make_inputs(build_data.task_rng(task))
    build_data.check_arrays(task, "inputs", inputs)
    kept = {key: array.copy() for key, array in inputs.items()}
    begin = time.process_time()
    outputs = reference.reference(inputs)
    assert time.process_time() - begin < 2.0
    build_data.check_arrays(task, "outputs", outputs)

    for key, array in inputs.items():
        np.testing.assert_array_equal(array, kept[key], err_msg=f"reference() changed {key}")
    again = reference.make_inputs(build_data.task_rng(task))
    for key, array in again.items():
        np.testing.assert_array_equal(array, kept[key], err_msg=f"make_inputs() is not deterministic: {key}")
    for key, expected in outputs.items():
        rtol, atol = reference.tolerance[key]
        assert verify_data.compare(expected, expected, rtol, atol) == (True, 0.0, 0.0)
        guesses = [np.zeros_like(expected)]
        if expected.size > 1:
            guesses += [np.full_like(expected, value) for value in (np.median(expected), expected.flat[0])]
        guesses += [
            array for array in kept.values() if array.shape == expected.shape and array.dtype == expected.dtype
        ]
        for guess in guesses:
            assert not verify_data.compare(guess, expected, rtol, atol)[0], key


def test_philox_reference_has_the_published_answer():
    path = DATA / "kernels" / "philox_box_muller" / "reference.py"
    spec = importlib.util.spec_from_file_location("philox_reference", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    # Known answers of Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (Random123, philox4x32-10).
    zeros = module.philox4x32(np.zeros((1, 4), dtype=np.uint32), (0, 0))
    assert zeros.tolist() == [[0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]]
    ones = module.philox4x32(np.full((1, 4), 2**32 - 1, dtype=np.uint32), (2**32 - 1, 2**32 - 1))
    assert ones.tolist() == [[0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]]


# --------------------------------------------------------------------------------------------------------- compile


@pytest.fixture(scope="module")
def compiled(tmp_path_factory) -> dict[str, subprocess.CompletedProcess]:
    """nvcc's answer for every response of the JSON files."""
    if shutil.which("nvcc") is None:
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail("nvcc is not in PATH; CI has to compile the bundled kernels")
        pytest.skip("nvcc is not in PATH: install the CUDA toolkit to compile the bundled kernels")
    folder = tmp_path_factory.mktemp("responses")

    def compile_one(name: str) -> subprocess.CompletedProcess:
        source = folder / f"{name}.cu"
        source.write_text(fenced_block(ROWS[name][1]["output"]), encoding="utf-8")
        command = ["nvcc", "-arch=sm_80", "-std=c++17", "-O1", "-c", str(source), "-o", str(folder / f"{name}.o")]
        return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(ROWS, pool.map(compile_one, ROWS), strict=True))


@by_task
def test_response_compiles(compiled, name):
    result = compiled[name]
    assert result.returncode == 0, result.stderr
    assert "warning" not in result.stderr, result.stderr


# ------------------------------------------------------------------------------------------------ the script itself


@pytest.fixture
def folder(tmp_path) -> Path:
    return Path(shutil.copytree(DATA / "kernels" / "transpose_padded", tmp_path / "transpose_padded"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"family": "sorting"}, r"task\.json: family: 'sorting', allowed: element-wise"),
        ({"split": "test"}, r"task\.json: split: 'test', allowed: train, eval"),
        ({"idioms": []}, r"task\.json: idioms"),
        ({"outputs": []}, r"task\.json: outputs: a task writes at least one file"),
        ({"author": "me"}, r"task\.json: keys are"),
        ({"inputs": [{"name": "m", "dtype": "float8", "shape": [2]}]}, r"inputs\[0\]\.dtype: 'float8'"),
        ({"inputs": [{"name": "m", "dtype": "int8", "shape": [2, 0]}]}, r"inputs\[0\]\.shape: \[2, 0\]"),
        ({"inputs": [{"name": "m", "dtype": "int8"}]}, r"inputs\[0\]: keys are \['dtype', 'name'\]"),
        ({"inputs": [{"name": "m", "dtype": "int8", "shape": [2]}]}, r"prompt\.md: m: no line names data/m\.bin"),
    ],
)
def test_a_bad_task_names_file_and_key(folder, change, message):
    path = folder / "task.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(build_data.DataError, match=message):
        build_data.load_task(folder)


def test_a_missing_or_fenced_file_is_refused(folder):
    intro = folder / "intro.md"
    intro.write_text("```\nint x;\n```\n")
    with pytest.raises(build_data.DataError, match="one fenced block"):
        build_data.load_task(folder)
    intro.unlink()
    with pytest.raises(build_data.DataError, match=r"intro\.md: missing"):
        build_data.load_task(folder)


def test_check_reports_a_stale_file(tmp_path, capsys):
    copy = Path(shutil.copytree(DATA, tmp_path / "data"))
    (copy / "cuset_kernels.json").write_text("[]\n")
    assert build_data.command_build(True, copy) == 1
    assert "out of date: data/cuset_kernels.json" in capsys.readouterr().out
    assert (copy / "cuset_kernels.json").read_text() == "[]\n"
    assert build_data.command_build(False, copy) == 0
    assert (copy / "cuset_kernels.json").read_text() == (DATA / "cuset_kernels.json").read_text()


def test_compare_follows_the_contract():
    expected = np.array([0.0, 10.0], dtype=np.float32)
    assert verify_data.compare(np.array([0.5, 11.0], dtype=np.float32), expected, 0.1, 0.5)[0]
    assert not verify_data.compare(np.array([0.5, 11.6], dtype=np.float32), expected, 0.1, 0.5)[0]
    assert not verify_data.compare(np.array([np.nan, 10.0], dtype=np.float32), expected, 0.1, 0.5)[0]
    big = np.array([2**62], dtype=np.int64)
    assert not verify_data.compare(big + 1, big, 0, 0)[0]  # the same number in float64


def test_run_limited_kills_what_runs_too_long(tmp_path):
    finished = verify_data.run_limited(["sh", "-c", "echo started; sleep 60 & sleep 60"], tmp_path, 0.3)
    assert finished.returncode is None
    assert finished.seconds < 10
    assert "started" in finished.output
    assert verify_data.run_limited(["sh", "-c", "exit 3"], tmp_path, 10).returncode == 3


# A stand-in for nvcc: it "compiles" a shell script, so that the judging can be tested without a GPU.
FAKE_NVCC = """#!/bin/sh
cp "$CUSET_FAKE_KERNEL" kernel && chmod +x kernel
"""


@pytest.mark.parametrize(
    ("script", "verdict"),
    [
        ("cp {good} data/transposed.bin", "passed"),
        ("cp {good} data/transposed.bin; exit 1", "runtime_error"),
        ("true", "missing_output"),
        ("head -c 100 {good} > data/transposed.bin", "mismatch"),
        ("cp data/matrix.bin data/transposed.bin", "mismatch"),
        ("sleep 30", "timeout"),
    ],
)
def test_verify_judges(tmp_path, monkeypatch, script, verdict):
    task = TASKS["transpose_padded"]
    reference = build_data.load_reference(task)
    inputs = reference.make_inputs(build_data.task_rng(task))
    good = tmp_path / "good.bin"
    good.write_bytes(reference.reference(inputs)["transposed"].tobytes())
    kernel = tmp_path / "kernel.sh"
    kernel.write_text("#!/bin/sh\n" + script.format(good=good) + "\n")
    nvcc = tmp_path / "bin" / "nvcc"
    nvcc.parent.mkdir()
    nvcc.write_text(FAKE_NVCC)
    nvcc.chmod(0o755)
    monkeypatch.setenv("PATH", f"{nvcc.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("CUSET_FAKE_KERNEL", str(kernel))

    @dataclasses.dataclass
    class Options:
        timeout: float = 2.0
        repeats: int = 2
        sanitizer: tuple = ()

    result = verify_data.verify_task(task, "sm_90", Options())
    assert result["verdict"] == verdict, result
    assert len(result["sha256"]) == 64
    if verdict == "passed":
        assert len(result["run_s"]) == 2
        assert result["max_abs_error"] == 0.0


def test_verify_says_what_it_needs(monkeypatch, capsys):
    monkeypatch.setenv("PATH", "")
    assert verify_data.main([]) == 1
    assert "nvidia-smi: not found" in capsys.readouterr().err
