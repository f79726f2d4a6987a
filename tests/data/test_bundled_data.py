"""The bundled kernels: their format, their NumPy references on every case, and that every program has passed on a GPU as it stands.

Running the programs needs a GPU and is `python scripts/verify_data.py`; its record in benchmarks/ holds the SHA-256 of what it ran.
So nvcc compiles here only the programs that the record does not have, and, in the slow tier, the held-out ones; without nvcc these
tests are skipped, except in CI. References run likewise, a tenth of those in the record outside the slow tier.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import runpy
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import yaml
from host_programs import HOST_FLAGS

from cuset_stage import bundled
from cuset_stage.sandbox import Compiler, Limits
from cuset_stage.tasks import load_tasks as load_task_set
from cuset_stage.tasks.base import TaskError
from cuset_stage.tasks.native import read_folder


ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "data"
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


sys.path.insert(0, str(ROOT / "scripts"))
import build_data  # noqa: E402 - scripts are no package
import data_references  # noqa: E402
import data_tasks  # noqa: E402
import verify_data  # noqa: E402


TASKS = {task.name: task for task in data_tasks.load_tasks()}
ROWS = json.loads((bundled.data() / "cuset_kernels_hard.json").read_text(encoding="utf-8"))
TASK_FILES = {"train": "cuset_train_tasks.jsonl", "eval": "cuset_mini.jsonl"}
PROGRAMS = [(name, program) for name, task in sorted(TASKS.items()) for program in task.programs]
RECORD = json.loads((ROOT / "benchmarks" / "bundled_kernels_h200.json").read_text(encoding="utf-8"))
VERIFIED = {(result["name"], result["program"]): result for result in RECORD["tasks"]}


def is_verified(name: str, program: str) -> bool:
    """Whether the record has this program with the bytes of today."""
    return VERIFIED.get((name, program), {}).get("sha256") == TASKS[name].sha256(program)


def test_the_data_of_the_study_are_frozen() -> None:
    rounds = yaml.safe_load((ROOT / "benchmarks" / "data_rounds.yaml").read_text(encoding="utf-8"))
    built = {name: hashlib.sha256((bundled.data() / name).read_bytes()).hexdigest() for name in rounds[3]["frozen"]}
    assert built == rounds[3]["frozen"]


COMPILED = [key for key in PROGRAMS if TASKS[key[0]].split == "eval" or not is_verified(*key)]


def fenced_block(response: str) -> str:
    """The one fenced block of a response."""
    blocks = FENCE.findall(response)
    assert len(blocks) == 1
    assert response.count("```") == 2
    language, code = blocks[0]
    assert language in ("cpp", "cuda")
    return code


# ----------------------------------------------------------------------------------------------------- built files


@pytest.fixture(scope="module")
def built():
    return build_data.build()


def test_the_package_names_what_is_built_and_dataset_info_the_rows(built):
    assert set(built) == set(bundled.BUILT)
    info = json.loads((DATA / "dataset_info.json").read_text(encoding="utf-8"))
    assert {entry["file_name"] for entry in info.values()} == {
        name for name in bundled.BUILT if name.endswith(".json")
    }
    for name, entry in info.items():
        assert entry["file_name"] == f"{name}.json"
        assert entry["columns"] == {
            "prompt": "instruction",
            "query": "input",
            "response": "output",
            "system": "system",
        }


def test_rows_are_alpaca_and_every_wording_of_a_training_task_is_one():
    for row in ROWS:
        assert list(row) == ["system", "instruction", "input", "output", "name", "family", "wording"]
        assert all(isinstance(value, str) for value in row.values())
        assert row["instruction"] and row["output"] and not row["input"] and not row["system"]
    tasks = [task for task in TASKS.values() if task.split == "train"]
    keys = [(row["name"], row["wording"]) for row in ROWS]
    assert sorted(keys) == sorted((task.name, wording) for task in tasks for wording in data_tasks.WORDINGS)
    assert len({row["instruction"] for row in ROWS}) == len(ROWS)


def test_both_programs_of_a_task_are_answers_and_the_detailed_wording_asks_for_kernel_cu():
    answers: dict[str, dict[str, str]] = {}
    for row in ROWS:
        answers.setdefault(row["name"], {})[row["wording"]] = fenced_block(row["output"]).strip()
    simple_for = []
    for name, by_wording in answers.items():
        programs = TASKS[name].programs
        assert set(by_wording.values()) == set(programs.values())
        assert by_wording["detailed"] == programs["kernel.cu"]
        simple_for += [key for key, code in by_wording.items() if code == programs.get("simple.cu")]
    assert min(simple_for.count("bare"), simple_for.count("prompt")) * 3 >= len(simple_for)


def test_families_are_held_out_and_in_the_first_rows():
    families = {split: {task.family for task in TASKS.values() if task.split == split} for split in data_tasks.SPLITS}
    assert families["train"] - families["eval"] == {"matrix product", "transpose", "sparse"}
    assert families["train"] == set(build_data.FAMILIES)
    assert len({row["name"] for row in ROWS}) >= 302
    assert sum(len(task.programs) > 1 for task in TASKS.values()) >= 140
    assert len({row["family"] for row in ROWS[:100]}) > len(families["train"]) // 2  # max_samples: 100


@pytest.mark.parametrize("split", data_tasks.SPLITS)
def test_the_task_files_are_what_the_judge_reads_from_the_folders(split):
    tasks = [task for task in load_task_set(DATA / TASK_FILES[split]).tasks if (DATA / "kernels" / task.id).is_dir()]
    folders = {task.id: task for task in read_folder(DATA / "kernels")[0] if task.split == split}
    assert sorted(task.id for task in tasks) == sorted(folders)
    for task in tasks:
        assert task.fingerprint == folders[task.id].fingerprint  # the same cases and references
        assert task.solution == folders[task.id].solution
        assert task.alternative == folders[task.id].alternative
        assert task.prompts == {level: text.strip() for level, text in folders[task.id].prompts.items()}
        assert task.prompts == dict(
            enumerate((TASKS[task.id].wordings[key] for key in ("prompt", "bare", "detailed")), 1)
        )


def test_no_sentence_is_in_every_prompt():
    # A fixed phrase would be learnt by heart; the contract is in every prompt in other words.
    sentences = [set(re.split(r"(?<=[.:])\s+", text)) for task in TASKS.values() for text in task.wordings.values()]
    common = [s for s in set.union(*sentences) if sum(s in other for other in sentences) > len(sentences) // 4]
    assert [s for s in common if len(s) > 25] == []


# -------------------------------------------------------------------------------------------------------- one task


def test_every_wording_states_the_tolerance_and_no_size_of_a_case():
    for name, task in TASKS.items():
        tolerances = {value for pair in data_references.load_reference(task)["TOLERANCE"].values() for value in pair}
        # A program for the sizes of the cases alone is no answer; round sizes are in prompts as block sizes and the like.
        entries = {case.parameters[size] for case in task.program.cases for size in task.sizes}
        limits = {limit for pair in task.sizes.values() for limit in pair}
        sizes = {entry for entry in entries - limits if entry > 99 and entry & (entry - 1)}
        for wording, text in task.wordings.items():
            numbers = {float(number) for number in re.findall(r"\d+(?:\.\d+)?(?:e-?\d+)?", text)}
            assert "rtol" in text and "atol" in text, (name, wording)
            assert tolerances <= numbers, (name, wording)
            assert not sizes & numbers, (name, wording)


def test_every_wording_says_that_a_cuda_program_is_wanted():
    # There is no system message. The detailed wording may say it by its scheme: threads, blocks, launches.
    for name, task in TASKS.items():
        for wording, text in task.wordings.items():
            scheme = r"|thread|warp|\bblock|launch" if wording == "detailed" else ""
            assert re.search(rf"cuda|gpu|nvcc{scheme}", text, re.IGNORECASE), (name, wording)


def test_the_wordings_go_from_bare_to_detailed():
    for name, task in TASKS.items():
        bare, prompt, detailed = (len(task.wordings[wording]) for wording in data_tasks.WORDINGS)
        assert bare < prompt and bare < detailed, name


def test_responses_are_whole_programs():
    for row in ROWS:
        code = fenced_block(row["output"])
        for part in ("__global__", "<<<", "int main(", "cudaGetErrorString"):
            assert part in code, row["name"]
        assert max(map(len, code.splitlines())) <= 119, row["name"]
        # More than three characters a token (data/README.md): prompt and response together stay inside cutoff_len 4096.
        assert len(row["instruction"]) + len(row["output"]) < 12_000, row["name"]


SMALL = ("small", "odd")
LARGE = tuple(name for name in data_tasks.CASES if name not in SMALL)
# A task whose programs passed on a GPU has its reference in the record: of these, every tenth is enough outside the slow tier.
REFERENCES = {*sorted(TASKS)[::10], *(name for name, program in PROGRAMS if not is_verified(name, program))}


@pytest.mark.parametrize(
    ("name", "cases"),
    [
        pytest.param(name, cases, id=f"{cases[0]}-{name}", marks=[pytest.mark.slow] * (not is_quick))
        for name in sorted(TASKS)
        for cases, is_quick in ((SMALL, name in REFERENCES), (LARGE, False))
    ],
)
def test_references_run_and_tell_right_from_wrong(name, cases):
    task = TASKS[name]
    reference = data_references.load_reference(task)
    chosen = [case for case in task.program.cases if case.name in cases]
    assert len(chosen) == len(cases)
    for case in chosen:
        data_references.check_case(task, case, reference)


def test_cases_are_of_different_kinds():
    for name, task in TASKS.items():
        cases = {case.name: [case.parameters[size] for size in task.sizes] for case in task.program.cases}
        assert all(size & (size - 1) == 0 for size in cases["power_of_two"]), name
        assert sum(size % 2 for size in cases["odd"]) * 2 > len(cases["odd"]), name
        work = {case: math.prod(sizes) for case, sizes in cases.items()}
        assert work["small"] == min(work.values()), name
        assert work["large"] == max(work.values()), name


def test_philox_reference_has_the_published_answer():
    path = DATA / "kernels" / "philox_box_muller" / "reference.py"
    philox4x32 = runpy.run_path(str(path))["philox4x32"]
    # Known answers of Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (Random123, philox4x32-10).
    zeros = philox4x32(np.zeros((1, 4), dtype=np.uint32), (0, 0))
    assert zeros.tolist() == [[0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]]
    ones = philox4x32(np.full((1, 4), 2**32 - 1, dtype=np.uint32), (2**32 - 1, 2**32 - 1))
    assert ones.tolist() == [[0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]]


def test_the_audit_of_every_task_is_clean_and_of_the_task_as_it_stands():
    lines = [json.loads(line) for line in (ROOT / "benchmarks" / "audit_kernels.jsonl").read_text().splitlines()]
    audits = {audit["task"]: audit for audit in lines[1:]}
    tasks = {task.id: task.fingerprint for task in load_task_set(DATA / "kernels").tasks}
    stale = sorted(name for name in tasks if audits.get(name, {}).get("fingerprint") != tasks[name])
    command = "cuset audit-tasks data/kernels output=benchmarks/audit_kernels.jsonl strict=true"
    assert not stale and audits.keys() == tasks.keys(), f"audit the tasks anew: {command}: {', '.join(stale)}"
    assert all(audit["complete"] and not audit["findings"] for audit in audits.values())


# --------------------------------------------------------------------------------------------- on a GPU, and compile


def test_every_program_has_passed_on_a_gpu_as_it_stands():
    stale = [f"{name}/{program}" for name, program in PROGRAMS if not is_verified(name, program)]
    command = "python scripts/verify_data.py --json benchmarks/bundled_kernels_h200.json"
    assert not stale, f"not in the record, or changed since; on a machine with a GPU: {command}: {', '.join(stale)}"
    assert VERIFIED.keys() == set(PROGRAMS)
    assert RECORD["passed"] == RECORD["total"] == len(PROGRAMS)
    assert RECORD["repeats"] >= 2
    card = (DATA / "README.md").read_text(encoding="utf-8")
    machine = f"{RECORD['gpu']} ({RECORD['arch']}), driver {RECORD['driver']}"
    assert machine in card and f"nvcc {RECORD['nvcc']}" in card, "the data card names another machine than the record"
    for key, result in VERIFIED.items():
        assert result["verdict"] == "passed", key
        assert [case["name"] for case in result["cases"]] == list(data_tasks.CASES), key
        assert all(len(case["run_s"]) == RECORD["repeats"] for case in result["cases"]), key


@pytest.fixture(scope="module")
def compiled(tmp_path_factory, request) -> dict[str, subprocess.CompletedProcess]:
    """nvcc's answer for the responses that are compiled here."""
    if shutil.which("nvcc") is None:
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail("nvcc is not in PATH; CI has to compile the bundled kernels")
        pytest.skip("nvcc is not in PATH: install the CUDA toolkit to compile the bundled kernels")
    folder = tmp_path_factory.mktemp("responses")

    def compile_one(key: tuple[str, str]) -> subprocess.CompletedProcess:
        name, program = key
        source = folder / f"{name}_{program}"
        source.write_text(fenced_block(TASKS[name].response(program)), encoding="utf-8")
        command = ["nvcc", "-arch=sm_80", "-std=c++17", "-O1", "-c", str(source), "-o", str(source.with_suffix(".o"))]
        return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        wanted = [
            (item.callspec.params["name"], item.callspec.params["program"])
            for item in request.session.items
            if item.name.startswith("test_response_compiles")
        ]
        return dict(zip(wanted, pool.map(compile_one, wanted), strict=True))


@pytest.mark.parametrize(
    ("name", "program"), [pytest.param(*key, marks=[pytest.mark.slow] * is_verified(*key)) for key in COMPILED]
)
def test_response_compiles(compiled, name, program):
    result = compiled[name, program]
    assert result.returncode == 0, result.stderr
    assert "warning" not in result.stderr, result.stderr


# ---------------------------------------------------------------------------------------------------- bad folders


@pytest.fixture
def folder(tmp_path) -> Path:
    return Path(shutil.copytree(DATA / "kernels" / "transpose_padded", tmp_path / "transpose_padded"))


def change_case(index, **parameters):
    """A change of task.json: the parameters of one case are replaced."""

    def change(meta):
        meta["cases"][index]["parameters"] |= parameters

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda meta: meta.update(family="sorting"), r"task\.json: family: 'sorting', allowed: element-wise"),
        (lambda meta: meta.update(split="test"), r"task\.json: split: 'test', allowed: train, eval"),
        (lambda meta: meta.update(idioms=[]), r"task\.json: idioms"),
        (lambda meta: meta.update(outputs=[]), r"task\.json: outputs: is empty"),
        (lambda meta: meta.update(author="me"), r"task\.json: keys are"),
        (lambda meta: meta["inputs"][1].update(dtype="float8"), r"inputs\[1\]\.dtype is 'float8'"),
        (lambda meta: meta["inputs"][1].update(shape=[2, 0]), r"inputs\[1\]\.shape: case power_of_two: 0 is 0"),
        (lambda meta: meta["inputs"][1].update(shape=["rows", "k"]), r"'k' is not defined"),
        (lambda meta: meta["inputs"][1].update(shape=["cols", "rows"]), r"bare\.md: matrix: no line names"),
        (lambda meta: meta["inputs"].pop(0), r"task\.json: inputs\[0\]: expected .*sizes"),
        (lambda meta: meta["sizes"].update(rows=[1, 30000]), r"bare\.md: sizes\.rows: the limit 30000 is not in"),
        (lambda meta: meta["sizes"].update(rows=[0, 8]), r"sizes\.rows: \[0, 8\], expected \[smallest, largest\]"),
        (lambda meta: meta.update(sizes={"cols": [1, 32768], "rows": [1, 32768]}), r"entries in order: cols, rows"),
        (lambda meta: meta["cases"].pop(), r"task\.json: cases: names are"),
        (change_case(2, rows=40000), r"cases\.small\.parameters\.rows: 40000, allowed: 1 to 32768"),
        (change_case(2, rows=512, cols=1024), r"cases\.small: sizes \(512, 1024\) are those of power_of_two"),
        (change_case(3, rows=5000), r"cases\.large: matrix: \d+ bytes, at most 16777216"),
    ],
)
def test_a_bad_task_names_file_and_key(folder, change, message):
    path = folder / "task.json"
    meta = json.loads(path.read_text())
    change(meta)
    path.write_text(json.dumps(meta))
    with pytest.raises(TaskError, match=message):
        data_tasks.load_task(folder)


def test_a_missing_or_fenced_file_is_refused(folder):
    intro = folder / "intro.md"
    intro.write_text("```\nint x;\n```\n")
    with pytest.raises(TaskError, match="a fenced block"):
        data_tasks.load_task(folder)
    for name in ("intro.md", "bare.md"):
        (folder / name).unlink()
        with pytest.raises(TaskError, match=rf"{name}: missing"):
            data_tasks.load_task(folder)
        (folder / name).write_text("A sentence.")


REFERENCE = """
import numpy as np
TOLERANCE = {"transposed": (0, 0)}
def make_inputs(rng, rows, cols, values="normal"):
    return {"sizes": np.array([rows, cols], dtype=np.int32), "matrix": (MATRIX).astype(np.float32)}
def reference(inputs):
    return {"transposed": np.ascontiguousarray(inputs["matrix"].T)}
"""


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ("np.zeros((rows, cols))", "zeros alone is within the tolerance"),
        ("np.zeros((rows, cols)) + rng.normal()", "its median alone is within the tolerance"),
        ("np.random.default_rng().normal(size=(rows, cols))", "differs from call to call"),
        ("rng.normal(size=(rows, cols)) / 0", "not finite"),
        ("rng.normal(size=(cols, rows))", r"matrix: float32 \(1024, 512\), task.json has float32 \(512, 1024\)"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_a_weak_reference_is_refused(folder, matrix, message):
    (folder / "reference.py").write_text(REFERENCE.replace("MATRIX", matrix))
    task = data_tasks.load_task(folder)
    with pytest.raises(TaskError, match=message):
        data_references.check_case(task, task.program.cases[0], data_references.load_reference(task))


# ---------------------------------------------------------------------------------------------------- the scripts


def test_pairs_are_kept_as_what_differs(built):
    kernels, rows = build_data.read_kernels(), (DATA / "pairs.jsonl").read_text(encoding="utf-8").splitlines()
    for short, whole in zip(rows, built["cuset_pairs.jsonl"].splitlines(), strict=True):
        pair = json.loads(whole)
        assert build_data.shortened(pair, kernels[pair["task"]]) == json.loads(short)


def test_a_checkout_builds_what_is_missing_and_nothing_that_is_current(built, tmp_path, monkeypatch):
    scripts = ("scripts/build_data.py", "scripts/row_names.py", "src/cuset_stage/bundled.py")
    for name in ("data/dataset_info.json", "data/pairs.jsonl", *scripts):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    for name in ("operations", "kernels"):
        shutil.copytree(DATA / name, tmp_path / "data" / name)
    monkeypatch.setattr(bundled, "folder", lambda: tmp_path)
    assert (
        bundled.found(Path("data/cuset_mini_2.jsonl")).is_file()
        or (tmp_path / "data" / "cuset_mini_2.jsonl").is_file()
    )
    for name in bundled.BUILT:
        assert (tmp_path / "data" / name).read_bytes() == (DATA / name).read_bytes()
    script = [sys.executable, str(tmp_path / "scripts" / "build_data.py")]
    assert subprocess.run(script, capture_output=True, text=True, check=True).stdout == ""
    (tmp_path / "data" / "operations" / "added.txt").touch()
    assert "built in" in subprocess.run(script, capture_output=True, text=True, check=True).stdout


def test_closeness_follows_the_contract():
    expected = np.array([0.0, 10.0], dtype=np.float32)
    assert data_references.is_close(np.array([0.5, 11.0], dtype=np.float32), expected, 0.1, 0.5)
    assert not data_references.is_close(np.array([0.5, 11.6], dtype=np.float32), expected, 0.1, 0.5)
    assert not data_references.is_close(np.array([np.nan, 10.0], dtype=np.float32), expected, 0.1, 0.5)
    big = np.array([2**62], dtype=np.int64)
    assert not data_references.is_close(big + 1, big, 0, 0)  # the same number in float64


# transpose_padded on the CPU, so that the verification can be tested without a GPU. FAULT is one of the faults below.
PROGRAM = """
// __global__ <<< kernel-free
#include <cstdio>
#include <ctime>
#include <vector>
int main() {
    int sizes[2];
    FILE* file = fopen("data/sizes.bin", "rb");
    if (!file || fread(sizes, 4, 2, file) != 2) return 1;
    const int rows = sizes[0], cols = sizes[1];
    std::vector<float> in((size_t)rows * cols), out((size_t)rows * cols);
    file = fopen("data/matrix.bin", "rb");
    if (!file || fread(in.data(), 4, in.size(), file) != in.size()) return 1;
    for (int r = 0; r < rows; ++r) {
        for (int c = 0; c < cols; ++c) out[(size_t)c * rows + r] = in[(size_t)r * cols + c];
    }
    FAULT
    file = fopen("data/transposed.bin", "wb");
    return file && fwrite(out.data(), 4, out.size(), file) == out.size() && fclose(file) == 0 ? 0 : 1;
}
"""


@pytest.fixture(scope="module")
def known() -> dict:
    """What was found of kernel.cu, which is the same in every case below."""
    return {}


@pytest.mark.parametrize(
    ("fault", "verdict", "cases"),
    [
        ("", "passed", 5),
        ("if (rows == 7) return 3;", "runtime_error", 3),
        ("if (rows == 1) out[0] = 1.0f;", "mismatch", 5),
        ("while (cols == 811) {}", "timeout", 2),
        ("not C++", "compile_error", 0),
    ],
)
def test_verify_judges_every_case(folder, tmp_path, known, fault, verdict, cases):
    if shutil.which("nvcc") is None:
        pytest.skip("nvcc is not in PATH")
    (folder / "kernel.cu").write_text(PROGRAM.replace("FAULT", ""))
    (folder / "simple.cu").write_text(PROGRAM.replace("FAULT", fault))
    task = data_tasks.load_task(folder)
    work = tmp_path / "work"
    work.mkdir()
    compiler = Compiler(arch="sm_90", flags=HOST_FLAGS, cache=tmp_path / "programs")
    verifier = verify_data.Verifier(compiler, work, limits=Limits(wall_s=3.0))
    fast, result = verify_data.verify_tasks([task], verifier, 1, known)
    known[task.name, "kernel.cu"] = fast
    assert (fast["program"], fast["verdict"], result["program"]) == ("kernel.cu", "passed", "simple.cu")
    assert result["verdict"] == verdict, result
    assert len(result["cases"]) == cases
    assert list(result["sha256"]) == ["task.json", "simple.cu", "reference.py"]
    for name, sha256 in result["sha256"].items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == sha256
    good = result["cases"][:-1] if result["detail"] else result["cases"]
    for case in good:
        assert len(case["run_s"]) == 2
        assert case["identical_runs"]
        assert case["max_abs_error"] == 0.0
    assert len({case["inputs_sha256"] for case in good}) == len(good)


def test_verify_says_what_it_needs(monkeypatch, capsys):
    monkeypatch.setattr("cuset_stage.sandbox.gpus.nvml", lambda: None)
    assert verify_data.main([]) == 1
    assert "no NVIDIA GPU here" in capsys.readouterr().err
