"""Tasks that a model writes of kernels: what is asked, what is proved, what goes back, and that nothing is asked twice."""

import json
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from chat_server import sends
from curation_steps import deduplicate, lines, put, run, split, take_in, write
from processes import HEARS_CTRL_C
from written_tasks import Writers, put_kernels, recorded

from cuset_stage.curate.proofs import Proofs
from cuset_stage.curate.questions import ANSWERER, read_draft, read_reference
from cuset_stage.curate.rows import RowError
from cuset_stage.curate.settings import ProofSettings, WriteSettings


ROW_NORMS, HISTOGRAM = recorded("row_norms"), recorded("histogram")


@pytest.fixture
def serve():
    with ExitStack() as ends:
        yield lambda **said: ends.enter_context(closing(Writers(**said)))


def kernels(work: Path, *names: str) -> Path:
    take_in(work, put_kernels(work / "tree", *names), licence="MIT", allow=("MIT",))
    split(work)
    deduplicate(work)
    return work


def write_tasks(work: Path, url: str | None, **keys):
    given = {"endpoint": url, "model": "writer", "compile_only": True, "concurrency": 4}
    return write(work, **{**given, **keys})


def draft(text: str = HISTOGRAM, kernel: str = "histo"):
    return read_draft(text, False, "t", kernel)


def refused(*arguments) -> RowError:
    with pytest.raises(RowError) as error:
        read_draft(*arguments)
    return error.value


def test_a_task_is_proved_by_two_references_and_what_fails_goes_back(tmp_path, serve):
    work = kernels(tmp_path)
    squares = ROW_NORMS.replace("= sqrt(sum over c of x[r][c]^2)", "= sum over c of x[r][c]^2")
    squares = squares.replace("Euclidean", "squared")
    missing = HISTOGRAM.replace("unsigned out[64];", "")
    wrong_type = recorded("histogram_second").replace(".astype(np.uint32)", "")
    without_root = recorded("row_norms_second").replace("np.sqrt((x * x).sum(axis=1))", "(x * x).sum(axis=1)")
    server = serve(
        row_norms=[squares], row_norms_second=[without_root], histogram=[f"<think>{HISTOGRAM}</think>\nHere:\n{missing}"],
        histogram_second=[wrong_type],
    )  # fmt: skip
    summary = write_tasks(work, server.url)
    assert (summary.kept, summary.dropped, summary.unsettled) == (2, 0, 0)
    rows = {row["name"]: row for row in lines(work / "write" / "rows.jsonl")}
    first, second = (rows[name]["written"]["tries"] for name in ("row_norms", "byte_histogram_modulo"))
    assert [each["reason"] for each in first] == ["references_disagree", ""]
    assert [each["reason"] for each in second] == ["compile_error", ""]
    assert "256 of 256 values are wrong" in first[0]["message"]
    assert '"out" is undefined' in second[0]["message"] and len(second[1]["questions"]) == 3
    assert rows["row_norms"]["verified"] == {"verdict": "compiled", "gpu": None}

    questions = [[message["content"] for message in body["messages"]] for body in server.bodies]
    blind = [texts for texts in questions if "nothing else" in texts[0]]
    assert len(questions) == 8 and len(blind) == 4
    # Neither kernel nor program, nor what the first reference does, is in what the second one is written from.
    assert not re.search(r"rowNorm|histo\b|__global__|bincount\(inputs\[\"data\"\] % 64|make_inputs", str(blind))
    # Again with the blocks of the last reply and what was wrong.
    again = [texts[2:] for texts in questions if len(texts) > 2]
    assert len(again) == 3
    assert all(reply.startswith("```") and problem.startswith("This does not work yet:") for reply, problem in again)
    assert any("bins is int64 (64,), the task declares uint32 (64,)" in texts[-1] for texts in blind)
    assert not any("draft" in text or "<think>" in text for texts in questions for text in texts)

    assert "no GPU yet" in run("funnel", work)

    # The same again, without the endpoint, is what it was; a reply of which only a part is there is missed, and asked for.
    before = lines(work / "write" / "rows.jsonl")
    server.close()
    assert write_tasks(work, None).kept == 2
    after = lines(work / "write" / "rows.jsonl")
    assert sorted(map(json.dumps, after)) == sorted(map(json.dumps, before))
    gone = rows["row_norms"]["written"]["tries"][1]["questions"][0]
    for left in ('{"reply": {"te', ""):  # of a copy from another machine that was stopped
        (work / "replies" / gone[:2] / f"{gone}.json").write_text(left)
        summary = write_tasks(work, None)
        assert (summary.kept, summary.unsettled_rows[0]["reason"]) == (1, "no_endpoint")


def test_the_commands_of_the_page_make_a_data_set_of_kernels(request, tmp_path, serve, monkeypatch):
    """docs/write.md, with the local server in place of the one that it names."""
    page = (request.config.rootpath / "docs" / "write.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```bash[^\n]*\n(.*?)```", page, re.DOTALL)
    lines_of = (block.replace("\\\n", " ").splitlines() for block in blocks)
    writing, funnel = (shlex.split(line)[1:] for each in lines_of for line in each if line.startswith("cuset "))
    put_kernels(tmp_path / "my_kernels")
    monkeypatch.chdir(tmp_path)
    server = serve()
    writing[-1] = writing[-1].replace("http://localhost:8000/v1", server.url)
    again = [*writing[:-1], "write={model: Qwen3-Coder}"]  # without the endpoint it takes the kept replies
    for words in (writing, funnel, again):
        run(*words[1:])
    assert len(server.bodies) == 4  # of each kernel both questions, once
    rows = lines(tmp_path / "outputs" / "written" / "write" / "rows.jsonl")
    said = {row["task"]["prompt"]: f"```cpp\n{row['code'].strip()}\n```" for row in rows}
    dataset = tmp_path / "outputs" / "written" / "dataset"
    made = [row for name in ("curated", "curated_eval") for row in json.loads((dataset / f"{name}.json").read_text())]
    assert {row["instruction"]: row["output"].strip() for row in made} == said
    assert {row["system"] for row in made} == {ANSWERER}  # prompts say what to compute, and not that it is CUDA


def test_what_a_gpu_found_goes_back_where_there_is_none(tmp_path, serve):
    work = kernels(tmp_path, "histogram")
    server = serve(histogram=[HISTOGRAM.replace("i < n)", "i < n - 1)")])
    assert write_tasks(work, server.url).kept == 1 and len(server.bodies) == 2
    (row,) = lines(work / "write" / "rows.jsonl")
    settings = WriteSettings(folder=work, model="writer", compile_only=True)
    proofs = Proofs(work / "proofs", settings.proof)
    said = "The program on a GPU: case odd: data/bins.bin: 1 of 64 values are wrong"
    record = {key: value for key, value in row["task"].items() if key != "system"}  # as the model wrote it
    with pytest.raises(RowError):  # as a GPU leaves it
        proofs._kept(["run", record, row["code"], 2, 6], lambda: {"reason": "mismatch", "message": said})
    assert write_tasks(work, server.url).kept == 1
    (row,) = lines(work / "write" / "rows.jsonl")
    assert "i < n)" in row["code"] and [each["reason"] for each in row["written"]["tries"]] == ["mismatch", ""]
    # The task is the same: its second reference is not asked for again.
    assert len(server.bodies) == 3 and said in server.bodies[-1]["messages"][-1]["content"]


def test_a_kernel_is_given_up_after_its_tries_and_a_refusal_ends_them(tmp_path, serve):
    work = kernels(tmp_path)
    server = serve(histogram=["no blocks"] * 5, row_norms=["```refused\nIt needs cuBLAS.\n```"])
    summary = write_tasks(work, server.url, tries=2)
    assert summary.reasons == {"bad_reply": 1, "refused": 1} and len(server.bodies) == 3
    dropped = {row["reason"]: row["data"]["written"] for row in lines(work / "write" / "dropped.jsonl")}
    assert len(dropped["bad_reply"]["tries"]) == 2 and dropped["refused"]["tries"][0]["message"] == "It needs cuBLAS."


def test_a_task_that_is_a_benchmarks_is_dropped_and_without_a_model_kernels_pass(tmp_path, serve):
    work = kernels(tmp_path, "histogram")
    assert write(work).kept == 1 and lines(work / "write" / "rows.jsonl")[0]["kernel"] == "histo"  # without a model
    task = {**draft().record, "id": "bench", "prompt": draft().record["prompt"].upper()}
    against = {"mine": put(tmp_path / "bench.jsonl", [task])}
    assert write_tasks(work, serve().url, against=against).reasons == {"contaminated": 1}
    assert write_tasks(work, None).kept == 1


def test_nothing_is_asked_beyond_the_ceiling(tmp_path, serve):
    work = kernels(tmp_path)
    server = serve(histogram=["no blocks"], row_norms=["no blocks"])
    # A reply and its question have 38 tokens.
    first = write_tasks(work, server.url, most_tokens=50, concurrency=1)
    said = "Token budget used up (76 of most_tokens=50). Raise most_tokens to continue."
    assert {row["reason"] for row in first.unsettled_rows} == {"ceiling"}
    assert first.unsettled_rows[-1]["detail"] == said
    assert write_tasks(work, server.url, most_tokens=76).unsettled == 2 and len(server.bodies) == 2


def test_replies_that_are_cut_off_name_the_key_that_ends_them(tmp_path, serve):
    work = kernels(tmp_path, "histogram")
    server = serve(histogram=["```cuda\nint main() {"] * 3)
    output = run("write", work, f"endpoint={server.url}", "model=writer", "compile_only=true", "tries=5", exit_code=1)
    (row,) = lines(work / "write" / "dropped.jsonl")
    # A model that repeats itself is not asked the same again, and its kept reply is not counted as another try.
    assert len(server.bodies) == len(row["data"]["written"]["tries"]) == 2
    assert "closed: write less.\n" in output and "max_tokens" in output


def test_an_endpoint_that_refuses_ends_the_run_and_one_that_fails_a_row_does_not(tmp_path, serve):
    work = kernels(tmp_path, "histogram")
    server = serve()
    server.troubles = [sends({"error": "context too long"}, 400)]
    assert write_tasks(work, server.url).unsettled_rows[0]["detail"].startswith("status 400: context too long")
    server.troubles = [sends({}, 401)]
    output = run("write", work, f"endpoint={server.url}", "model=writer", "compile_only=true", exit_code=2)
    assert "the API key is missing or wrong" in output
    command = ["run", tmp_path / "other", put_kernels(tmp_path / "tree"), "licence=MIT"]  # said before its first stage
    for given, said in (("'localhost:1'", "expected an address"), ("'http://a', api_key_env: NO_KEY", "NO_KEY")):
        assert said in run(*command, f"write={{model: m, endpoint: {given}}}", exit_code=2)
    assert not (tmp_path / "other").exists()


def test_ctrl_c_ends_the_waiting_and_the_same_command_goes_on(tmp_path, serve):
    work = kernels(tmp_path)
    asked, server = threading.Event(), serve()

    def never(handler, body):
        asked.set()
        time.sleep(60)

    server.always = never
    command = [sys.executable, "-m", "cuset_stage.cli", "curate", "write", work, f"endpoint={server.url}"]
    command += ["model=writer", "compile_only=true"]
    running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, **HEARS_CTRL_C)
    assert asked.wait(120)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=120)
    assert running.returncode == 130 and "Run the same command again" in said


@pytest.mark.parametrize(
    ("old", "new", "reason", "message"),
    [
        ("```python", "```fortran", "bad_reply", "no block ```python"),
        ('{"name": "byte', '"name": "byte', "bad_reply", "no JSON"),
        ('"parameters": {"n": 7}', '"parameters": [7]', "bad_task", "cases[2].parameters"),
        (', {"name": "special", "parameters": {"n": 3001, "values": "few"}}', "", "bad_task", "exactly five cases"),
        ('"dtype": "uint8"', '"dtype": "byte"', "bad_task", "inputs[1].dtype"),
        ('"reason": "counts are integers"', '"reason": ""', "bad_task", "tolerance.bins.reason"),
        ('"tolerance": {"bins"', '"tolerance": {"bin"', "bad_task", "one for each of the outputs bins"),
        ('{"n": 1000037}', '{"n": 100000037}', "bad_task", "case large has 100,000,297 bytes"),
        ("data/bins.bin, uint32", "bins, uint32", "bad_task", "the prompt does not name data/bins.bin"),
        ("Every bin has to be exact.", "Use __shared__ memory.", "bad_task", "code or a launch (__shared__)"),
        ("__global__ void histo(", "__global__ void histogram(", "bad_task", "no __global__ function histo"),
    ],
)
def test_a_reply_that_is_no_task_is_told_what_is_wrong(old, new, reason, message):
    assert old in HISTOGRAM
    error = refused(HISTOGRAM.replace(old, new), False, "t", "histo")
    assert error.reason == reason and message in str(error)


def test_replies_that_were_cut_off_or_think_are_understood():
    half = HISTOGRAM[: HISTOGRAM.index("return 0;")]
    assert refused(half, True, "t", "histo").reason == "cut_off" == refused(half, False, "t", "histo").reason
    assert refused(f"<think>{HISTOGRAM}", True, "t", "histo").reason == "cut_off"
    assert draft(f"<think>{ROW_NORMS}</think>\n{HISTOGRAM}").record["name"] == "byte_histogram_modulo"
    assert draft(HISTOGRAM.replace("```cuda", "```cpp")).program == draft().program
    with pytest.raises(RowError, match="n may be 0") as error:
        read_reference("```unclear\nn may be 0\n```", False)
    assert error.value.reason == "unclear"
    assert "counts" in read_reference("```python\nold\n```\nBetter:\n```python\ncounts\n```", False)


SUMS = 'np.bincount(inputs["data"] % 64, minlength=64).astype(np.uint32)'


@pytest.mark.parametrize(
    ("old", "new", "reason", "message"),
    [
        ('inputs["data"] % 64', 'inputs["bytes"] % 64', "reference_fails", "case power_of_two: the reference failed"),
        (SUMS, "np.zeros(64, np.uint32)", "weak_cases", "zeros pass"),
    ],
)
def test_cases_that_cannot_be_made_or_tell_nothing_are_told(tmp_path, old, new, reason, message):
    assert old in HISTOGRAM
    drawn = "rng.integers(0, 256, n)"
    proofs = Proofs(tmp_path, WriteSettings(folder=tmp_path, compile_only=True).proof)
    proofs.check_cases(draft(HISTOGRAM.replace(drawn, "np.zeros(n)")))  # others tell right from wrong
    with pytest.raises(RowError) as error:
        proofs.check_cases(draft(HISTOGRAM.replace(old, new)))
    assert error.value.reason == reason and message in str(error.value) and "task t" not in str(error.value)
    by_chance = draft(HISTOGRAM.replace(drawn, f"np.random.default_rng().{drawn.removeprefix('rng.')}"))
    with pytest.raises(RowError, match="make_inputs makes other inputs each time"):
        proofs.check_reference(by_chance, read_reference(recorded("histogram_second"), False))


def test_what_failed_at_a_limit_is_tried_again_under_another(tmp_path, monkeypatch):
    tried = []

    def judged(settings, *_):
        tried.append(settings.time_limit)
        raise RowError("timeout", "it took too long")

    monkeypatch.setattr("cuset_stage.curate.proofs.judged", judged)
    settings = [WriteSettings(folder=tmp_path, compile_only=True, time_limit=limit) for limit in (None, None, 120)]
    proofs = [Proofs(tmp_path, each.proof) for each in settings]
    monkeypatch.setattr(ProofSettings, "runs_on_gpus", True)
    for each in proofs:
        with pytest.raises(RowError, match="it took too long"):
            each.run(draft(HISTOGRAM), None)
    assert tried == [None, 120]
