"""Reports of made-up runs: the numbers by hand, the notes, and what the page holds."""

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest
from commands import cuset
from page_checks import opened
from playwright.sync_api import expect
from results_factory import blocks, loud, write_results
from scipy import stats

from cuset_stage.report.collect import collect
from cuset_stage.report.collection import ReportError
from cuset_stage.report.numbers import build_report
from cuset_stage.report.page import render_html
from cuset_stage.report.statistics import Rule
from cuset_stage.report.tables import comparison_table, conclusion, family_table, main_table, speed_table, timing_table
from cuset_stage.report.write import print_report, write_report
from cuset_stage.report.write import report_markdown as render_markdown


ROOT = Path(__file__).resolve().parents[2]
P, C, M, INFRA = "passed", "compile_error", "mismatch", "infra_error"


def rates(report, run: str, rule: Rule = Rule.FIRST) -> dict:
    """(k, criterion) -> percent."""
    return {
        (k, criterion): rate and round(100 * rate.value, 2)
        for (label, of, k, criterion), rate in report.rates.items()
        if label == run and of is rule
    }


def on_cudabench(write, method: str, tasks: list[str], right: str) -> Path:
    """Results on tasks that are called OPERATION-SIZE; the operations in `right` pass at every size."""
    verdicts = {task: [P if task[0] in right else M, P] for task in tasks}
    told = {"path": "bench.jsonl", "format": "cudabench"}
    return write(method, verdicts, change=lambda row: row | {"family": row["task"][0]}, tasks=told)


def test_cudabenchs_unit_is_the_operation(write):
    """Of ten operations at five sizes each the second method passes three more: 15 tasks, of which three are news."""
    tasks = [f"{operation}-{size}" for operation in range(10) for size in range(5)]
    paths = [on_cudabench(write, "sft", tasks, "01"), on_cudabench(write, "cuset", tasks, "01234")]
    report = build_report(collect(paths), ks=(1,))
    passed = report.comparisons[0]
    assert passed.counts.only_first + passed.counts.only_second == 15
    assert passed.p_value == pytest.approx(stats.ttest_1samp([0, 0, 1, 1, 1, 0, 0, 0, 0, 0], 0).pvalue)
    rate = report.rates["sft", Rule.FIRST, 1, "passed"]
    assert rate.value == 0.2 and rate.high - rate.low == pytest.approx(0.5)
    assert "The operation is the unit" in render_markdown(report) and "t test: p" in render_markdown(report)


def test_the_finding_has_the_sign_of_what_is_tested(write):
    """One operation of twenty tasks is one observation: the method that passes the nine others is the better one."""
    tasks = [f"0-{size}" for size in range(20)] + [f"{operation}-0" for operation in range(1, 10)]
    paths = [on_cudabench(write, "sft", tasks, "0"), on_cudabench(write, "cuset", tasks, "123456789")]
    passed = build_report(collect(paths), ks=(1,)).comparisons[0]
    assert passed.criterion == "passed"
    assert passed.counts.only_first == 9 and passed.counts.only_second == 20
    assert conclusion(passed) == "cuset passes more tasks than sft"


def test_main_table_by_hand(write, capsys):
    path = write("CuSeT", {"a": [P, P, M], "b": [C, M, P], "c": [M, C, C], "d": [C, C, C]})
    report = build_report(collect([path]), ks=(1, 3, 4))
    first, unbiased = rates(report, "CuSeT"), rates(report, "CuSeT", Rule.UNBIASED)
    assert first == {
        (1, "compiled"): 50.0, (1, "passed"): 25.0, (3, "compiled"): 75.0, (3, "passed"): 50.0,
        (4, "compiled"): None, (4, "passed"): None,
    }  # fmt: skip
    assert unbiased[1, "passed"] == 25.0  # (2/3 + 1/3) / 4
    assert unbiased[1, "compiled"] == 50.0  # (1 + 2/3 + 1/3) / 4
    assert unbiased[3, "passed"] == 50.0
    headings = ["Model", "Method", *("Compilation", "Function") * 3, "mean", "median"]
    assert [column.name for column in main_table(report, Rule.FIRST).columns] == headings
    assert report.collection.notes == () and "needs 4 samples a task, has 3" in render_markdown(report)
    print_report(report)
    printed = capsys.readouterr().out  # where a table does not fit the terminal, its details stay on the page
    assert re.search(r"CuSeT +50\.0 +25\.0 +75\.0 +50\.0 +–", printed)


def test_infra_errors_are_charged_to_nobody_and_said_loudly(write):
    collection = collect([write("SFT", {"a": [INFRA, P], "b": [P, M], "c": [M, INFRA], "d": [M, M]})])
    report = build_report(collection, ks=(1, 2))
    estimate = report.rates["SFT", Rule.FIRST, 1, "passed"]
    assert (estimate.value, estimate.tasks, estimate.left_out) == (pytest.approx(1 / 3), 3, 1)
    estimate = report.rates["SFT", Rule.FIRST, 2, "passed"]
    assert (estimate.value, estimate.tasks, estimate.left_out) == (0.5, 2, 2)
    estimate = report.rates["SFT", Rule.UNBIASED, 1, "passed"]
    assert (estimate.value, estimate.tasks) == (pytest.approx((1 + 0.5 + 0 + 0) / 4), 4)
    assert "SFT 2 of 8 samples, on 2 tasks" in loud(collection)
    assert "n = 3" in render_markdown(report)


def test_what_is_known_of_an_infra_error_counts(write):
    """The judge failed when one program ran, and when another was compiled: of the first it is known that it compiled."""

    def change(record):
        return {**record, "compiled": record["compiled"] or record["task"] == "a"}

    whole = write("A", {"a": [M], "b": [P], "c": [C]})
    report = build_report(collect([whole, write("B", {"a": [INFRA], "b": [P], "c": [C]}, change=change)]), ks=(1,))
    assert rates(report, "A")[1, "compiled"] == rates(report, "B")[1, "compiled"] == 66.67
    assert (rates(report, "A")[1, "passed"], rates(report, "B")[1, "passed"]) == (33.33, 50.0)
    report = build_report(collect([write("C", {"a": [P], "b": [INFRA], "c": [C]}, change=change)]), ks=(1,))
    assert rates(report, "C")[1, "compiled"] == 50.0  # nothing is known of b


def test_an_answer_that_was_never_given_is_a_failure_of_its_run_alone(write):
    asked = {"sha256": "1", "ids": ["a", "b", "c", "d"]}
    full = write("full", {task: [P] for task in "abcd"}, tasks=asked)
    collection = collect([write("SFT", {"a": [P, P], "b": [P, None]}, tasks=asked), full])
    assert len(collection.tasks) == 4
    report = build_report(collection, ks=(1,))
    assert rates(report, "SFT")[1, "passed"] == 50.0 and rates(report, "full")[1, "passed"] == 100.0
    assert rates(report, "SFT", Rule.UNBIASED)[1, "passed"] == 37.5  # (1 + 1/2 + 0 + 0) / 4
    assert "without an answer: SFT 5 of 8" in loud(collection) and "run `cuset generate` again" in loud(collection)


def test_a_task_that_was_never_answered_is_of_its_own_family(write):
    asked = {"sha256": "1", "ids": ["a", "b", "c"]}
    verdicts, family = {"a": [P], "b": [P]}, lambda record: {**record, "family": "f"}
    known = collect([write("new", verdicts, tasks={**asked, "families": dict.fromkeys("abc", "f")}, change=family)])
    assert [task.family for task in known.tasks] == ["f", "f", "f"]
    old = collect([write("old", verdicts, tasks=asked, change=family)])
    assert old.tasks[2].family == "unknown" and "The family of 1 task without an answer is not known" in loud(old)


@pytest.mark.parametrize(("digest", "task"), [("2", "a"), ("1", "d")])
def test_different_task_sets_are_refused(write, digest, task):
    first = write("one", {"a": [P], "b": [P], "c": [M]}, tasks={"sha256": "1"})
    second = write("two", {"b": [M], "c": [M], task: [P]}, tasks={"sha256": digest})
    named, fix = (
        (", a among them", "with only= or limit=") if task == "d" else ("", "give `cuset evaluate` one task set")
    )
    with pytest.raises(ReportError, match=rf"one: 3 tasks{named}, SHA-256 1.*Report them apart, or {fix}"):
        collect([first, second])
    same = write("three", {"a": [P], "b": [P], "c": [M]}, tasks={"sha256": "1", "split": "eval"})
    assert len(collect([first, same]).tasks) == 3  # chosen in another way


def test_a_compile_only_run_has_no_function_column(write):
    report = build_report(collect([write("SFT", {"a": ["compiled"], "b": [C]}, compile_only=True)]), ks=(1,))
    assert rates(report, "SFT") == {(1, "compiled"): 50.0}
    assert "Function" not in render_markdown(report)
    mixed = [write("x", {"a": ["compiled"]}, compile_only=True), write("y", {"a": [P]})]
    mixed = build_report(collect(mixed), ks=(1,))
    assert rates(mixed, "x")[1, "passed"] is None
    assert "not run" in render_markdown(mixed)


def test_inputs_that_come_with_the_task_set_and_missing_isolation_are_named(write):
    told = {"fixed": {"seed": None}, "drawn": {"seed": 7}, "earlier": {}, "open": {"isolation": "none"}}
    collection = collect([write(name, {"a": [P]}, **keys) for name, keys in told.items()])
    (note,) = (note for note in collection.notes if "the same in every evaluation" in note.text)
    assert "fixed." in note.text and not note.loud
    assert "Judged without isolation (isolation: none): open." in loud(collection)
    assert "| seed | – | 7 | – | – |" in render_markdown(build_report(collection))


def timed(record):
    gpu = {"kernel_s": 0.00125, "launches": 3, "bytes_to_gpu": 400, "bytes_from_gpu": 200}
    cases = [{"name": name, "verdict": P, "run_s": 0.5, "gpu": gpu} for name in ("small", "large")]
    kernels = [{"name": "k<EVIL>", "launches": 6, "seconds": 0.002, "grid": [7, 1, 1], "block": [256, 1, 1]}]
    return {**record, "cases": cases, "kernels": kernels, "kernel_s": 0.0025, "reference_s": 0.005, "speedup": 2.0}


def test_kernel_times_stand_in_the_table_and_behind_each_sample(write):
    report = build_report(collect([write("one", {"a": [P]}, change=timed)]), ks=(1,))
    (row,) = timing_table(report).rows
    assert [cell.text for cell in row][-3:-1] == ["2.500", "2.500"]
    ((detail,),) = blocks(render_html(report))
    assert "<td>k&lt;EVIL&gt;</td>" in detail and "7 × 1 × 1" in detail
    assert "1.25 ms" in detail and "<dd>2.5 ms</dd>" in detail and "<dd>2</dd>" in detail


def test_runs_of_one_name_are_told_apart(tmp_path):
    paths = [write_results(tmp_path / f"seed{i}" / "results.jsonl", "SFT", {"a": [P]}) for i in range(2)]
    assert [run.label for run in collect(paths).runs] == ["SFT, seed0", "SFT, seed1"]
    with pytest.raises(ReportError, match="more than once"):
        collect([paths[0], paths[0]])


def test_settings_that_differ_are_noted(write):
    told = [{"require_gpu": False}, {"arch": "sm_80", "flags": ["-O0"], "require_gpu": True}]
    collection = collect([write(str(number), {"a": [P]}, **changes) for number, changes in enumerate(told)])
    assert [note.text for note in collection.notes] == [
        "The runs differ in arch, flags, require_gpu: see the settings."
    ]
    assert collection.notes[0].loud  # by its flags and require_gpu
    (quiet,) = collect([write(arch, {"a": [P]}, arch=arch) for arch in ("sm_80", "sm_90")]).notes
    assert not quiet.loud
    assert "| arch | sm_90 | sm_80 |" in render_markdown(build_report(collection))


def test_comparison_says_what_the_test_allows(write, capsys):
    solved = {"SFT": range(10), "CuSeT": range(2, 30), "DFT": range(1, 12)}
    paths = [
        write(name, {str(i): [P if i in of else M] + [P] * (name != "DFT") for i in range(40)})
        for name, of in solved.items()
    ]
    report = build_report(collect(paths), ks=(1, 2), baseline="SFT")
    rows = {row[1].text: row for row in comparison_table(report).rows if row[0].text == "Function"}
    assert [cell.value for cell in rows["CuSeT"][3:7]] == [20, 2, 8, 10]
    assert "CuSeT passes more tasks than SFT" in [cell.text for cell in rows["CuSeT"]]
    assert "no difference shown; 3 discordant tasks, too few to show one" in [cell.text for cell in rows["DFT"]]
    by_pair = {(c.first, c.criterion): c for c in report.comparisons}
    tested = by_pair["CuSeT", "passed"]
    assert tested.adjusted == pytest.approx(2 * tested.p_value)
    assert tested.differences[Rule.FIRST, 1].value == pytest.approx(18 / 40)
    assert tested.differences.keys() - by_pair["DFT", "passed"].differences.keys() == {(rule, 2) for rule in Rule}
    equal = by_pair["CuSeT", "compiled"].differences[Rule.FIRST, 1]
    assert equal.low == -equal.high < 0
    assert "Holm" in render_markdown(report)
    print_report(report)
    assert "DFT and SFT: no difference shown; 3 discordant tasks" in capsys.readouterr().out
    every = build_report(collect(paths), ks=(1,)).comparisons
    pairs = [(c.second, c.first) for c in every if c.criterion == "passed"]
    assert pairs == [("SFT", "CuSeT"), ("SFT", "DFT"), ("CuSeT", "DFT")]


def test_tokens_families_and_speed_ups(write):
    def change(record):
        family = "scan" if record["task"] in "ab" else "sort"
        speed = {"a": 3.0, "b": 1.5}.get(record["task"])
        tokens = {"a": 100, "b": 200, "c": 900, "d": None}[record["task"]]
        return {**record, "family": family, "speedup": speed, "tokens": tokens, "finish_reason": "length"}

    report = build_report(collect([write("K", {"a": [P], "b": [P], "c": [P], "d": [M]}, change=change)]), ks=(1,))
    assert [cell.value for cell in main_table(report, Rule.FIRST).rows[0][-2:]] == [400, 200]
    families = [tuple(cell.value for cell in row) for row in family_table(report).rows]
    assert families == [("scan", 2, 100.0), ("sort", 2, 50.0)]
    (row,) = speed_table(report).rows
    assert [cell.text for cell in row] == ["K", "75.0", "50.0", "25.0", "2.25"]


def test_an_answer_without_code_takes_no_time(write):
    """Three such answers would make the median overhead 0."""

    def change(record):
        return record if record["verdict"] == P else {**record, "compile_s": None, "run_s": None, "overhead_s": 0.0}

    path = write("SFT", {"a": [P], "b": ["no_code"], "c": ["no_code"], "d": ["no_code"]}, change=change)
    (row,) = timing_table(build_report(collect([path]))).rows
    assert [cell.value for cell in row[7:9]] == [0.02, 0.02]


class Page(HTMLParser):
    """What a browser would load and run: tags with their attributes, and scripts by their id."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags, self.scripts, self._open = [], {}, None
        self.feed(text)
        self.rows = [values for _, values in self.tags if values.get("class") == "sample"]

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag == "script":
            self._open = dict(attributes).get("id", "code")

    def handle_endtag(self, tag):
        self._open = None

    def handle_data(self, data):
        if self._open:
            self.scripts[self._open] = self.scripts.get(self._open, "") + data

    def loads_and_handles_nothing(self) -> bool:
        """No attribute runs code, and every address is a place on the page."""
        every = [pair for _, values in self.tags for pair in values.items()]
        places = [value for key, value in every if key in ("src", "href", "action", "data", "poster", "srcset")]
        handlers = [key for key, _ in every if key.startswith("on")]
        return bool(places) and all(place.startswith("#") for place in places) and not handlers


EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'`{{ 7 * 7 }}\u2028\ud800"


def evil(record):
    record = {**record, "message": f"kernel.cu(1): error: {EVIL}", "name": f"name {EVIL}", "family": EVIL}
    return {**record, "code": f"// {EVIL}\n__global__ void k() {{}}\n", "flags": [EVIL], "case": EVIL}


def test_the_page_loads_nothing_and_runs_nothing_but_its_own_script(write):
    path = write("SFT <b>", {"a": [M, P], f"b{EVIL[:20]}": [C, P]}, change=evil)
    text = render_html(build_report(collect([path]), ks=(1, 2), title=f"T {EVIL[:40]}"))
    page = Page(text)
    assert "url(" not in text and "@import" not in text
    digest = base64.b64encode(hashlib.sha256(page.scripts["code"].encode()).digest()).decode()
    [policy] = [values["content"] for _, values in page.tags if values.get("http-equiv")]
    assert "default-src 'none'" in policy and f"script-src 'sha256-{digest}'" in policy
    assert sorted(page.scripts) == ["block-0", "block-1", "code"]
    assert "{{ 7 * 7 }}" in text  # shown as it is, not evaluated
    for parsed in (page, *(Page(sample) for samples in blocks(text) for sample in samples)):
        assert parsed.loads_and_handles_nothing()
        assert not {"img", "iframe", "object", "b"} & dict(parsed.tags).keys() - ({"b"} if parsed is page else set())
    assert len(page.rows) == 4


def test_every_sample_is_behind_its_row(write):
    code = "__global__ void k() {}"
    one = write("one", {"a": [M, P], "b": [C, "no_code"]}, change=lambda r: {**r, "code": r["code"] and code})
    text = render_html(build_report(collect([one, write("two", {"a": [P, P], "b": [M, M]})]), ks=(1,)))
    found = blocks(text)
    for row in Page(text).rows:
        task, run, number, verdict = (row[f"data-{key}"] for key in ("task", "run", "sample", "verdict"))
        block, at = row["data-at"].split(".")
        detail = found[int(block)][int(at)]
        assert (verdict == "passed") == (f"{verdict.split()[0]} of {task}" not in detail)
        assert verdict == "passed" or f"<code>{verdict.split()[0]} of {task}</code>" in text
        if run == "one":
            assert (code in detail) == (verdict != "no_code\nfailures")
        else:
            assert f"// {task} {number}" in detail
    assert text.count("700 tok") == 8


def test_a_large_evaluation_fits_a_page(write):
    programs = [path.read_text() for path in sorted((ROOT / "data" / "kernels").glob("*/kernel.cu"))]

    def real(record):
        task, salt = int(record["task"]), f"{record['sample']}{record['name']}"
        lines = programs[task % len(programs)].splitlines()
        for i in range(0, len(lines), 5):
            lines[i] += f"  // {hashlib.sha256((salt + lines[i]).encode()).hexdigest()[:8]}"
        return {**record, "code": "\n".join(lines), "name": f"k{task}"}

    paths = [write(f"m{i}", {str(t): [M, P, M] for t in range(60)}, change=real) for i in range(2)]
    size = len(render_html(build_report(collect(paths), ks=(1,))).encode())
    assert size / 360 * 7500 < 15e6  # 5 runs x 500 tasks x 3 samples


def test_csv_holds_the_numbers_and_no_formulas(write, tmp_path):
    said = {"message": "=HYPERLINK(1)"}
    path = write("SFT", {"a": [P, P, M], "b": [M, M, M]}, change=lambda record: record | said)
    write_report(build_report(collect([path])), tmp_path / "out")
    rates, samples = (pd.read_csv(tmp_path / "out" / "csv" / f"{name}.csv") for name in ("pass_at_k", "samples"))
    percent = rates.set_index(["rule", "k", "criterion"])["percent"]
    assert len(rates) == 8 and percent["first", 1, "passed"] == 50
    assert percent["unbiased", 1, "passed"] == pytest.approx(100 / 3, abs=1e-3)
    assert list(samples["message"]) == ["'=HYPERLINK(1)"] * 6


def test_markdown_names_what_a_paper_has_to(write):
    text = render_markdown(build_report(collect([write("CuSeT", {"a|b": [P, P, P]})])))
    for part in ("NVIDIA H100", "13.0.88", "sm_90", "O3 -std=c++17", "Qwen2.5-Coder-7B-Instruct", "CUDABench's rule"):
        assert part in text
    assert "Chen et al. 2021" in text and "seed 0" in text and "bubblewrap" in text
    for block in re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE):
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
        assert len(widths) == 1, block


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["k=0"], "k[0]='0'"),
        (["baseline=EAFT"], "one of SFT"),
        (["none.jsonl"], "none.jsonl"),
        (["output=/dev/null/r"], "report: /dev/null/r/csv: Not a directory."),
    ],
)
def test_cli_refuses_bad_options(write, tmp_path, options, message):
    path = write("SFT", {"a": [P]})
    assert message in cuset("report", path, f"output={tmp_path / 'r'}", *options, exit_code=2)
    assert not (tmp_path / "r").exists()


def test_a_browser_opens_a_sample_from_its_link(browser, write, tmp_path):
    paths = [write("SFT", {"a": [M, C], "b": [P, M]}, change=evil), write("DFT", {"a": [P, P], "b": [P, P]})]
    *_, page = write_report(build_report(collect(paths)), tmp_path / "out")
    with opened(browser, f"{page.as_uri()}#verdict=failures&run=SFT") as tab:
        expect(tab.locator(".sample:not([hidden])")).to_have_count(3)
    with opened(browser, f"{page.as_uri()}#run=SFT&task=a&sample=1") as tab:
        code = tab.locator(".sample[open] pre.code")
        expect(code.locator(".line.wrong")).to_have_count(1)
        assert "</script><script>alert(1)</script><img" in code.inner_text()
        expect(tab.locator("img")).to_have_count(0)
