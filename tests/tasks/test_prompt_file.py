"""CUDABench's own prompts from the user's clone: as its builder fills them, never run, and named in answers, results and reports."""

import json

import pytest
from commands import cuset
from host_programs import AS_HOST
from task_factory import cudabench_row, cuset_row, load_row, write_lines

from cuset_stage.tasks import TaskError
from cuset_stage.tasks.messages import EDITIONS, chat_messages
from cuset_stage.tasks.prompt_file import read_prompts


SYSTEM = 'Write CUDA. Start with {{ "a": 1 }} on a {gpu}.'
PROMPT = (
    "\nName: {task_name}\n{task_description}\nIn:\n{input_spec}\nOut:\n{output_spec}\n{{braces}} {gpu}\nProgram:\n"
)
FILE = f"import nothing_of_this_name\n\nSYSTEM_PROMPT = {SYSTEM!r}\n\nPROMPT: str = {PROMPT!r}\nraise SystemExit(1)\n"


@pytest.fixture
def clone(tmp_path):
    def write(text=FILE):
        file = tmp_path / "CUDABench" / "Generate" / "prompt.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    return write


def test_the_messages_are_the_benchmarks(clone, tmp_path):
    file = clone()
    inputs = ({"name": "x", "dtype": "np.float32", "shape": "(64)"}, {"name": "k", "dtype": "int", "shape": "(2,3)"})
    row = cudabench_row(inputs=inputs, gpu=None)
    task = load_row(tmp_path, row)
    expected = (
        "\nName: Double\nDouble.\nIn:\nx: np.float32, shape = (64)\nk: int, shape = (2,3)\nOut:\ny: float32, shape = (64,)\n"
        "{braces} unknown\nProgram:\n"
    )
    for place in (file, file.parent, file.parents[1]):
        messages = chat_messages(task, level=3, prompts=read_prompts(place))
        assert messages == [{"role": "system", "content": SYSTEM}, {"role": "user", "content": expected}]
    named = chat_messages(load_row(tmp_path, {**row, "gpu": "H100"}), prompts=read_prompts(file))[1]["content"]
    assert "{braces} H100" in named and "one thread an element" in named
    of_row = chat_messages(load_row(tmp_path, cudabench_row()), prompts=read_prompts(file))[1]["content"]
    assert "{braces} Some GPU" in of_row
    label = read_prompts(file).label
    assert read_prompts(clone(FILE.replace("Write", "write"))).label != label == read_prompts(clone()).label


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("PROMPT = '{task_description}'", "SYSTEM_PROMPT is not there; expected CUDABench's Generate/prompt.py"),
        ("SYSTEM_PROMPT = 'a'", "PROMPT is not there"),
        ("SYSTEM_PROMPT = 'a'\nPROMPT = make()", "PROMPT is not a string literal"),
        ("SYSTEM_PROMPT = 3\nPROMPT = '{task_description}'", "SYSTEM_PROMPT is not a string literal"),
        ("SYSTEM_PROMPT = ' '\nPROMPT = '{task_description}'", "SYSTEM_PROMPT is not a string literal"),
        ("def f(:", "not Python in UTF-8"),
        ("SYSTEM_PROMPT = 'a'\nPROMPT = '{task_description} {level}'", "PROMPT cannot be filled (KeyError('level')"),
        ("SYSTEM_PROMPT = 'a'\nPROMPT = '{task_description} {gpu.name}'", "PROMPT cannot be filled (AttributeError"),
        ("SYSTEM_PROMPT = 'a'\nPROMPT = '{task_description} {}'", "PROMPT cannot be filled (IndexError"),
        ("SYSTEM_PROMPT = 'a'\nPROMPT = '{task_description} {'", "PROMPT cannot be filled (ValueError"),
        ("SYSTEM_PROMPT = 'a'\nPROMPT = '{task_name}'", "PROMPT lacks {task_description}"),
    ],
)
def test_another_file_is_refused_with_what_was_expected(clone, text, message):
    with pytest.raises(TaskError) as error:
        read_prompts(clone(text))
    assert message in str(error.value) and "prompt.py" in str(error.value)


def test_there_must_be_a_file(tmp_path):
    with pytest.raises(TaskError, match=r"prompts=.*: .*; expected CUDABench's Generate/prompt.py, or the folder"):
        read_prompts(tmp_path)


def test_the_prompts_of_another_set_stay_its_own(clone, tmp_path):
    with pytest.raises(TaskError, match=r"task double \(tasks.jsonl:1\): prompts= are CUDABench's"):
        chat_messages(load_row(tmp_path, cuset_row()), prompts=read_prompts(clone()))


def test_answers_results_and_reports_name_the_prompts(clone, tmp_path, tiny_model, options_checked_once):
    """From the command line: answers of editions 1 and 2 and of the clone, each judged, and one report over them that warns."""
    tasks = write_lines(tmp_path / "tasks.jsonl", cudabench_row())

    sampling = ("generate", tasks, f"model={tiny_model}", "device=cpu", "max_tokens=2")
    answers = {name: tmp_path / f"{name}.jsonl" for name in ("first", "second", "clone")}
    cuset(*sampling, f"output={answers['second']}")
    cuset(*sampling, f"prompts={clone()}", f"output={answers['clone']}")
    lines = {name: json.loads(answers[name].read_text()) for name in ("second", "clone")}
    labels = {"first": EDITIONS[0], "second": EDITIONS[1], "clone": read_prompts(clone()).label}
    assert {name: line["prompts"] for name, line in lines.items()} == {name: labels[name] for name in lines}
    assert lines["second"]["prompt_sha256"] != lines["clone"]["prompt_sha256"]
    answers["first"].write_text(json.dumps({key: value for key, value in lines["second"].items() if key != "prompts"}))
    for name in ("clone", "first"):
        refused = " ".join(cuset(*sampling, f"output={answers[name]}", exit_code=2).split())
        assert f"was made with prompts={labels[name]!r}, this run has prompts={EDITIONS[1]!r}" in refused
    results = {name: tmp_path / f"{name}-results.jsonl" for name in answers}
    for name, path in answers.items():
        judging = (f"tasks={tasks}", "compile_only=true", AS_HOST, f"method={name}", f"output={results[name]}")
        cuset("evaluate", path, *judging)
        assert json.loads(results[name].read_text().splitlines()[0])["generation"]["prompts"] == labels[name]
    cuset("report", *results.values(), f"output={tmp_path / 'report'}")
    page = (tmp_path / "report" / "report.md").read_text()
    assert f"The runs answer different prompts: {'; '.join(map(': '.join, labels.items()))}." in page
