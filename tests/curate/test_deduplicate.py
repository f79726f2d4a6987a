"""Duplicates, by program and by kernel, and rows from benchmarks."""

import random
import re
from pathlib import Path

import numpy as np
import pytest
from curation_steps import deduplicate, lines, put
from other_sets import SCALE, robust_kbench
from test_select import TASKS, bundled, reasons, row

from cuset_stage.curate.contamination import COMMON, Benchmarks
from cuset_stage.curate.fingerprints import Sketches, fingerprints_of, jaccard, minhash, module_fingerprint
from cuset_stage.curate.split import split_row


def found_in(folder: Path) -> dict[str, str]:
    return {each["id"]: each["method"] for each in lines(folder / "deduplicate" / "contamination.jsonl")}


KERNEL = """__global__ void k(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int j = 0; j < 8; ++j) sum += x[i * 8 + j] * x[i * 8 + j];
    float mean = sum / 8.0f;
    if (i < n) y[i] = rsqrtf(mean + 1e-6f) * x[i] + sum;
}
"""


def kernels(tmp_path, *sources: str) -> Path:
    """The rows that `split` makes of files."""
    given = [{"id": f"t:{i}.cu", "code": code, "source": {"name": "t"}} for i, code in enumerate(sources)]
    made = [each for one in given for each in split_row(one)]
    return put(tmp_path / "rows.jsonl", made)


def test_of_kernels_that_are_alike_the_first_stays_whatever_is_around_them(tmp_path):
    near = KERNEL.replace("rsqrtf(mean + 1e-6f) * x[i]", "x[i] * rsqrtf(mean + 1e-5f)").replace("+=", "= sum +")
    other = KERNEL.replace("rsqrtf(mean + 1e-6f) * x[i] + sum", "expf(x[i] - mean)").replace("* x[i * 8 + j]", "")
    path = kernels(tmp_path, KERNEL, f'#include <cstdio>\n{near}\nint main() {{ puts("hello"); }}', other)
    deduplicate(tmp_path, path)
    assert reasons(tmp_path, "deduplicate") == {"t:1.cu:k": "duplicate_near"}
    assert deduplicate(tmp_path, path, near=1.0).kept == 3
    # Answers to tasks are not compared before they are proved: a wrong one may be near a right one.
    rows = [row("wrong", KERNEL.replace("1e-6f", "1e-1f")), row("right", KERNEL)]
    assert deduplicate(tmp_path, put(tmp_path / "rows.jsonl", rows)).kept == 2


# Among all of them three count something with the same kernel under another name.
@pytest.mark.parametrize(("every", "near"), [(4, 0.85), pytest.param(1, 1.0, marks=pytest.mark.slow)])
def test_kernels_of_distinct_programs_are_not_taken_for_duplicates(tmp_path, every, near):
    programs = [bundled(index)[1] for index in range(0, len(TASKS), every)]
    summary = deduplicate(tmp_path, kernels(tmp_path, *programs), near=near)
    assert summary.kept == summary.read >= len(programs), reasons(tmp_path, "deduplicate")


def test_the_minhash_estimate_agrees_with_the_exact_similarity():
    words = [f"w{i}" for i in range(400)]
    for share in (0.5, 0.7, 0.9):
        common = int(800 * share / (1 + share))  # |A and B| of two sets of 400 with this Jaccard similarity
        one = minhash(words)
        two = minhash([*words[:common], *(f"x{i}" for i in range(400 - common))])
        assert abs(jaccard(one, two) - share) < 0.13  # three standard errors at 128 permutations


def test_near_rows_are_found_as_by_comparing_all_with_all(tmp_path):
    chance, threshold = random.Random(0), 0.8
    sketches, made = Sketches(threshold, tmp_path), []
    for number in range(5000):  # more than are written at a time
        base = [f"{number // 4}.{i}" for i in range(40)]
        own = [f"{number}-{i}" for i in range(chance.randrange(0, 4))]
        made.append(minhash([*base[chance.randrange(0, 12) :], *own]))
        sketches.append(made[-1] if number % 7 else None)
    like, how = sketches.duplicates(np.arange(5000))
    stacked = np.stack(made)
    for number in range(4096 - 60, 4096 + 60):
        similarity = (stacked[:number] == stacked[number]).mean(axis=1)
        if like[number] >= 0:
            assert number % 7 and similarity[like[number]] == how[number] >= threshold
        elif number % 7:
            left = like[:number] < 0
            left[::7] = False
            assert not (similarity[left] >= threshold).any(), number
    assert 1000 < (like >= 0).sum() < 4000
    groups = np.arange(5000, dtype=np.uint64)
    assert (sketches.duplicates(np.arange(5000), groups)[0] < 0).all()
    backwards = sketches.duplicates(np.arange(5000)[::-1])[0]
    assert (backwards[like < 0] >= 0).any() and all(backwards[i] > i for i in np.flatnonzero(backwards >= 0))


def benchmark(path: Path, name: str, solution: str, prompt: str) -> Path:
    tensor = {"dtype": "float32", "shape": [4]}
    record = {"id": name, "prompt": prompt, "inputs": [{"name": "x", **tensor}], "outputs": [{"name": "y", **tensor}]}
    return put(path, [{**record, "reference": "pass", "solution": solution}])


def test_rows_from_a_benchmark_are_removed_and_reported(tmp_path):
    name, program, prompt = bundled("alibi_causal_weights")
    _, unrelated, other_prompt = bundled("anti_transpose_int64")
    kernel = max(re.findall(r"__global__.*?\n}\n", program, re.DOTALL), key=len)
    around = "".join(f"static int helper{i}(int a) {{ return a * {i} + a % 7; }}\n" for i in range(150))
    rows = [
        row("same", program),
        row("commented", f"// ours\n{program}"),
        row("kernel", around + kernel + "int main() { return 0; }\n"),
        row("prompt", unrelated, prompt=prompt.upper()),
        row("clean", unrelated, prompt=other_prompt),
    ]
    against = {"mini": benchmark(tmp_path / "bench.jsonl", name, program, prompt)}
    summary = deduplicate(tmp_path, put(tmp_path / "rows.jsonl", rows), against=against)
    assert summary.kept == 1
    assert found_in(tmp_path) == {"same": "program", "commented": "program", "kernel": "kernel", "prompt": "prompt"}
    found = lines(tmp_path / "deduplicate" / "contamination.jsonl")
    assert all(each["benchmark"] == "mini" and each["task"] == name for each in found)


@pytest.mark.parametrize("name", re.findall(r"__global__ void (\w+)", COMMON.read_text()))
def test_a_kernel_of_every_course_is_nobodys_copy_unless_its_prompt_is(tmp_path, name):
    kernel = re.search(rf"__global__ void {name}\(.*?\n}}\n", COMMON.read_text(), re.DOTALL)[0]
    prompt = f"Read the file, apply {name} to what is in it on the GPU, and write what comes of it to another."
    bench = benchmark(tmp_path / "bench.jsonl", name, f"{kernel}int main() {{ return 0; }}", prompt)
    found = Benchmarks({"mini": bench})
    double = kernel.replace("float", "double").replace("i < n", "n > i")
    rows = row("a", f"{double}int main() {{ return 1; }}"), row("b", double, prompt)
    kernel_alone, with_prompt = (found.find({**each, "fingerprints": fingerprints_of(each)}) for each in rows)
    assert kernel_alone is None and with_prompt.method == "prompt"


MODULE = '''import torch
import torch.nn as nn


class Model(nn.Module):
    """
    Sums what an activation makes of whatever tensor it is given.
    """

    def __init__(self, dim: int):
        super(Model, self).__init__()
        self.dim = dim  # of the input

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """
        Applies the activation, element by element, and returns the sums of rows.
        """
        return torch.sum(torch.relu(x), dim=1) // self.dim


batch_size = 16
dim = 16384


def get_inputs():
    return [torch.randn(batch_size, dim)]


def get_init_inputs():
    return [dim]
'''


def module(identity: str, code: str, **more) -> dict:
    return row(identity, "", kind="module", module_code=code, answer_code="", **more)


def test_a_benchmarks_module_is_found_without_its_prose_with_other_sizes_and_by_its_name(tmp_path):
    level = tmp_path / "KernelBench" / "level1"
    level.mkdir(parents=True)
    (level / "19_ReLU.py").write_text(MODULE, encoding="utf-8")
    bare = re.sub(r'"""[^"]*"""\n', "", MODULE).replace(": torch.Tensor", "").replace("  # of the input", "")
    solved = "torch.linalg.solve(x @ x.mT, x).flatten(1).cumsum(1)"
    other = bare.replace("torch.sum(torch.relu(x), dim=1) // self.dim", solved)
    other = other.replace("torch.randn(batch_size, dim)", "torch.rand([4, 4]), torch.rand([4, 4])")
    sizes = bare.replace("16384", "2048").replace("16\n", "64\n")
    rows = [module("bare", bare), module("sizes", sizes), module("other", other)]
    rows.append(module("named", other.replace("4", "5"), description="19_ReLU"))
    # As robust-kbench names its folders; its reference holds the set's module as a text, and compared is that module.
    rows.append(module("numbered", other.replace("4", "6"), family="kernelbench_level_1_task_19"))
    rows.append(module("robust", SCALE.replace("forward_fn(x", "forward_fn( x")))
    benchmarks = {"kernelbench": tmp_path / "KernelBench", "robust": robust_kbench(tmp_path / "robust")}
    deduplicate(tmp_path, put(tmp_path / "rows.jsonl", rows), near=1.0, against=benchmarks)
    by_module = dict.fromkeys(("bare", "sizes", "robust"), "module")
    assert found_in(tmp_path) == {**by_module, "named": "name", "numbered": "name"}


def test_a_module_is_known_by_other_names_and_another_operator_is_another_module():
    renamed = re.sub(r"\bx\b", "inp", MODULE).replace("batch_size", "how_many")
    sizes = MODULE.replace("randn", "rand").replace("16384", "4096 * 2")  # another version of a benchmark
    sources = (MODULE, renamed, MODULE.replace("relu", "sigmoid"), MODULE.replace("16384", "8"), sizes)
    exact, unnamed, computed, _ = zip(*map(module_fingerprint, sources), strict=True)
    assert unnamed[0] == unnamed[1] and exact[0] != exact[1] and len(set(unnamed[:4])) == 3
    assert computed[0] == computed[3] == computed[4] and len(set(computed)) == 3
    divided = [module_fingerprint(f"def get(x):\n    return x // {number}\n") for number in (2, 4)]
    assert divided[0][0] != divided[1][0]  # to C++, what follows // is a comment
    # Deeper than Python unparses.
    deep = [module_fingerprint(f"class A:\n    x = {'-' * 400}{number}\n") for number in (1, 2)]
    assert deep[0][0] != deep[1][0]
