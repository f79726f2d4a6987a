"""Selection: duplicates of three kinds, benchmarks, ConCuR's rule, ranking, balance."""

import json
import random
import re
import tracemalloc
from collections.abc import Iterable
from dataclasses import replace
from math import nan
from pathlib import Path

import pandas as pd
import pytest
from curation_steps import export, select
from curation_tree import PROGRAM
from other_sets import SCALE, robust_kbench

from cuset_stage.curate.adapt import adapt_row
from cuset_stage.curate.ranking import beyond_balance, concur, speeds, worse_answers
from cuset_stage.curate.settings import SelectSettings
from cuset_stage.curate.similarity import NearIndex, Print, code_print, jaccard
from cuset_stage.settings import SettingsError


ROOT = Path(__file__).parents[2]
TASKS = sorted(
    path for path in (ROOT / "data" / "kernels").glob("*/kernel.cu") if path.with_name("prompt.md").is_file()
)


def bundled(index: int) -> tuple[str, str, str]:
    folder = TASKS[index].parent
    return (
        folder.name,
        (folder / "kernel.cu").read_text(encoding="utf-8"),
        (folder / "prompt.md").read_text(encoding="utf-8"),
    )


def row(identity: str, program: str, prompt: str = "", **more) -> dict:
    return {
        "id": identity,
        "kind": "program",
        "program": program,
        "task": {"id": identity, "prompt": prompt or identity},
        **more,
    } | {"source": {"name": "test", "licence": "MIT"}}


def write_rows(path: Path, rows: Iterable[dict]) -> Path:
    path.write_text(
        "".join(json.dumps({"key": f"{i:032x}", **each}) + "\n" for i, each in enumerate(rows)), encoding="utf-8"
    )
    return path


def reasons(folder: Path) -> dict[str, str]:
    text = (folder / "select" / "dropped.jsonl").read_text(encoding="utf-8")
    return {each["id"]: each["reason"] for each in map(json.loads, text.splitlines())}


ORIGINAL = PROGRAM % {"expression": "x * x"}


def renamed(program: str) -> str:
    """Every name the program chose gets another one; layout and comments change, too."""
    text = re.sub(r"//[^\n]*", "", program)
    text = re.sub(r"(?<![/.])\b(value|apply|bytes|devices|dx|dy|in|out)\b(?!\.)", r"other_\1", text)
    return re.sub(r"\n\s*", "\n ", text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("log2f(x)", "log10f(x)"),
        ("asinf(x)", "acosf(x)"),
        ("cg::reduce(w, x, cg::plus<float>())", "cg::reduce(w, x, cg::greater<float>())"),
        ("cub::Min()(x, x)", "cub::Max()(x, x)"),
        ("t.shfl_up(x, 1)", "t.shfl_down(x, 1)"),
        ("curand_uniform(s)", "curand_normal(s)"),
    ],
)
def test_another_function_of_a_library_makes_another_program(tmp_path, one, other):
    programs = [PROGRAM % {"expression": expression} for expression in (one, other)]
    path = write_rows(tmp_path / "rows.jsonl", [row(f"t:{i}", program) for i, program in enumerate(programs)])
    assert select(tmp_path, path).kept == 2


@pytest.mark.parametrize(("one", "other"), [("torch.relu(x)", "torch.tanh(x)"), ("F.elu(x)", "F.gelu(x)")])
def test_another_operator_of_torch_makes_another_answer(one, other):
    source = "import torch\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return scale(%s, 2)\n"
    assert code_print(source % one).normalised != code_print(source % other).normalised
    assert code_print(source % one).normalised == code_print(source.replace("scale", "times") % one).normalised


def test_kernels_that_came_in_answers_are_compared_by_their_code(tmp_path):
    kernel = "__global__ void k(const float* x, float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = %s; }"
    tensor = {"name": "x", "dtype": "float32", "shape": [4]}
    task = {"inputs": [tensor], "outputs": [{**tensor, "name": "y"}], "reference": "pass"}
    given = []
    for index, (before, value) in enumerate([("Here", "x[i] + 1"), ("Here", "x[i] * x[i]"), ("Another", "x[i] + 1")]):
        answer = f"{before} it is:\n```cuda\n{kernel % value}\n```\n"
        adapted = adapt_row(
            {"id": f"t:{index}", "prompt": f"Number {index}", "answer": answer, "source": {"name": "t"}, **task}
        )
        assert adapted.row["program"].strip() == kernel % value
        given.append(adapted.row)
    assert select(tmp_path, write_rows(tmp_path / "rows.jsonl", given)).reasons == {"duplicate_exact": 1}


def test_names_of_a_program_in_its_own_scope_are_still_its_own():
    one, other = ("namespace a { int f(int x) { return x; } } int g() { return a::f(1); }",) * 2
    other = other.replace("a::f", "b::h").replace("namespace a", "namespace b").replace("f(int", "h(int")
    assert code_print(one).normalised == code_print(other).normalised


QUESTION = "import torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return %s\n"


@pytest.mark.parametrize("kind", ["module", None])
def test_tasks_without_an_answer_are_known_by_what_they_ask(tmp_path, kind):
    """Of KernelBook, say: its rows have a module and no CUDA. As `adapt` leaves them, and as `import` does."""
    given = [QUESTION % "torch.relu(x)", QUESTION % "torch.tanh(x)", "# a copy\n" + QUESTION % "torch.relu(x)"]
    rows = [
        {
            "id": f"t:{i}",
            "module_code": each,
            "source": {"name": "t"},
            **({"kind": kind, "answer_code": None} if kind else {}),
        }
        for i, each in enumerate(given)
    ]
    path = write_rows(tmp_path / "rows.jsonl", rows)
    benchmark = tmp_path / "KernelBench" / "level1"
    benchmark.mkdir(parents=True)
    ends = "def get_inputs():\n    return []\ndef get_init_inputs():\n    return []\n"
    (benchmark / "22_Tanh.py").write_text(given[1] + ends, encoding="utf-8")
    assert select(tmp_path / "a", path).reasons == {"duplicate_exact": 1}
    held = select(tmp_path / "b", path, against={"kernelbench": benchmark.parent})
    assert "contaminated" in held.reasons


COPIES = {
    "duplicate_exact": lambda program: f"// a copy\n{program.replace(chr(10), chr(10) + ' ')}",
    "duplicate_normalised": renamed,
    "duplicate_near": lambda program: program.replace("int devices", "std::fflush(stdout);\n    int devices", 1),
}


@pytest.mark.parametrize("kind", COPIES)
def test_a_copy_is_found_behind_comments_names_and_edits(tmp_path, kind):
    copy = COPIES[kind](ORIGINAL)
    assert copy != ORIGINAL
    rows = [row("original", ORIGINAL), row("copy", copy), row("other", bundled(1)[1])]
    summary = select(tmp_path, write_rows(tmp_path / "rows.jsonl", rows))
    assert summary.kept == 2 and list(reasons(tmp_path).values()) == [kind] and "other" not in reasons(tmp_path)
    assert select(tmp_path, tmp_path / "rows.jsonl", near=1.0).kept == (3 if kind == "duplicate_near" else 2)


def test_distinct_programs_are_not_taken_for_duplicates(tmp_path):
    rows = [row(*bundled(index)) for index in range(len(TASKS))]
    summary = select(tmp_path, write_rows(tmp_path / "rows.jsonl", rows))
    assert summary.kept == len(rows), reasons(tmp_path)


def test_the_minhash_estimate_agrees_with_the_exact_similarity():
    words = [f"w{i}" for i in range(400)]
    from cuset_stage.curate.similarity import _minhash

    for share in (0.5, 0.7, 0.9):
        common = int(800 * share / (1 + share))  # |A and B| of two sets of 400 with this Jaccard similarity
        one = _minhash(words)
        two = _minhash([*words[:common], *(f"x{i}" for i in range(400 - common))])
        assert abs(jaccard(one, two) - share) < 0.13  # three standard errors at 128 permutations
    whole, alike, other = (
        Print("", "", _minhash(each), short="0" * 16)
        for each in (words, [*words[:390], "x"], [f"y{i}" for i in range(400)])
    )
    index = NearIndex(0.5, 9)
    index.add(whole)
    assert index.candidates(alike) == [0] and not index.candidates(other)
    assert not index.candidates(replace(alike, short="1" * 16))  # other short functions


def test_programs_around_other_kernels_are_not_candidates_of_each_other():
    """What they share are the reading and writing of files; each would be held against all others."""
    index, chance = NearIndex(0.7, 40), random.Random(0)
    host = "int main() { " + " ".join(f"read(files[{i}], sizes[{i}]);" for i in range(200)) + " }"
    for number in range(40):
        terms = (
            f"{chance.choice('+-*/')} {chance.choice(('x[i]', 'sinf(y[i])', '(', 'i % 3'))} {n}"
            for n in range(3 + 30 * (number % 2))
        )
        kernel = f"__global__ void k(float* x, float* y, int i) {{ y[i] = {number} {' '.join(terms)}; }}\n"
        found = code_print(kernel + host)
        assert bool(found.long) == bool(number % 2)
        assert not index.candidates(found)
        index.add(found)


def test_rows_from_a_benchmark_are_removed_and_reported(tmp_path):
    benchmark = tmp_path / "bench.jsonl"
    name, program, prompt = bundled(2)
    record = {
        "id": name,
        "prompt": prompt,
        "inputs": [{"name": "x", "dtype": "float32", "shape": [4]}],
        "outputs": [{"name": "y", "dtype": "float32", "shape": [4]}],
        "reference": "pass",
        "solution": program,
    }
    benchmark.write_text(json.dumps(record) + "\n", encoding="utf-8")
    _, unrelated, other_prompt = bundled(3)
    kernel = max(re.findall(r"__global__.*?\n}\n", program, re.DOTALL), key=len)
    around = "#include <cstdio>\n" + "".join(
        f"static int helper{i}(int a) {{ return a * {i} + a % 7; }}\n" for i in range(150)
    )
    rows = [
        row("exact", program),
        row("commented", f"// ours\n{program}"),
        row("kernel", around + kernel + "int main() { return 0; }\n"),
        row("prompt", unrelated, prompt=prompt.upper()),
        row("clean", unrelated, prompt=other_prompt),
    ]
    summary = select(tmp_path, write_rows(tmp_path / "rows.jsonl", rows), against={"mini": benchmark})
    found = [json.loads(line) for line in (tmp_path / "select" / "contamination.jsonl").read_text().splitlines()]
    methods = {each["id"]: each["method"] for each in found}
    assert summary.kept == 1 and set(methods) == {"exact", "commented", "kernel", "prompt"}
    assert methods["exact"] == "exact" and methods["kernel"] == "kernel" and methods["prompt"] == "prompt"
    assert all(each["benchmark"] == "mini" and each["task"] == name for each in found)
    report = json.loads((tmp_path / "select" / "selection.json").read_text())
    assert report["against"]["mini"]["tasks"] == 1 and sum(report["found_in_benchmarks"].values()) == 4


MODULE = '''import torch
import torch.nn as nn


class Model(nn.Module):
    """
    Simple model that performs a ReLU activation on whatever tensor it is given.
    """

    def __init__(self):
        super(Model, self).__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """
        Applies the activation, element by element, and returns a tensor of the same shape.
        """
        return torch.relu(x)  # nothing more


batch_size = 16
dim = 16384


def get_inputs():
    return [torch.randn(batch_size, dim)]


def get_init_inputs():
    return []  # none are needed
'''


def test_a_benchmarks_module_is_found_without_its_prose_with_other_sizes_and_by_its_name(tmp_path):
    level = tmp_path / "KernelBench" / "level1"
    level.mkdir(parents=True)
    (level / "19_ReLU.py").write_text(MODULE, encoding="utf-8")
    bare = re.sub(r'"""[^"]*"""\n', "", MODULE).replace(": torch.Tensor", "").replace("  # nothing more", "")
    other = bare.replace("torch.relu(x)", "torch.linalg.solve(x @ x.mT, x).flatten(1).cumsum(1)").replace(
        "torch.randn(batch_size, dim)", "torch.rand([4, 4]), torch.rand([4, 4])"
    )
    sources = {"bare": bare, "sizes": bare.replace("16384", "2048").replace("16\n", "64\n"), "other": other}
    rows = [row(name, "", kind="module", module_code=code, answer_code="") for name, code in sources.items()]
    rows.append(row("named", "", kind="module", module_code=other.replace("4", "5"), description="19_ReLU"))
    benchmarks = {"kernelbench": tmp_path / "KernelBench"}
    select(tmp_path, write_rows(tmp_path / "rows.jsonl", rows), near=1.0, against=benchmarks)
    found = [json.loads(line) for line in (tmp_path / "select" / "contamination.jsonl").read_text().splitlines()]
    assert {each["id"]: each["method"] for each in found} == {"bare": "module", "sizes": "module", "named": "name"}


def test_a_module_of_which_the_judge_makes_another_one_is_found(tmp_path):
    """robust-kbench's reference holds the set's module as a text; compared is that module."""
    rows = [row("same", "", kind="module", module_code=SCALE.replace("forward_fn(x", "forward_fn( x"), answer_code="")]
    benchmarks = {"robust": robust_kbench(tmp_path / "robust")}
    select(tmp_path, write_rows(tmp_path / "rows.jsonl", rows), near=1.0, against=benchmarks)
    (found,) = (tmp_path / "select" / "contamination.jsonl").read_text().splitlines()
    assert (json.loads(found)["id"], json.loads(found)["method"]) == ("same", "module")


def measured(seconds: float, **more) -> dict:
    """What `prove` says of a program whose case takes so long."""
    return {"verdict": "passed", "per_gpu": 1, "cases": [{"name": "large", "run_s": [seconds * 2, seconds]}], **more}


def answers(tmp_path, *given: dict) -> Path:
    """Rows of one task; each has a longer program than the one before."""
    rows = [
        row(f"r{i}", f"// {'x' * 3000 * i}\n{bundled(i)[1]}", prompt="Sort it.", **more)
        for i, more in enumerate(given)
    ]
    return write_rows(tmp_path / "rows.jsonl", rows)


@pytest.mark.parametrize("reward", ["kevin", "grpo"])
def test_of_programs_for_one_task_the_fastest_is_the_best(tmp_path, reward):
    path = answers(tmp_path, {"verified": measured(9.0)}, {"verified": measured(0.4)}, {"verified": measured(0.41)})
    summary = select(tmp_path, path, per_task=1, reward=reward)
    assert summary.kept == 1 and set(reasons(tmp_path)) == {"r0", "r2"}  # r2 differs by noise and is longer


@pytest.mark.parametrize(
    ("slow", "fast"),
    [
        ({"verified": measured(9.0)}, {"verified": measured(0.01, per_gpu=4)}),  # its time says nothing
        ({"verified": measured(0.01, per_gpu=4)}, {"verified": measured(9.0)}),  # nor is that against it
        ({"verified": measured(9.0, gpu="a")}, {"verified": measured(0.01, gpu="b")}),
        (
            {"verified": {"verdict": "compiled"}, "speedup": 1.0},
            {"verified": {"verdict": "compiled"}, "speedup": 99.0},
        ),
        ({"verified": measured(1.0)}, {"verified": measured(1.0), "speedup": 99.0}),
    ],
)
def test_what_was_not_measured_or_elsewhere_does_not_rank(tmp_path, slow, fast):
    select(tmp_path, answers(tmp_path, slow, fast), per_task=1)
    assert reasons(tmp_path) == {"r1": "not_among_best"}  # the longer one


def table(**lines: dict) -> pd.DataFrame:
    """What ranking takes; a line by its name."""
    empty = {
        "group": 0,
        "family": 0,
        "tokens": 100,
        "reasoning": nan,
        "speedup": nan,
        "run_s": nan,
        "bench": 0,
        "single": 0,
    }
    return pd.DataFrame.from_dict(
        {name: {**empty, "order": order, **line} for order, (name, line) in enumerate(lines.items())}, orient="index"
    )


def test_times_on_other_sizes_are_not_compared():
    found = speeds(table(a1={"run_s": 1.0}, a2={"run_s": 4.0}, b1={"run_s": 100.0, "bench": 1}, none={}))
    assert found.to_dict() == {"a1": 2.5, "a2": 0.6, "b1": 1.0, "none": 1.0}


def test_of_programs_that_are_alike_the_fastest_stays(tmp_path):
    rows = [
        row("slow", ORIGINAL, verified=measured(5.0)),
        row("quick", f"// long {'x' * 900}\n{ORIGINAL}", verified=measured(1.0)),
    ]
    select(tmp_path, write_rows(tmp_path / "rows.jsonl", rows))
    assert reasons(tmp_path) == {"slow": "duplicate_exact"}


def test_concurs_rule_leaves_rows_alone_that_have_no_measured_speed_up(tmp_path):
    thought = {"reasoning": "think " * 9}
    path = answers(
        tmp_path,
        {**thought, "verified": measured(9.0)},
        {**thought, "verified": measured(0.01), "speedup": 9.0},
        {"verified": measured(0.01)},
    )
    summary = select(tmp_path, path, concur=True)
    assert summary.kept == 3 and "leaves 2 rows with reasoning alone" in summary.notes[0]
    fast = {"verdict": "passed", "speedup": 2.0}
    path = answers(
        tmp_path,
        {"reasoning": "think " * 5, "verified": {**fast, "speedup": 0.5}, "speedup": 9.0},
        {**thought, "verified": fast},
    )
    summary = select(tmp_path, path, concur=True)
    assert summary.reasons == {"concur_rule": 2} and not summary.notes


def test_a_speed_up_under_a_flag_is_not_rewarded(tmp_path):
    fast = {"verdict": "passed", "speedup": 500.0, "module_flags": ["speed-up over 10x"]}
    rows = [{"verified": {"verdict": "passed", "speedup": 2.0, "module_flags": []}}, {"verified": fast}]
    summary = select(tmp_path, answers(tmp_path, *rows), per_task=1)
    assert summary.kept == 1
    (kept,) = map(json.loads, (tmp_path / "select" / "rows.jsonl").read_text(encoding="utf-8").splitlines())
    assert kept["verified"]["speedup"] == 2.0


def test_answers_to_one_prompt_are_answers_to_one_task(tmp_path):
    rows = [row(f"r{i}", bundled(i)[1], verified=measured(10.0 - i)) for i in range(3)]
    for each, prompt in zip(rows, ("Sort it.", "Sort it.", "Scan it."), strict=True):
        each["prompt"], each["task"]["prompt"] = prompt, f"{prompt}\n\nFiles of {each['id']}"
    summary = select(tmp_path, write_rows(tmp_path / "rows.jsonl", rows), per_task=1)
    assert summary.kept == 2 and reasons(tmp_path) == {"r0": "not_among_best"}


def test_concurs_rule_keeps_short_and_fast_very_fast_and_single_operators():
    def of(group, reasoning, speedup, single=False):
        return {"group": group, "reasoning": reasoning, "speedup": speedup, "single": single}

    answers = table(
        short_and_fast=of(1, 100, 2.0),
        long=of(1, 300, 1.5),
        short=of(2, 100, 1.0),
        fast=of(2, 200, 1.2),
        very_fast=of(2, 900, 6.0),
        single=of(3, 100, 0.5, single=True),
        single_fast=of(3, 200, 0.9, single=True),
        plain={"group": 2},
    )
    assert set(concur(answers)) == {"long", "short", "fast", "single_fast"}


def test_the_best_answers_to_a_task_are_kept_by_reward():
    answers = table(slow={"speedup": 0.5}, fast={"speedup": 2.0}, other={"group": 1})
    assert set(worse_answers(answers, 1, "kevin")) == set(worse_answers(answers, 1, "grpo")) == {"slow"}


def test_a_full_family_is_thinned_over_all_lengths():
    many = {f"{i:03d}": {"tokens": i} for i in range(100)}
    few = {f"few{i}": {"tokens": i, "family": 1} for i in range(3)}
    why = beyond_balance(table(**many, **few), 8, ["big", "small"])
    lengths = [line["tokens"] for name, line in many.items() if name not in why]
    assert len(lengths) == 8 and not set(few) & set(why) and "family big has 100 rows" in why["099"]
    assert [sum(start <= length < start + 25 for length in lengths) for start in (0, 25, 50, 75)] == [2, 2, 2, 2]


def test_names_that_are_no_unicode_are_selected_among(tmp_path):
    rows = [row("a\udc80", ORIGINAL, family="\ud800"), row("b\udc80", ORIGINAL, family="\ud800")]
    summary = select(tmp_path, write_rows(tmp_path / "rows.jsonl", rows), per_task=1, per_family=1)
    assert summary.kept == 1 and list(reasons(tmp_path).values()) == ["duplicate_exact"]


def test_options_out_of_range_name_their_range():
    for options, word in (
        (["near=0"], "near='0': expected greater than 0"),
        (["per_task=0"], "per_task='0': expected greater than 0"),
        (["reward=x"], "reward='x': expected 'kevin' or 'grpo'"),
    ):
        with pytest.raises(SettingsError, match=word):
            SelectSettings.read(["work", *options])


def test_a_program_too_short_for_a_shingle_still_has_a_fingerprint():
    assert code_print("int x;").near is None and code_print("int x;").exact == code_print("int  x; // y").exact


def test_a_row_given_twice_stays(tmp_path):
    given = [row("one", ORIGINAL), row("other", bundled(1)[1])]
    whole, part = write_rows(tmp_path / "rows.jsonl", given), write_rows(tmp_path / "part.jsonl", given[:1])
    summary = select(tmp_path, whole, part)
    assert (summary.kept, summary.repeated, summary.dropped) == (2, 1, 0)


def test_a_row_that_comes_between_the_passes_is_left_for_the_next_run(tmp_path, monkeypatch):
    from cuset_stage.curate import select as module

    path = write_rows(tmp_path / "rows.jsonl", [row("one", ORIGINAL)])
    decide = module._decide

    def then_appended(*arguments):
        decided = decide(*arguments)
        with path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps({"key": "f" * 32, **row("late", ORIGINAL)}) + "\n")
        return decided

    monkeypatch.setattr(module, "_decide", then_appended)
    summary = select(tmp_path, path)
    assert (summary.read, summary.kept) == (1, 1)
    monkeypatch.undo()
    assert select(tmp_path, path).reasons == {"duplicate_exact": 1}


def test_reasoning_counts_in_a_rows_length_when_it_will_be_written(tmp_path):
    path = write_rows(tmp_path / "rows.jsonl", [row("long", "int main() {}", reasoning="because " * 2000)])
    assert select(tmp_path, path, drop_long=True).kept == 1
    assert select(tmp_path, path, drop_long=True, reasoning=True).reasons == {"too_long": 1}
    select(tmp_path, path, reasoning=True)
    assert json.loads((tmp_path / "select" / "selection.json").read_text())["over_cutoff"] == ["long"]


NAMED = """import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        return torch.sum(torch.%s(x), dim=1) // self.dim


batch_size = 16
dim = 16384


def get_inputs():
    x = torch.randn(batch_size, dim)
    return [x]


def get_init_inputs():
    return [dim]
"""


def test_a_module_is_known_by_other_names_and_another_operator_is_another_module():
    from cuset_stage.curate.similarity import module_print

    original = NAMED % "relu"
    copy = re.sub(r"\bx\b", "inp", original).replace("batch_size", "how_many")
    prints = [module_print(source) for source in (original, copy, NAMED % "sigmoid", original.replace("16384", "8"))]
    assert prints[0].normalised == prints[1].normalised and prints[0].exact != prints[1].exact
    assert len({each.normalised for each in prints}) == 3
    divided = [module_print(f"def get(x):\n    return x // {number}\n") for number in (2, 4)]
    assert divided[0].exact != divided[1].exact  # to C++, what follows // is a comment


@pytest.mark.slow
@pytest.mark.parametrize("stage", [select, export])
def test_memory_grows_by_numbers_and_not_by_rows(tmp_path, stage):
    """Counted, not measured: what Python and NumPy allocate. The rows have 4 kB each."""

    def peak(count: int) -> int:
        chance = random.Random(count)
        given = (
            row(
                f"src:folder/{i}.cu",
                f"int f[] = {{{str(chance.choices(range(10**9), k=12))[1:-1]}}};{' ' * 4000}",
                family=f"{i % 9}",
            )
            for i in range(count)
        )
        path = write_rows(tmp_path / f"{count}.jsonl", given)
        tracemalloc.start()
        assert stage(tmp_path / f"work{count}", path).kept == count
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(2)  # what is imported
    binding = (
        650 if stage is select else 0
    )  # bytes that tree-sitter's binding never gives back after a parse with a callback
    assert (peak(600) - peak(100)) / 500 < 1000 + binding
