"""ComputeEval and robust-kbench: copies with the keys and files of the real ones are read, and what breaks them is named."""

import re
from pathlib import Path

import pytest
import torch
from other_sets import computeeval_row, robust_kbench
from task_factory import write_lines

from cuset_stage.tasks import ModuleTask, ProgramTask, TaskError, load_tasks
from cuset_stage.tasks.messages import chat_messages


def load_problem(folder: Path, **changes) -> ProgramTask:
    return load_tasks(write_lines(folder / "problems.jsonl", computeeval_row(**changes))).tasks[0]


def test_computeeval(tmp_path):
    task = load_problem(tmp_path)
    assert (task.id, task.family, task.split, task.time_limit) == ("CUDA/7", "cuda-runtime", "cuda-runtime", 45.0)
    assert task.project.answer == "solution.cu"
    assert {"include/twice.h", "test/test_main.cpp", "helpers/one.cpp"} < set(task.project.files)
    assert task.project.options[:5] == ("-I", "include", "solution.cu", "helpers/one.cpp", "test/test_main.cpp")
    assert "-arch=native" not in task.project.options
    assert task.project.requires == (("twice",), ("cudaMalloc", "std::size_t"))
    system, user = (message["content"] for message in chat_messages(task))
    assert "one code block" in system
    for shown in ("Write a function that doubles.", "int twice(int x);", "nvcc -I include"):
        assert shown in user
    assert "assert(" not in user, "the tests are not shown"
    both = "nvcc -o test.out solution.cu test/*.cpp && nvcc -DBENCH -o bench.out solution.cu test/*.cpp"
    for command in (both, "nvcc -o test.out solution.cu test/*.cpp -arch"):
        assert "-DBENCH" not in load_problem(tmp_path, build_command=command).project.options
    for names, required in (("twice", (("twice",),)), (["a", "b"], (("a",), ("b",))), (None, ())):
        other = load_problem(tmp_path, source_references=names, group=None)
        assert (other.project.requires, other.family) == (required, "CUDA")
        assert other.fingerprint != task.fingerprint


def test_what_computeeval_has_for_python_is_left_out(tmp_path):
    rows = [computeeval_row(), computeeval_row(task_id="cutile/1", type="cuda_python")]
    tasks = load_tasks(write_lines(tmp_path / "problems.jsonl", *rows))
    assert (tasks.format, len(tasks), tasks.left_out) == ("computeeval", 1, "1 problems of type cuda_python")
    with pytest.raises(TaskError, match=r"no task 'cutile/1'.*left out are 1 problems of type cuda_python"):
        tasks.by_id("cutile/1")
    with pytest.raises(TaskError, match="no tasks that can be judged; left out are 1 problems"):
        load_tasks(write_lines(tmp_path / "problems.jsonl", rows[1]))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"build_command": "make"}, "build_command: is 'make'; expected nvcc with -o test.out"),
        ({"build_command": "nvcc -o test.out 'x"}, "build_command: cannot be split into arguments"),
        ({"build_command": "nvcc -o test.out a.cu b.cu"}, "build_command: compiles ['a.cu', 'b.cu'] beside the given"),
        ({"test_command": "python test.py"}, "test_command: is 'python test.py'; expected the program alone"),
        ({"context_files": [{"path": "../x.h", "content": ""}]}, "context_files[0].path is '../x.h'; expected a rel"),
        ({"context_files": [{"path": "/x.h", "content": ""}]}, "context_files[0].path is '/x.h'; expected a relative"),
        (
            {"test_files": [{"path": path, "content": ""} for path in ("test/t.cpp", "cuset_main.cpp")]},
            "test_files: cuset_main.cpp is the judge's own",
        ),
        ({"type": "cuda_rust"}, "type is 'cuda_rust'; expected cuda_cpp or cuda_python"),
        ({"timeout_seconds": -1}, "timeout_seconds is -1; expected seconds"),
        ({"source_references": {"all": "a"}}, "source_references is {'all': 'a'}; expected a name, a list of names,"),
    ],
)
def test_bad_problems(tmp_path, changes, says):
    with pytest.raises(TaskError, match=re.escape(f"problems.jsonl:1: {says}")):
        load_problem(tmp_path, **changes)


def test_robust_kbench(tmp_path):
    tasks = load_tasks(robust_kbench(tmp_path / "repo"))
    assert tasks.format == "robust-kbench"
    assert [task.id for task in tasks] == ["scale_backward", "scale_forward"]
    assert all(isinstance(task, ModuleTask) and task.language == "cuda" for task in tasks)
    backward, forward = tasks
    assert (forward.split, forward.solution, backward.solution) == ("forward", "// a kernel\n", None)
    assert forward.notes == ("task: filter_output_std, by the task set's own filters",)
    prompt = chat_messages(forward)[1]["content"]
    assert "def forward_fn" in prompt and "- start=1.0, rows=2, width=5" in prompt
    assert load_tasks(tmp_path / "repo/tasks/scale").tasks[0].fingerprint == backward.fingerprint
    assert forward.fingerprint != backward.fingerprint
    kernel = tmp_path / "repo/tasks/scale/forward.cu"
    kernel.rename(tmp_path / "secret")  # a link in a clone can lead to any file of the machine
    kernel.symlink_to(tmp_path / "secret")
    assert load_tasks(tmp_path / "repo").tasks[1].solution is None


def load_module(root: Path, only: str) -> dict:
    (task,) = load_tasks(robust_kbench(root), only=[only])
    module: dict = {}
    exec(task.reference, module)
    return module


def test_every_setting_of_robust_kbench_is_computed(tmp_path):
    module = load_module(tmp_path, "scale_forward")
    model, (drawn,) = module["Model"](), module["get_inputs"]()
    found = model(drawn)
    assert list(found) == [f"start={s}, rows={r}, width={w}" for s in (1.0, 3.0) for r in (2, 4) for w in (5,)]
    assert [inputs[0].shape for inputs in drawn] == [(2, 5), (4, 5)], "the two of a start are those of the other"
    for (setting, output), x in zip(found.items(), [inputs[0] for inputs in drawn] * 2, strict=True):
        start = float(setting.partition("start=")[2].partition(",")[0])
        assert torch.equal(output, x * start), setting


def test_gradients_of_robust_kbench(tmp_path):
    """Against the derivative by hand: y = x * weight, with a weight of the row's width."""
    module = load_module(tmp_path, "scale_backward")
    model, (drawn, needed, upstream) = module["Model"](), module["get_inputs"]()
    assert needed == [[True], [True]]
    with torch.no_grad():  # as the judge calls it
        found = model(drawn, needed, upstream)
    for index, gradients in enumerate(found.values()):
        (x,), (weight,), up = drawn[index % 2], model.models[index].parameters(), upstream[index]
        torch.testing.assert_close(gradients, [up * weight, (up * x).sum(0)])


@pytest.mark.parametrize(
    ("file", "text", "says"),
    [
        ("config_forward.json", "{}", "config_forward.json: multi_init_configs is missing; expected a list of at"),
        ("config_forward.json", "[]", r"config_forward.json: found .*, expected an object"),
        ("func_forward.py", "def f(:", r"scale/func_forward.py: code: not Python"),
        ("func_forward.py", "class Model: pass", r"scale/func_forward.py: code: does not define get_inputs"),
        ("func_backward.py", "class Model: pass\ndef get_inputs(): pass", r"does not define AutogradFunction"),
        ("config_sideways.json", "{}", r"config_sideways.json: expected config_forward.json or config_backward.json"),
        ("filter_results.json", "no", r"filter_results.json: not JSON"),
    ],
)
def test_bad_robust_kbench(tmp_path, file, text, says):
    root = robust_kbench(tmp_path / "repo")
    (root / "tasks" / "scale" / file).write_text(text)
    with pytest.raises(TaskError, match=says):
        load_tasks(root)


def test_a_folder_of_nothing_and_a_format_that_is_no_file(tmp_path):
    layouts = r"a folder; expected <task>/task.json \(cuset\); or .*robust-kbench.*kernelbench.* in it"
    for format in ("auto", "cuset", "kernelbench", "robust-kbench", "computeeval"):
        with pytest.raises(TaskError, match=layouts):
            load_tasks(tmp_path, format=format)
    path = write_lines(tmp_path / "problems.jsonl", computeeval_row())
    with pytest.raises(TaskError, match=r"the first row has the keys .*; expected those of a file's format"):
        load_tasks(path, format="robust-kbench")
