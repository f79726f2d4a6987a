"""`cuset init`: what it finds out of models and data, what it chooses for a machine, and that its folder trains."""

import json
import re
import shlex
import subprocess
import sys
from contextlib import nullcontext
from dataclasses import replace
from itertools import product
from pathlib import Path

import make_tiny_model
import pytest
import templates
import yaml
from commands import cuset
from llamafactory.data.converter import get_dataset_converter
from llamafactory.data.parser import get_dataset_list
from llamafactory.hparams import get_infer_args, get_train_args
from llamafactory.hparams.data_args import DataArguments
from transformers import AutoConfig, AutoModelForCausalLM

from cuset_stage.cli._app import COMMANDS
from cuset_stage.project import plan as planning
from cuset_stage.project.folder import ROLES, TAGS, DataFile, Project, next_steps, read_form
from cuset_stage.project.plan import KNOWN, choose_learning_rate, choose_plan, choose_schedule, shape_of, training_gib
from cuset_stage.project.template import difference, template_of
from cuset_stage.stage.row_forms import check_turns
from cuset_stage.text import InputError


ROOT = Path(__file__).parents[2]
QWEN_7B, QWEN_32B = KNOWN["qwen2.5-coder-7b-instruct"], KNOWN["qwen2.5-coder-32b-instruct"]


@pytest.fixture(scope="module")
def shapes(tmp_path_factory):
    """The shapes of the models that were measured, from a config.json of each, as a user's folder has one."""
    found = {}
    for name in ("1.5b", "7b", "14b", "32b"):
        folder = tmp_path_factory.mktemp("shape") / name
        keys = {"model_type": "qwen2", "tie_word_embeddings": False} | make_tiny_model.SHAPES[name]
        AutoConfig.for_model(**keys).save_pretrained(folder)
        found[name] = shape_of(str(folder))
    return found


@pytest.fixture
def init(tmp_path, monkeypatch):
    """Run `cuset init` for a folder of its own, as if without a GPU, and return that folder and what was printed."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")

    def run(*options, code=0):
        said = cuset("init", tmp_path / "made", *options, exit_code=code)
        return tmp_path / "made", said.replace(" \\\n     ", " ")  # commands over several lines

    return run


def test_the_estimate_is_what_was_measured(shapes):
    rows = json.loads((ROOT / "benchmarks" / "memory_h200.json").read_text(encoding="utf-8"))
    assert len(rows) >= 10
    for row in rows:
        estimate = training_gib(shapes[row["model"]], row["method"], row["cutoff_len"])
        assert estimate == pytest.approx(row["peak_gib"], rel=0.03), row
        # On the smallest GPU that this is chosen for, what PyTorch holds and the CUDA context have room.
        assert row["reserved_gib"] + 0.6 <= planning.gpu_gib(estimate)
        seconds = planning.seconds_a_row(shapes[row["model"]], row["cutoff_len"], planning.H200)
        assert seconds == pytest.approx(row["seconds_per_step"], rel=0.25), row


def test_the_estimate_for_two_gpus_without_deepspeed_is_what_was_measured(shapes):
    record = json.loads((ROOT / "benchmarks" / "step_7b_ddp_h200x2.json").read_text(encoding="utf-8"))
    estimate = training_gib(shapes["7b"], "lora", record["cutoff_len"], gpus=record["ranks"])
    assert estimate == pytest.approx(record["results"]["cuset"]["peak_gib"], rel=0.03)


def test_the_table_of_the_paper_s_models_is_what_their_configurations_give(shapes):
    for size, found in shapes.items():
        known = KNOWN["qwen3-14b" if size == "14b" else f"qwen2.5-coder-{size}-instruct"]
        assert known.parameters == pytest.approx(found.parameters, rel=1e-3)
        assert replace(known, parameters=found.parameters) == found


@pytest.mark.parametrize(
    ("shape", "gpus", "memory", "expected"),
    [
        (QWEN_7B, 1, 24, ("lora", 4096, 0, 2)),
        (QWEN_7B, 1, 48, ("lora", 4096, 0, 8)),
        (QWEN_7B, 8, 24, ("lora", 4096, 2, 1)),  # the paper's machine and settings
        (QWEN_7B, 1, 16, ("qlora", 4096, 0, 4)),
        (QWEN_7B, 1, 7.5, ("qlora", 1024, 0, 1)),
        (QWEN_7B, 0, 64, ("lora", 4096, 0, 1)),
        (QWEN_32B, 1, 48, ("qlora", 4096, 0, 4)),
        (QWEN_32B, 1, 24, ("qlora", 2048, 0, 1)),
        (QWEN_32B, 8, 24, ("lora", 4096, 3, 1)),
        (QWEN_32B, 4, 80, ("lora", 4096, 2, 2)),
        (shape_of("x/Coder-0.5B"), 2, 24, ("lora", 4096, 2, 4)),  # what the study measured, though full tuning fits
    ],
)
def test_what_fits_is_chosen_and_the_batch_is_the_paper_s(shape, gpus, memory, expected):
    plan = choose_plan(shape, gpus, memory)
    assert (plan.tuning, plan.cutoff_len, plan.zero, plan.rows) == expected
    assert plan.batch == 8 and plan.gib <= memory
    assert choose_plan(shape, gpus, memory, lays_rows=False).rows == 1


def test_the_learning_rate_is_what_the_study_chose_for_small_models_else_the_papers():
    small = shape_of("Qwen/Qwen2.5-Coder-1.5B-Instruct")
    chosen = [choose_learning_rate(small, "lora", method) for method in ("cuset", "sft", "dft", "eaft", "profit")]
    assert chosen == [2e-4, 2e-4, 1e-4, 5e-5, 2e-4]
    assert choose_learning_rate(QWEN_7B, "qlora", "cuset") == 1e-4
    assert choose_learning_rate(small, "full", "sft") == 1e-5


def test_what_does_not_fit_says_what_would():
    says = r"32.8 B parameters do not fit a GPU with 16 GiB: qlora .* of 1024 tokens needs about 22\.\d GiB\."
    with pytest.raises(InputError, match=says):
        choose_plan(QWEN_32B, 1, 16)
    with pytest.raises(InputError, match="4-bit weights need a GPU"):
        choose_plan(QWEN_7B, 0, 64, tuning="qlora")
    assert choose_plan(QWEN_7B, 3, 24).batch == 9


def test_a_model_s_size_is_read_guessed_or_asked_for(tmp_path, tiny_model):
    guessed = shape_of("x/Some-7B-Chat")
    assert (guessed.parameters, guessed.layers) == (7e9, 32) and 4096 < guessed.hidden_size < 4200
    config = {"model_type": "gpt2", "n_embd": 64, "n_layer": 2, "n_head": 2}
    for unclear in (None, "{", json.dumps(config)):
        if unclear:
            (tmp_path / "config.json").write_text(unclear)
        with pytest.raises(InputError, match=r"neither its config.json .* nor a number such as 7B in its name tells"):
            shape_of(str(tmp_path))
    (tmp_path / "config.json").write_text(json.dumps(config | {"vocab_size": 1000}))
    assert shape_of(str(tmp_path)).intermediate_size == 256
    built = AutoModelForCausalLM.from_pretrained(tiny_model)
    assert shape_of(str(tiny_model)).parameters == built.num_parameters()


def test_the_template_is_the_one_that_llamafactory_lists(tmp_path):
    expected = {"Qwen/Qwen2.5-Coder-32B-Instruct": "qwen", "deepseek-ai/deepseek-coder-6.7b-instruct": "deepseekcoder"}
    expected |= {"ByteDance-Seed/Seed-Coder-8B-Instruct": "seed_coder", "Qwen/Qwen3-14B": "qwen3"}
    assert {model: template_of(model) for model in expected} == expected
    folder = tmp_path / "Qwen2.5-Coder-7B-Instruct"
    folder.mkdir()
    assert template_of(str(folder)) == "qwen" and template_of("my/own", "llama3") == "llama3"
    with pytest.raises(InputError, match="not one of LLaMA-Factory's; did you mean qwen"):
        template_of("my/own", "qwenn")


CHATML = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}{{ '<|im_start|>assistant\\n' }}"
LLAMA = (
    "{{ bos_token }}{% for m in messages %}<|start_header_id|>{{ m.role }}<|end_header_id|>\n\n{{ m.content }}<|eot_id|>{% endfor %}"
    "{{ '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}"
)


def test_a_template_that_asks_otherwise_than_the_model_s_own_is_warned_of(init, tiny_model, tmp_path):
    assert "template=llama3 asks otherwise" in difference(str(tiny_model), "llama3")
    assert not difference(str(tiny_model), "qwen") and not difference("someone/on-the-hub", "llama3")
    link = tmp_path / "my-model"
    link.symlink_to(tiny_model)
    folder, said = init(f"model={link}", "gpus=0", "template=llama3")
    assert f"model_name_or_path: {link}\n" in (folder / "train.yaml").read_text()  # the user's own name of it
    assert "warning: template=llama3 asks otherwise than the model's own chat template" in said


@pytest.mark.parametrize(
    ("model_type", "own", "expected"),
    [
        ("qwen3_moe", CHATML, "qwen3"),
        ("gpt2", CHATML, "chatml"),
        ("llama", LLAMA, "llama3"),
        ("llama", "{{ nonsense(", None),
        ("llama", "Something else", None),
        ("llama", None, None),
    ],
)
def test_the_template_of_another_model_is_the_one_that_asks_as_its_own(model_type, own, expected, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"model_type": model_type}))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"chat_template": own}))
    refused = pytest.raises(InputError, match=r"lists no chat template for it, .* Give template=")
    with nullcontext() if expected else refused:
        assert template_of(str(tmp_path)) == expected


def test_the_table_of_templates_is_llamafactory_s():
    assert json.loads(templates.FILE.read_text(encoding="utf-8")) == templates.table()


def test_nothing_heavy_is_imported_for_a_folder(tiny_model, tmp_path):
    """Importing LLaMA-Factory alone takes longer than all of `cuset init`."""
    code = (
        "import sys; from cuset_stage.cli import app\n"
        f"app(['init', {str(tmp_path / 'made')!r}, 'model=' + {str(tiny_model)!r}, 'template=qwen', 'gpus=0'], standalone_mode=False)\n"
        "print(sorted({'numpy', 'torch', 'transformers', 'llamafactory', 'datasets'} & set(sys.modules)))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.endswith("\n[]\n")


@pytest.mark.parametrize(
    ("rows", "held_out", "epochs", "steps", "logging"),
    [
        (19, 0, 10, 30, 1),
        (24, 2, 10, 30, 1),
        (300, 15, 3, 108, 5),
        (4020, 201, 3, 1434, 10),
        (40_000, 500, 1, 4938, 10),
    ],
)
def test_the_length_of_a_run_follows_the_rows(rows, held_out, epochs, steps, logging):
    assert choose_schedule(rows, 8) == planning.Schedule(rows - held_out, held_out, epochs, steps, logging)
    assert choose_schedule(rows, 8, has_evaluation=True).held_out == 0


SAID = {"user": "Add.", "assistant": "__global__"}
ROWS = {
    "alpaca": {"prompt": "Add.", "completion": "__global__", "system": "S"},
    "sharegpt": {"conversations": [{"from": r, "value": SAID[r]} for r in SAID], "system": "S"},
    "openai": {"messages": [{"role": r, "content": text} for r, text in {"system": "S", **SAID}.items()]},
}


@pytest.mark.parametrize("form", ROWS)
@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_llamafactory_reads_the_three_forms_with_the_entry_that_is_written(form, suffix, tmp_path):
    row, file = ROWS[form], tmp_path / f"my data{suffix}"
    file.write_text(json.dumps([row, row]) if suffix == ".json" else f"{json.dumps(row)}\n{json.dumps(row)}\n")
    found = read_form(file)
    assert (found.form, found.rows, found.name) == (form, 2, "my_data")
    (attributes,) = get_dataset_list(["my_data"], {"my_data": found.entry})
    assert attributes.load_from == "file" and attributes.dataset_name == str(file)
    read = get_dataset_converter(found.entry["formatting"], attributes, DataArguments())(row)
    assert read["_prompt"] == [{"role": "user", "content": "Add."}] and read["_system"] == "S"
    assert read["_response"] == [{"role": "assistant", "content": "__global__"}]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "No such file"),
        ("[]", "no rows; expected a list of objects"),
        ("[", "not JSON"),
        ('[{"instruction":\n"\udce9"}]', "rows.json:2: not JSON ('utf-8' codec can't decode byte 0xe9"),
        ('{\n  "train": [],\n  "test": []\n}', "one object, with the keys train, test; expected a list of objects"),
        pytest.param("[" * 5000, "not JSON (maximum recursion depth exceeded", id="too deep"),
        ('[{"code": "x"}]', "its columns are code; expected alpaca"),
        ('[{"instruction": "a", "output": "b"}, {"instruction": "a"}]', "row 2: output is None; expected text"),
        ('[{"messages": [{"from": "human", "value": "a"}]}, {"messages": ["a", 1]}]', "row 2: not every message in messages"),
        ('[{"messages": [{"text": "a"}]}]', "not every message in messages has role and content, or from and value"),
        ('[{"messages": [{"role": "robot", "content": "a"}]}]', "row 1: messages of robot; all rows use the same of human, gpt"),
        ('\ufeff[{"instruction": "a", "output": "b"}]', "expected a list of objects in UTF-8 without a byte-order mark"),
        ('[{"instruction": "a", "output": "b", "system": 5}]', "row 1: 'system', the system column, is 5; expected text"),
        ('[{"messages": [{"role": "user", "content": "a"}], "tools": [{}]}]', "row 1: 'tools' is [{}]; expected that as text"),
        ('[{"messages": [{"role": "user", "content": [{"text": "a"}]}]}]', "row 1: entry 1 of 'messages' is {'role': "),
        ('[{"messages": [{"role": "user", "content": "a"}]}]',
         "row 1: 'messages' has messages of user; expected the user's and the assistant's in turn, the"),
        ('[{"instruction": "a", "output": " \\n"}]', "no row has an answer in 'output'; expected the text to learn"),
        ('[{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": ""}]}]', "no row has an answer in 'messages'"),
    ],
)  # fmt: skip
def test_a_file_of_another_form_is_named_with_what_was_expected(content, message, tmp_path):
    file = tmp_path / "rows.json"
    if content is not None:
        file.write_text(content, errors="surrogateescape")
    with pytest.raises(InputError, match=re.escape(message)):
        read_form(file)
    with pytest.raises(InputError, match=r"expected a .json or .jsonl file, or `bundled`"):
        read_form(tmp_path / "rows.csv")


@pytest.mark.parametrize("formatting", ["sharegpt", "openai"])
def test_the_rows_refused_for_their_turns_are_those_that_llamafactory_drops(formatting):
    tags = TAGS["openai"] | {tag: names[-1] for tag, names in ROLES.items()}
    names = {"formatting": formatting, "messages": "messages", **tags}
    (attributes,) = get_dataset_list(
        ["d"], {"d": {"file_name": "d", "formatting": formatting, "columns": {"messages": "messages"}, "tags": tags}}
    )
    convert = get_dataset_converter(formatting, attributes, DataArguments())
    kept = 0
    for length in range(5):
        for roles in product(("system", "user", "assistant", "tool"), repeat=length):
            row = {"messages": [{"role": role, "content": "a"} for role in roles]}
            is_kept = bool(convert(row)["_response"])
            kept += is_kept
            with nullcontext() if is_kept else pytest.raises(InputError, match="in turn"):
                check_turns(row, names)
    assert kept


def test_what_training_does_not_read_as_expected_is_noted(tmp_path):
    file = tmp_path / "rows.json"
    user, said = ({"role": role, "content": "a"} for role in ("user", "assistant"))
    call = [{"function": {"name": "f", "arguments": "{}"}}]
    for answer, formatting, notes in (
        ({"tool_calls": None}, "sharegpt", []),
        ({"tool_calls": call, "content": None}, "openai", ["some messages have tool_calls"]),
        ({"weight": 0}, "sharegpt", ["loss_weight of rows is not read", "weight of messages is not read"]),
    ):
        row = {"messages": [user, said | answer]} | ({"loss_weight": 1} if "weight" in answer else {})
        file.write_text(json.dumps([row]))
        found = read_form(file)
        assert found.entry["formatting"] == formatting and len(found.notes) == len(notes)
        assert all(note.startswith(start) for note, start in zip(found.notes, notes, strict=True))


def test_weights_and_spans_are_named_and_checked(tmp_path):
    row = {"instruction": "a", "output": "bcd", "weight": 2, "spans": [{"start": 0, "end": 1, "weight": 0}]}
    said = {"role": "assistant", "content": "b", "loss_weight": 0.5}
    chat = {"messages": [{"role": "user", "content": "a"}, said], "weight": 1}
    file = tmp_path / "rows.json"
    file.write_text(json.dumps([row, row]))
    found = read_form(file)
    assert found.gives == ["weight", "spans"]
    named = {"prompt": "instruction", "response": "output", "weight": "weight", "spans": "spans"}
    assert found.entry["columns"] == named
    file.write_text(json.dumps([chat]))
    found = read_form(file)
    assert found.gives == ["weight", "loss_weight"]
    assert found.entry["tags"]["loss_weight_tag"] == "loss_weight" and "spans_tag" not in found.entry["tags"]
    file.write_text(json.dumps([row, {**row, "weight": "heavy"}]))
    with pytest.raises(InputError, match=r"row 2: 'weight', the weight column, is 'heavy'; .* Rename what means"):
        read_form(file)


def test_a_folder_for_one_gpu(init, tmp_path):
    file = tmp_path / "mine.jsonl"
    file.write_text((json.dumps(ROWS["alpaca"]) + "\n") * 50)
    folder, said = init("model=Qwen/Qwen3-14B", "gpus=1", "memory_gib=24", f"data={file}", "method=eaft")
    recipe = yaml.safe_load((folder / "train.yaml").read_text())
    expected = {"model_name_or_path": "Qwen/Qwen3-14B", "template": "qwen3", "quantization_bit": 4}
    expected |= {"cuset_objective": "eaft", "dataset": "mine", "dataset_dir": str(folder / "data"), "val_size": 2}
    expected |= {"logging_steps": 3, "num_train_epochs": 10.0, "save_total_limit": 1}
    expected |= {"per_device_train_batch_size": 4, "gradient_accumulation_steps": 2}
    assert expected.items() <= recipe.items() and not {"deepspeed", "eval_dataset"} & recipe.keys()
    assert "50 rows, alpaca form" in said
    assert "qlora on 1 x 24 GiB, learning rate 0.0001, 4 rows of up to 4096 tokens" in said
    assert "60 steps (10 epochs of 48 rows, 2 more to evaluate), very roughly " in said and "; writes 0." in said
    assert "14.77 billion parameters, template qwen3" in said
    # What was planned in 4 bits would not fit otherwise later either.
    reading = re.findall(r"^   (?:cuset (?:heatmap|generate)|llamafactory-cli chat) .*$", said, re.MULTILINE)
    assert len(reading) == 4 and all(" quantization_bit=4" in command for command in reading)
    assert " batch_size=" not in said  # the default is as many as a step has rows, and fewer where memory runs out
    *_, finetuning_args, _ = get_train_args({**recipe, "use_cpu": True, "bf16": False})
    assert finetuning_args.is_cuset
    model_args, *_ = get_infer_args(yaml.safe_load((folder / "chat.yaml").read_text()))
    assert model_args.adapter_name_or_path == [str(folder / "output")]


def test_a_folder_for_several_gpus(init):
    folder, said = init("model=Qwen/Qwen2.5-Coder-7B-Instruct", "gpus=3", "memory_gib=24")
    recipe = yaml.safe_load((folder / "train.yaml").read_text())
    assert json.loads(Path(recipe["deepspeed"]).read_text())["zero_optimization"]["stage"] == 2
    assert recipe["gradient_accumulation_steps"] == 3 and "a step has 9 rows" in said
    data = DataFile("mine", "alpaca", 100, 100_000, {})
    project = Project(folder, "m", QWEN_7B, "qwen", "cuset", data, choose_plan(QWEN_7B, 2, 24), is_own=True)
    assert next_steps(project, 8)[1][1][0].startswith("CUDA_VISIBLE_DEVICES=0,1 llamafactory-cli train ")
    assert next_steps(project, 2)[1][1][0].startswith("llamafactory-cli train ")
    assert "on an A100" in project.length("NVIDIA A100-SXM4-80GB") and "on an RTX 4090" in project.length("unheard of")


def test_a_folder_for_a_cpu_trains_from_another_working_directory(init, tiny_model, llamafactory):
    folder, said = init(f"model={tiny_model}", "gpus=0", "template=qwen", "tuning=full")
    recipe = yaml.safe_load((folder / "train.yaml").read_text())
    assert recipe["use_cpu"] and recipe["finetuning_type"] == "full" and "bf16" not in recipe
    short = {"max_samples": 4, "cutoff_len": 512}
    run = llamafactory({**recipe, "max_steps": 2, **short})
    assert run.output_dir == folder / "output" and (run.output_dir / "model.safetensors").exists()
    assert run.evaluations and json.loads((run.output_dir / "train_results.json").read_text())["train_loss"] > 0

    commands = re.findall(r"^   ((?:CUDA_VISIBLE_DEVICES=\S* )?(?:cuset|llamafactory-cli) .*)$", said, re.MULTILINE)
    order = "label train train heatmap generate evaluate chat train generate evaluate report"
    assert [shlex.split(command)[:2][-1] for command in commands] == order.split()
    for command in commands:
        words = shlex.split(command)
        if words[0] == "cuset":
            settings = COMMANDS[words[1]].read(words[2:])
            tasks = getattr(settings, "tasks", None)
            assert tasks is None or Path(tasks).is_file()
    # The same run with plain SFT: the keys that only CuSeT reads may stay.
    *_, objective, output = shlex.split(commands[order.split().index("train", 3)])
    sft = dict(word.split("=", 1) for word in (objective, output))
    plain = llamafactory({**recipe, **sft, "max_steps": 1, **short})
    assert "stage: cuset with cuset_objective=sft" in plain.output and plain.output_dir == folder / "sft"


def test_the_table_of_the_page_is_what_is_planned():
    page = (ROOT / "docs" / "one_gpu.md").read_text()
    rows = re.findall(r"^\| (\S+instruct|qwen3\S+) \| (.*) \|$", page, re.MULTILINE)
    assert len(rows) == 6
    for name, written in rows:
        shape, cells = KNOWN[name], []
        for plan in (choose_plan(shape, 1, 24), choose_plan(shape, 1, 48)):
            shorter = f" {plan.cutoff_len:,} tokens," if plan.cutoff_len < 4096 else ""
            rows = f"{plan.rows} row{'s' * (plan.rows > 1)}"
            cells.append(f"{ {'lora': 'LoRA', 'qlora': 'QLoRA'}[plan.tuning] },{shorter} {rows}, {plan.gib:.1f} GiB")
        embeddings = shape.vocab_size * shape.hidden_size * (1 if shape.tied else 2)
        sizes = 2 * shape.parameters, 2 * embeddings + planning.NF4 * (shape.parameters - embeddings)
        assert written.split(" | ") == [*cells, *(f"{size / 2**30:.1f} GiB" for size in sizes)]


def test_what_is_missing_is_asked_for(init, tmp_path):
    assert "init: model: missing; say model=..." in init(code=2)[1]
    assert "init: model='no/such/folder': there is no such folder" in init("model=no/such/folder", "gpus=0", code=2)[1]
    here = "Qwen/Qwen2.5-Coder-7B-Instruct"
    assert "init: memory_gib is missing" in init(f"model={here}", "gpus=1", code=2)[1]
    assert "or say that it trains on GPUs (gpus=1)" in init(f"model={here}", "gpus=0", "memory_gib=24", code=2)[1]
    init(f"model={here}", "gpus=1", "memory_gib=24")
    assert "train.yaml exists" in init(f"model={here}", "gpus=1", "memory_gib=24", code=2)[1]


def test_recipes_are_listed_and_found():
    listed = cuset("recipes")
    assert "cuset_qwen7b: CuSeT as the paper trains it" in listed and "export: " in listed
    assert cuset("recipes", "export").strip() == str(ROOT / "yaml_configs" / "export.yaml")
    assert "did you mean cuset_qwen7b" in cuset("recipes", "cuset_qwen7", exit_code=2)
