"""Task sets of every format are read as they are; what breaks a format is named by file, row and key."""

import json
import re
import shutil

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from task_factory import COMPARE, DOUBLE, GEN, cudabench_row, cuset_row, load_row, write_lines

from cuset_stage.judge.oracle import CaseCache
from cuset_stage.tasks import ModuleTask, ReferenceOracle, ScriptOracle, TaskError, Tensor, load_tasks
from cuset_stage.tasks.messages import chat_messages
from cuset_stage.tasks.native import evaluate_size


MODEL = "class Model: ...\ndef get_inputs(): ...\ndef get_init_inputs(): ...\n"


def test_cudabench_row(tmp_path):
    task = load_row(tmp_path, cudabench_row())
    assert (task.id, task.name, task.family, task.language) == ("3", "Double", "Double", "cuda")
    assert task.oracle == ScriptOracle(generate=GEN, compare=COMPARE)
    assert task.cases[0].inputs == (Tensor("x", "float32", (64,)),)
    assert (task.cases[0].outputs[0].nbytes, task.cases[0].outputs[0].file) == (256, "data/y.bin")
    assert (task.source, task.solution) == ("tasks.jsonl:1", "int main() { return 0; }")
    (undeclared,) = load_row(tmp_path, cudabench_row(outputs=[])).cases[0].outputs  # that compare.py names
    assert (undeclared.name, undeclared.nbytes) == ("y", None)
    for shape, expected in (("(2, 3)", (2, 3)), ("[4, 5]", (4, 5)), ("(7)", (7,)), ("()", ())):
        task = load_row(tmp_path, cudabench_row(inputs=[{"name": "x", "dtype": "int64", "shape": shape}]))
        assert task.cases[0].inputs[0].shape == expected


@pytest.mark.parametrize(
    ("written", "name", "size"),
    [
        ("np.float32", "float32", 4), ("float", "float32", 4), ("torch.float32", "float32", 4), ("<f4", "float32", 4),
        ("np.float", "float64", 8), ("numpy.int_", "int64", 8), ("int", "int32", 4), ("uint8_t", "uint8", 1),
        ("bool_", "bool", 1), ("|b1", "bool", 1), ("=c8", "complex64", 8), ("torch.bfloat16", "bfloat16", 2),
        ("unsigned int", "uint32", 4), (">f4", ">f4", None), ("f3", "f3", None), ("torch.float8_e5m2", "float8_e5m2", None),
    ],
)  # fmt: skip
def test_names_of_dtypes(tmp_path, written, name, size):
    row = cudabench_row(outputs=[{"name": "y", "dtype": written, "shape": "(5, 3)"}])
    (output,) = load_row(tmp_path, row).cases[0].outputs
    assert (output.dtype, output.nbytes) == (name, size and 15 * size)


def test_messages_name_files_sizes_and_the_gpu(tmp_path):
    task = load_row(tmp_path, cudabench_row())
    system, user = chat_messages(task)
    assert (system["role"], user["role"]) == ("system", "user")
    assert "```cpp" in system["content"]
    shown = "Double", "one thread an element", "float, 4 bytes each", "(64,)", "data/x.bin", "data/y.bin", "Some GPU"
    for part in shown:
        assert part in user["content"]
    other = chat_messages(load_row(tmp_path, cudabench_row(gpu="H100")), level=3)[1]["content"]
    assert "Double." in other and "H100" in other and "Some GPU" not in other
    assert "GPU:" not in chat_messages(load_row(tmp_path, cudabench_row(gpu="unknown")))[1]["content"]


def test_the_wordings_of_our_own_format_are_levels(tmp_path):
    task = load_row(tmp_path, cuset_row(bare="y = 2 x", detailed="Use a thread a value.", alternative="other"))
    asked = [chat_messages(task, level=level)[0]["content"] for level in (1, 2, 3)]
    assert asked == ["Double x.", "y = 2 x", "Use a thread a value."] and task.alternative == "other"
    with pytest.raises(TaskError, match=r"task double \(tasks.jsonl:1\): no prompt of level 2; it has 1"):
        chat_messages(load_row(tmp_path, cuset_row()), level=2)


def test_own_row(tmp_path):
    row = cuset_row(outputs=[{"name": "y", "dtype": "float32", "shape": ["2 * (n - 1) // 3", 4]}])
    task = load_row(tmp_path, row | {"sizes": {"n": [1, 99]}})
    assert [case.name for case in task.cases] == ["even", "odd"]
    assert [case.outputs[0].shape for case in task.cases] == [(20, 4), (10, 4)]
    assert task.cases[1].parameters == {"n": 17}
    assert isinstance(task.oracle, ReferenceOracle)
    assert (task.family, task.split) == ("elementwise", "train")
    assert chat_messages(task) == [{"role": "user", "content": "Double x."}]
    row = cuset_row(inputs=[], outputs=[{"name": "y", "dtype": "int8", "shape": [3]}])
    (case,) = load_row(tmp_path, without(row, "cases")).cases
    assert (case.name, dict(case.parameters)) == ("default", {})


def test_a_folder_says_the_same_as_its_row(tmp_path):
    row = cuset_row()
    folder = tmp_path / "kernels" / "double"
    folder.mkdir(parents=True)
    meta = {key: row[key] for key in ("family", "split", "inputs", "outputs", "cases")}
    (folder / "task.json").write_text(json.dumps(meta))
    (folder / "prompt.md").write_text("Double x.", encoding="utf-8-sig")
    (folder / "reference.py").write_text(DOUBLE, encoding="utf-8-sig")
    (folder / "kernel.cu").write_text("int main() {}")
    from_folder = load_tasks(tmp_path / "kernels").by_id("double")
    assert from_folder.fingerprint == load_row(tmp_path, row).fingerprint
    assert from_folder.solution == "int main() {}"
    assert load_tasks(folder).tasks == load_tasks(tmp_path / "kernels").tasks
    folder.with_name("in_part").mkdir()
    shutil.copy(folder / "reference.py", folder.with_name("in_part"))
    with pytest.raises(TaskError, match=r"in_part/task.json: missing"):
        load_tasks(tmp_path / "kernels")
    (folder / "reference.py").unlink()
    with pytest.raises(TaskError, match=r"double/reference.py: missing"):
        load_tasks(tmp_path / "kernels")


def test_the_row_that_is_shown_to_people_is_a_task(tmp_path, pytestconfig):
    text = (pytestconfig.rootpath / "data" / "README.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    (tmp_path / "tasks.jsonl").write_text(shown, encoding="utf-8")
    (task,) = load_tasks(tmp_path / "tasks.jsonl").tasks
    prepared = CaseCache(tmp_path / "cache").prepare(task, task.cases[0])
    assert np.fromfile(prepared.expected["data/y.bin"], np.float32).shape == (1001,)
    table = text.split("## A task set of your own")[1].split("```")[0]
    keys = re.findall(r"`(\w+)`", "".join(re.findall(r"(?m)^\|([^|]*)\|", table)))
    assert set(keys) >= {*cuset_row(), *json.loads(shown)}


def test_the_fingerprint_is_what_decides_judgement(tmp_path):
    first = load_row(tmp_path, cuset_row()).fingerprint
    assert load_row(tmp_path, cuset_row(prompt="Other words.", family="other")).fingerprint == first
    changes = [{"reference": DOUBLE + "\n"}, {"id": "other"}, {"cases": [{"name": "even", "parameters": {"n": 33}}]}]
    assert len({load_row(tmp_path, cuset_row(**change)).fingerprint for change in changes} | {first}) == 4


def test_kernelbench_folder(tmp_path):
    for name in ("level1/10_Softmax", "level1/2_Matmul", "level2/1_Fused"):
        file = tmp_path / f"{name}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(MODEL)
    tasks = load_tasks(tmp_path)
    assert tasks.format == "kernelbench"
    assert [task.id for task in tasks] == ["level1_2_Matmul", "level1_10_Softmax", "level2_1_Fused"]
    assert all(isinstance(task, ModuleTask) and task.language == "python" for task in tasks)
    assert MODEL.strip() in chat_messages(tasks.tasks[0])[1]["content"]
    assert [task.id for task in load_tasks(tmp_path / "level2")] == ["level2_1_Fused"]


def test_kernelbench_jsonl_and_parquet_say_the_same(tmp_path):
    rows = [{"code": MODEL, "level": 1, "name": "2_Matmul", "problem_id": 2}]
    lines = load_tasks(write_lines(tmp_path / "kb.jsonl", *rows))
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "kb.parquet")
    table = load_tasks(tmp_path / "kb.parquet")
    assert lines.tasks[0].id == table.tasks[0].id == "level1_2_Matmul"
    assert lines.tasks[0].fingerprint == table.tasks[0].fingerprint
    for change, message in (
        ({"code": MODEL.replace("get_inputs", "inputs")}, r"kb.jsonl:1: code: does not define get_inputs"),
        ({"level": "1"}, r"kb.jsonl:1: level is '1'; expected an integer from 0"),
    ):
        with pytest.raises(TaskError, match=message):
            load_tasks(write_lines(tmp_path / "kb.jsonl", rows[0] | change))


def test_split_and_only(tmp_path):
    rows = [cuset_row(id="a"), cuset_row(id="b", split="eval", name="Bee"), cuset_row(id="c")]
    three = write_lines(tmp_path / "three.jsonl", *rows)
    assert [task.id for task in load_tasks(three, split="train")] == ["a", "c"]
    assert [task.id for task in load_tasks(three, only=["c", "Bee"])] == ["b", "c"]
    assert load_tasks(three, only=["c"]).sha256 == load_tasks(three).sha256
    with pytest.raises(TaskError, match="no task of split 'test'; splits: eval, train"):
        load_tasks(three, split="test")
    with pytest.raises(TaskError, match="no task 'Beee'; did you mean Bee"):
        load_tasks(three, only=["Beee"])
    with pytest.raises(TaskError, match="no task 'zzz'; known are a, b, c"):
        load_tasks(three).by_id("zzz")


def without(row: dict, key: str) -> dict:
    return {name: value for name, value in row.items() if name != key}


SIZE = [{"name": "x", "dtype": "float32", "shape": ["n"]}]
BAD_ROWS = [
    (cuset_row(prompt=" "), "prompt is ' '; expected text that is not empty"),
    (cuset_row(id=".."), "id is '..'; expected letters, digits"),
    (cuset_row(id="first"), "id: 'first' is already the id of tasks.jsonl:1"),
    (cuset_row(inputs={"x": 1}), "inputs is {'x': 1}; expected a list of objects"),
    (cuset_row(outputs=[]), "outputs: is empty"),
    (cuset_row(outputs=SIZE), "inputs and outputs: name 'x' is used twice"),
    (cuset_row(inputs=[SIZE[0] | {"dtype": "float"}]), "inputs[0].dtype is 'float'; expected one of bool, float16"),
    (cuset_row(inputs=[SIZE[0] | {"shape": ["m"]}]), "inputs[0].shape: case even: 'm' is not an expression of n"),
    (cuset_row(inputs=[SIZE[0] | {"shape": ["n - 17"]}]), "inputs[0].shape: case odd: 'n - 17' is 0, a size is pos"),
    (cuset_row(cases=[]), "cases: is empty"),
    (cuset_row(cases=[{"name": "a", "parameters": [1]}]), "cases[0].parameters is [1]; expected an object whose keys"),
    (cuset_row(cases=[{"name": "a", "parameters": {"n": 1}}] * 2), "cases[1].name: 'a' is used twice"),
    (without(cuset_row(), "reference"), "reference is missing; expected text that is not empty; there are id, family"),
    (without(cudabench_row(), "gen.py"), "gen.py is missing; expected text that is not empty; there are id"),
    (cudabench_row(id=True), "id is True; expected an integer or text"),
    (cudabench_row(inputs=[SIZE[0] | {"shape": "(n,)"}]), "inputs[0].shape is '(n,)'; expected a tuple of positive"),
    (cudabench_row(inputs=[SIZE[0] | {"name": "../x", "shape": "(4,)"}]), "inputs[0].name is '../x'; expected"),
    (cudabench_row(outputs=[], **{"compare.py": "print('T')"}), "outputs: declares none"),
    (cuset_row(reference="a\ud800"), "reference is 'a\\ud800'; expected text that is not empty"),
]


@pytest.mark.parametrize(("row", "message"), BAD_ROWS)
def test_a_bad_row_is_named(tmp_path, row, message):
    first = cudabench_row(id=1) if "task_name" in row else cuset_row(id="first")
    with pytest.raises(TaskError, match=re.escape(f"tasks.jsonl:2: {message}")):
        load_tasks(write_lines(tmp_path / "tasks.jsonl", first, row))


def test_bad_paths(tmp_path):
    row = json.dumps(cuset_row())
    for name, content, message in [
        ("absent.jsonl", None, "no such file or folder; .*or data/cuset_mini_2.jsonl for the package's 200 tasks"),
        ("notes.txt", b"x", "expected a folder or a file that ends in .jsonl"),
        ("broken.parquet", b"x", "not a Parquet file"),
        ("latin.jsonl", b'{"id": "\xe9"}\n', "not JSON .*utf-8"),
        ("utf16.jsonl", row.encode("utf-16"), "utf16.jsonl:1: not JSON .*utf-8"),
        ("empty.jsonl", b"", "no rows"),
        ("other.jsonl", b'{"id": 1}\n', "the first row has the keys id; expected those of a file's format"),
        ("torn.jsonl", f'{row}\n{{"id": \n'.encode(), r"torn.jsonl:2: not JSON"),
        ("list.jsonl", f"{row}\n[1, 2]\n".encode(), r"list.jsonl:2: list; expected one JSON object a line"),
    ]:
        if content is not None:
            (tmp_path / name).write_bytes(content)
        with pytest.raises(TaskError, match=message):
            load_tasks(tmp_path / name)
    with pytest.raises(TaskError, match="format 'kernel': expected auto, cudabench, cuset, kernelbench"):
        load_tasks(tmp_path, format="kernel")


SIZES = {"m": 5, "n": 12, "k": 3}
expressions = st.recursive(
    st.sampled_from([*SIZES, "1", "2", "7"]),
    lambda parts: st.builds("({} {} {})".format, parts, st.sampled_from(["+", "-", "*", "//", "%"]), parts),
    max_leaves=6,
)


@given(expressions)
@settings(deadline=None)
def test_sizes_are_what_python_says(expression):
    try:
        expected = eval(expression, {}, SIZES)
    except ZeroDivisionError:
        expected = 0
    if expected > 0:
        assert evaluate_size(expression, SIZES) == expected
    else:
        with pytest.raises(ValueError):
            evaluate_size(expression, SIZES)


@pytest.mark.parametrize(
    "entry",
    ["__import__('os').getpid()", "m.real", "m[0]", "m ** 2", "2.5", "True", "1 << 60", "-m", "[m]", "m if n else k",
     "(" * 150 + "m" + ")" * 150, "9" * 40, "m ** 99999", 0, -1, 2.0, True, None],
)  # fmt: skip
def test_nothing_else_is_a_size(entry):
    with pytest.raises(ValueError):
        evaluate_size(entry, SIZES)
