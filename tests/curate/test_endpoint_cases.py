"""Cases and references from a language model: prompted, checked, asked again; a broken endpoint loses nothing."""

import json
import logging
import pickle

import pytest
from curation_endpoint import Endpoint

from cuset_stage.curate.adapt import run_adapt
from cuset_stage.curate.asking import GIVE_UP_AFTER, Asker, AskError, parse_reply
from cuset_stage.curate.cases import run_cases
from cuset_stage.curate.importing import Source, run_import
from cuset_stage.curate.input_spec import SpecError
from cuset_stage.curate.parallel import Executor
from cuset_stage.curate.stage import stage_files


KERNEL = """__global__ void scale{i}(const float* x, float* y, float factor, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = factor * x[i] + {i}.0f;
}}
"""
RECORD = {
    "description": "Multiply every element of x by factor and add a constant: y[i] = factor * x[i] + c.",
    "family": "element-wise",
    "sizes": {"n": {"min": 1, "max": 65536}},
    "inputs": {"x": {"dtype": "float32", "shape": ["n"]}},
    "outputs": {"y": {"dtype": "float32", "shape": ["n"], "tolerance": [1e-5, 1e-6]}},
    "scalars": {"factor": 0.25},
    "cases": [
        {"name": name, "parameters": {"n": n}}
        for name, n in (("power_of_two", 1024), ("odd", 1013), ("small", 3), ("large", 50000), ("special", 501))
    ],
}
REFERENCE = "import numpy as np\n\n\ndef reference(inputs):\n    return {'y': (inputs['scalars'][0] * inputs['x'] + %d).astype(np.float32)}\n"


def good(number: int, record: dict = RECORD) -> str:
    return f"Here it is.\n```json\n{json.dumps(record)}\n```\n```python\n{REFERENCE % number}```\n"


@pytest.fixture
def adapted(tmp_path):
    """A curation folder with three kernels that bring neither specification nor reference."""
    tree = tmp_path / "kernels"
    tree.mkdir()
    for number in range(3):
        (tree / f"scale{number}.cu").write_text(KERNEL.format(i=number), encoding="utf-8")
    work = tmp_path / "work"
    run_import(work, Source(tree, licence="MIT"))
    assert run_adapt(work, stage_files(work, "import")).kept == 3
    return work


def ask(work, server: Endpoint, **options):
    asker = Asker(server.url, "test", timeout_s=options.pop("timeout_s", 10.0), retries=0, backoff_s=0.01, **options)
    return run_cases(work, stage_files(work, "adapt"), asker=asker, executor=Executor.INLINE)


def which(question: str) -> int:
    return next(number for number in range(3) if f"void scale{number}(" in question)


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_model_writes_cases_and_reference_and_is_told_what_is_wrong(adapted):
    wrong = {**RECORD, "inputs": {"x": {"dtype": "float32", "shape": ["m"]}}}

    def behave(question, number):
        return good(which(question)) if "cannot be used" in question or which(question) else good(0, wrong)

    with Endpoint(behave) as server:
        summary = ask(adapted, server)
    assert (summary.kept, summary.dropped, summary.unsettled) == (3, 0, 0)
    assert len(server.questions) == 4 and "exactly the sizes n, m" in server.questions[1]
    rows = lines(adapted / "cases" / "rows.jsonl")
    task = rows[0]["task"]
    assert [case["parameters"]["n"] for case in task["cases"]] == [1024, 1013, 3, 50000, 501]
    assert "y[i] = factor * x[i] + c" in task["prompt"] and rows[0]["family"] == "element-wise"
    assert rows[0]["provenance"][-1]["model"] == "test"


def test_a_row_without_a_usable_reply_is_dropped_with_the_last_problem(adapted):
    zeros = (
        "```python\nimport numpy as np\n\n\ndef reference(inputs):\n    return {'y': np.zeros_like(inputs['x'])}\n```"
    )

    def behave(question, _number):
        return ("I cannot help.", f"```json\n{json.dumps(RECORD)}\n```\n{zeros}", good(2))[which(question)]

    with Endpoint(behave) as server:
        summary = ask(adapted, server, tries=2)
    dropped = {each["id"]: each for each in lines(adapted / "cases" / "dropped.jsonl")}
    assert summary.kept == 1 and set(summary.reasons) == {"unusable_reply"}
    assert "json block" in dropped["kernels:scale0.cu"]["detail"]
    assert "weak_cases" in dropped["kernels:scale1.cu"]["detail"]  # zeros pass, so the cases tell nothing


@pytest.mark.parametrize("fault", ["<500>", "<hang>", "<drip>", "<endless>", "<cut>", "<garbage>", "<close>"])
def test_a_row_at_which_the_endpoint_fails_is_tried_again_by_the_next_run(adapted, fault):
    with Endpoint(lambda question, _: fault if which(question) == 1 else good(which(question))) as server:
        summary = ask(adapted, server, timeout_s=1.0 if fault in ("<hang>", "<drip>") else 10.0)
        assert (summary.kept, summary.dropped, summary.unsettled) == (2, 0, 1)
        assert summary.unsettled_rows[0]["row"] == 2 and summary.unsettled_rows[0]["reason"] == "endpoint"
        assert fault != "<endless>" or "more than 16 MiB" in summary.unsettled_rows[0]["detail"]
    with Endpoint(lambda question, _: good(which(question))) as server:
        summary = ask(adapted, server)
        assert (summary.kept, summary.unsettled, summary.resumed) == (3, 0, 2)
        assert len(server.questions) == 1  # what was answered is not asked again


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_prompt_that_the_endpoint_refuses_is_a_dropped_row(adapted, status):
    with Endpoint(lambda question, _: f"<{status}>" if which(question) == 1 else good(which(question))) as server:
        summary = ask(adapted, server)
        assert (summary.kept, summary.unsettled, summary.reasons) == (2, 0, {"refused": 1})
        assert len(server.questions) == 3  # nor is it tried again
    detail = lines(adapted / "cases" / "dropped.jsonl")[0]["detail"]
    assert f"status {status}: down or too long" in detail and "--fresh" in detail


def answer(asker: Asker, number: int) -> str:
    """What comes of asking about a row: "kept", or the reason; "again" when the next run asks."""
    row = {"id": f"kernels:{number}", "code": f"void scale{number}()", "files": {}}
    try:
        return asker.ask(row, None, lambda _suggestion: "kept")
    except AskError as error:
        return "again" if error.again else error.reason


def test_refused_prompts_do_not_keep_other_rows_from_being_asked():
    last = 2 * GIVE_UP_AFTER
    with Endpoint(lambda question, number: good(0) if number > last else "<400>") as server:
        asker = Asker(server.url, "test", retries=0)
        found = [answer(asker, number) for number in range(last + 1)]
    assert found == ["refused"] * last + ["kept"]


@pytest.mark.parametrize("status", [302, 402, 403, 404, 405, 408, 429, 500])
def test_an_endpoint_that_fails_all_rows_alike_is_given_up_and_drops_none(status):
    with Endpoint(lambda _question, _number: f"<{status}>") as server:
        asker = Asker(server.url, "test", retries=0, backoff_s=0.0)
        assert [answer(asker, number) for number in range(GIVE_UP_AFTER + 2)] == ["again"] * (GIVE_UP_AFTER + 2)
    assert len(server.questions) == GIVE_UP_AFTER


def test_a_correction_that_is_too_long_drops_the_row_as_refused():
    row = {"id": "a", "code": "int x;", "files": {}}
    with (
        Endpoint(lambda question, _: "<400>" if "cannot be used" in question else "no blocks") as server,
        pytest.raises(AskError, match="prompt of 3 messages") as caught,
    ):
        Asker(server.url, "test", retries=0).ask(row, None, lambda _: None)
    assert caught.value.reason == "refused" and not caught.value.again


def test_nothing_is_said_of_tokens_and_a_connection_is_described_once(caplog):
    with Endpoint(lambda _question, _number: good(0), usage=False, name="another") as server:
        asker = Asker(server.url, "test", retries=0)
        with caplog.at_level(logging.WARNING):
            assert [answer(asker, number) for number in range(4)] == ["kept"] * 4
            assert asker._backend() is asker._backend()
            other = Asker(server.url, "test", retries=1)
            assert other._backend() is not asker._backend()
    assert "--tokenizer" not in caplog.text
    assert caplog.text.count("it is asked for test all the same") == 1


def test_an_asker_that_has_asked_can_be_sent_to_another_machine():
    with Endpoint(lambda _question, _number: good(0)) as server:
        asker = Asker(server.url, "test", retries=0)
        assert answer(asker, 0) == "kept"
        assert answer(pickle.loads(pickle.dumps(asker)), 1) == "kept"


def test_half_a_surrogate_pair_in_a_reply_is_told_and_corrected():
    with Endpoint(lambda question, _: good(0) if "cannot be used" in question else "\ud800") as server:
        assert answer(Asker(server.url, "test", retries=0), 0) == "kept"


def test_an_endpoint_that_stops_half_way_leaves_the_rest_for_the_next_run(adapted):
    with Endpoint(lambda question, number: good(which(question)) if number == 1 else "<close>") as server:
        summary = ask(adapted, server)
    assert (summary.kept, summary.unsettled) == (1, 2)
    summary = ask(adapted, server)  # nothing listens there any more
    assert (summary.kept, summary.unsettled, summary.resumed) == (1, 2, 1)
    assert "nothing answers there" in summary.unsettled_rows[0]["detail"]


def test_without_a_model_a_kernel_without_reference_is_dropped_with_the_way_out(adapted):
    summary = run_cases(adapted, stage_files(adapted, "adapt"), executor=Executor.INLINE)
    assert summary.reasons == {"no_reference": 3}
    assert "--endpoint" in lines(adapted / "cases" / "dropped.jsonl")[0]["detail"]


def test_replies_are_read_whatever_stands_around_the_blocks():
    found = parse_reply("<think>```json\n{}\n```</think>" + good(1))
    assert found.spec["scalars"] == {"factor": 0.25} and "def reference" in found.reference
    for text, word in (
        ("no blocks", "json block"),
        ("```json\n{\n```", "not JSON"),
        ('```json\n{"description": "x"}\n```', "five words"),
    ):
        with pytest.raises(SpecError, match=word):
            parse_reply(text)


@pytest.mark.parametrize(
    "wrong",
    [
        {"inputs": {"x": 5}},
        {"inputs": {"x": [1]}},
        {"outputs": {"y": "float32"}},
        {"inputs": {"x": {"dtype": "float32", "shape": ["n"], "values": {"kind": ["normal"]}}}},
        {"cases": [{"name": ["odd"], "parameters": {"n": 1}}]},
    ],
)
def test_the_model_is_told_of_a_wrong_type(adapted, wrong):
    def behave(question, _number):
        return good(which(question), RECORD if "cannot be used" in question else {**RECORD, **wrong})

    with Endpoint(behave) as server:
        summary = ask(adapted, server)
    assert (summary.kept, summary.dropped, summary.unsettled) == (3, 0, 0)
    assert len(server.questions) == 6


def test_a_declared_specification_of_a_wrong_type_is_counted_and_settled(adapted, tmp_path):
    [path] = (adapted / "adapt").glob("rows.jsonl")
    rows = [{**row, "spec": {"inputs": {"x": 5}}, "numpy_code": "def reference(inputs): ..."} for row in lines(path)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    summary = run_cases(adapted, [tmp_path / "rows.jsonl"], executor=Executor.INLINE)
    assert summary.reasons == {"bad_specification": 3} and not summary.unsettled
    detail = lines(adapted / "cases" / "dropped.jsonl")[0]["detail"]
    assert "spec.inputs.x: an object was expected, this is int" in detail
