"""The `cuset` command, bad input included."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import cuset_stage
from cuset_stage import _compatibility, attention
from cuset_stage.analysis import doctor
from cuset_stage.analysis.requests import AnalyzeSettings, HeatmapSettings
from cuset_stage.cli import app
from cuset_stage.curate.importing import MAPS
from cuset_stage.generate import BackendSettings
from cuset_stage.report.cells import Cell, Column, Table, print_table, text_column
from cuset_stage.spans import KINDS

from .conftest import ROOT


CODE = "Here:\n```cuda\n__global__ void f(int *x) {\n  *x = 1;\n}\n```\n`f<<<1, 2>>>(x)`\n"


def run(*arguments, **options):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], **options)


def test_version():
    assert run("--version").output == cuset_stage.__version__ + "\n"


def test_help_loads_no_heavy_library():
    code = "import sys, cuset_stage.cli; print(sorted({'torch', 'transformers', 'llamafactory'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_help_names_what_there_is():
    assert all(kind in run("spans", "--help").output for kind in KINDS)
    text = " ".join(run("curate", "import", "--help").output.split())
    assert all(name in text for name in MAPS)


@pytest.mark.parametrize("group", [(), ("curate",)], ids=["cuset", "cuset curate"])
def test_the_list_of_commands_cuts_no_sentence(group):
    listed = run(*group, "--help", env={"COLUMNS": "80"}).output.partition("Commands:")[2]
    assert listed.count("\n") > 5 and "..." not in listed


def test_bits_are_those_of_every_model_that_has_none_of_its_own(tiny_model):
    models = {"a": {"model": str(tiny_model)}, "b": {"model": str(tiny_model), "quantization_bit": 8}}
    found = AnalyzeSettings.read([f"models={json.dumps(models)}", "dataset=d", "quantization_bit=4"]).models
    assert [found[name].quantization_bit for name in "ab"] == [4, 8]
    assert BackendSettings.read(["model=m", "quantization_bit=8"]).quantization_bit == 8


@pytest.mark.parametrize("called", ["report", "pairs", "curate run", "study run"])
def test_an_error_begins_with_what_was_typed(called):
    assert f"cuset: {called}: " in run(*called.split(), "nothing=1").output


def test_a_shell_completes_commands_and_keys():
    def completed(words):
        asked = {"_CUSET_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
        return run(env=asked, prog_name="cuset").output.split()

    assert completed("cuset heat") == ["heatmap"]
    assert completed("cuset heatmap dataset_") == ["dataset_dir="]


def test_a_table_that_is_too_wide_leaves_its_intervals_out(capsys, monkeypatch):
    for width, has_intervals in ((200, True), (40, False)):
        monkeypatch.setattr("rich.console.Console.width", width)
        cells = [Column(f"c{n}", [Cell("10,204", detail="10,100 to 10,300")]) for n in range(4)]
        print_table(Table("samples", "", [text_column("sample", ["name"]), *cells]))
        printed = capsys.readouterr().out
        assert ("to 10,300" in printed) == has_intervals and printed.count("10,204") == 4


def test_spans_at_eighty_columns():
    lines = run("spans", ROOT / "data/kernels/tiled_sgemm/kernel.cu", env={"COLUMNS": "80"}).output.splitlines()
    body = next(line for line in lines if line.startswith("kernel_body"))
    assert body.split()[:4] == ["kernel_body", "24:30", "75:1", "1,676"] and max(map(len, lines[1:])) <= 80


def test_spans_of_another_language():
    code = "import triton\n\n@triton.jit\ndef k(x):\n    f(x)\n\nk[(1,)](x)\n"
    output = run("spans", "-", "language=triton", input=code).output
    assert "kernel_body" in output and "f(x)" in output and "[(1,)]" in output


def test_spans_as_json_and_of_standard_input(tmp_path):
    assert "*x = 1;" in run("spans", "-", input=CODE).output
    assert "no CUDA-sensitive span" in run("spans", "-", input="").output
    assert run("spans", "-", input=b"\xff\xfe__global__ void f() { }").exit_code == 0
    file = tmp_path / "answer.md"
    file.write_text(CODE, encoding="utf-8")
    (entry,) = json.loads(run("spans", file, "as_json=true", "kinds=all").output)
    assert {"kernel_body", "kernel_signature"} <= {span["kind"] for span in entry["spans"]}
    for span in entry["spans"]:
        assert CODE[span["start"] : span["end"]] == span["text"]
    (body,) = [span for span in entry["spans"] if span["kind"] == "kernel_body"]
    assert (body["line"], body["column"], body["end_line"], body["end_column"]) == (3, 27, 5, 1)


def test_spans_bad_input(tmp_path):
    result = run("spans", tmp_path / "none.cu")
    assert result.exit_code == 2 and "No such file" in result.stderr and "Traceback" not in result.stderr
    result = run("spans", "-", "kinds=kernel", input=CODE)
    assert result.exit_code == 2 and "launch_config" in result.stderr
    result = run("spans", "--language", "triton", "kernel.cu")
    assert result.exit_code == 2 and "so: language=triton" in result.stderr
    result = run("spans", "-", "language=cobol", input=CODE)
    assert result.exit_code == 2 and result.stderr.startswith("cuset: spans: language='cobol': ")


def heatmap_arguments(models, tmp_path, **changes):
    settings = {"model": models / "after", "dataset": "cuset_kernels_eval", "dataset_dir": ROOT / "data"}
    settings |= {"samples": 1, "cutoff_len": 300, "window": 32, "output": tmp_path / "page.html"} | changes
    return [f"{key}={value}" for key, value in settings.items()]


def test_the_output_is_tried_out_before_the_model_is_loaded(models, tmp_path, monkeypatch):
    monkeypatch.setattr("cuset_stage.analysis.confidence.open_tokenizer", lambda *_, **__: pytest.fail("loaded"))
    result = run("heatmap", *heatmap_arguments(models, tmp_path, output="/proc/page.html"))
    assert result.exit_code == 2 and "Traceback" not in result.output


@pytest.mark.parametrize(
    ("said", "given", "expected"),
    [
        ({}, {}, (0.1, 1.0, 256, ("kernel_body", "launch_config"), ())),
        ({"cuset_objective": "sft", "cuset_tau": "0.3"}, {}, (0.1, 1.0, 256, ("kernel_body", "launch_config"), ())),
        (
            {"cuset_objective": "cuset", "cuset_tau": "0.3", "cuset_lambda": "2.0", "cuset_sensitive_kinds": "atomic"},
            {"tau": 0.2},
            (0.2, 2.0, 256, ("atomic",), ()),
        ),
        (
            {"cuset_objective": "cuset", "cuset_confidence_mask": "false", "cuset_cuda_mask": "false"}
            | {"cuset_kernel_aliases": "KERNEL,GLOBAL"},
            {},
            (0.0, 0.0, 256, ("kernel_body", "launch_config"), ("KERNEL", "GLOBAL")),
        ),
    ],
)
def test_the_mask_is_the_one_that_trained(models, tmp_path, said, given, expected):
    shutil.copytree(models / "after", tmp_path / "model")
    (tmp_path / "model" / "README.md").write_text("".join(f"| `{key}` | {value} |\n" for key, value in said.items()))
    given |= {"model": tmp_path / "model", "dataset": "rows", "output": tmp_path / "page.html"}
    settings = HeatmapSettings.read([f"{key}={value}" for key, value in given.items()]).as_trained()
    assert (settings.tau, settings.lam, settings.window, settings.kinds, settings.aliases) == expected


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"model": "no/such/folder"}, "model='no/such/folder': there is no such folder"),
        ({"adapter": "{models}/before"}, "no adapter_config.json"),
        ({"adapter": "{models}/adapter"}, "does not fit the model"),
        ({"dataset": "kernels"}, "dataset=kernels: not in .*dataset_info.json; did you mean cuset_kernels"),
        ({"dataset": ","}, "dataset=.*at least 1 item"),
        ({"language": "cobol"}, "heatmap: language='cobol': 'cobol' is no language"),
        ({"dataset_dir": "{models}"}, "Cannot open .*dataset_info.json"),
        ({"template": "quen"}, r"did you mean.* qwen"),
        ({"kinds": "kernel"}, "kinds=.*choose from kernel_body"),
        ({"device": "gpu"}, "heatmap: device=gpu: torch has no such device; give auto, cpu"),
        ({"device": "cuda:99"}, "heatmap: device=cuda:99: torch sees .* here; give"),
        ({"samples": 0}, "samples='0': expected greater than or equal to 1"),
        ({"tau": 1.5}, "tau='1.5': expected less than 1"),
        ({"output": "{models}"}, "this is a folder"),
        ({"output": "/proc/page.html"}, r"output=/proc/page.html: no file can be written there \(.*\); give a file"),
    ],
)
def test_heatmap_bad_input(models, tmp_path, changes, message):
    changes = {key: str(value).format(models=models) for key, value in changes.items()}
    result = run("heatmap", *heatmap_arguments(models, tmp_path, **changes))
    assert result.exit_code == 2, result.output + str(result.exception)
    lines = [line for line in result.stderr.splitlines() if line.startswith("cuset: ")]
    assert len(lines) == 1
    assert re.search(message, lines[0]), lines[0]
    assert not (tmp_path / "page.html").exists()


def test_doctor_says_what_is_wrong(monkeypatch):
    monkeypatch.setenv("CUSET_STAGE_DISABLE", "1")
    result = run("doctor")
    assert result.exit_code == 1
    assert "unset CUSET_STAGE_DISABLE" in result.output and "does not work here" in result.output


def test_doctor_reports_a_patch_that_failed(monkeypatch):
    import llamafactory.data.loader  # noqa: F401

    monkeypatch.setitem(_compatibility.errors, "llamafactory.data.loader", AttributeError("gone"))
    finding = doctor._patches()
    assert finding.state == "fail" and "llamafactory.data.loader" in finding.result


def test_doctor_names_a_torchvision_that_does_not_fit_torch(tmp_path):
    """PyPI's torchvision beside a CPU build of torch: transformers then says that it cannot import PreTrainedModel."""
    fault = "operator torchvision::nms does not exist"
    (tmp_path / "torchvision").mkdir()
    (tmp_path / "torchvision" / "__init__.py").write_text(f"raise RuntimeError({fault!r})\n")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from cuset_stage.analysis import doctor; finding = doctor._patches(); "
    code += "print(finding.state, finding.result, finding.fix, sep='\\n')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    state, result, fix = done.stdout.splitlines()
    assert state == "fail" and result.endswith(f"RuntimeError: {fault}")
    assert fix.startswith("torchvision cannot be loaded beside torch 2.") and "pip install torch==2." in fix


def test_doctor_in_this_environment(monkeypatch):
    result = run("doctor")
    assert result.exit_code == 0, result.output
    assert "llamafactory" in result.output and "all 5 apply" in result.output
    findings = {finding["subject"]: finding["state"] for finding in json.loads(run("doctor", "--json").output)}
    assert findings["patches"] == findings["start-up hook"] == findings["bitsandbytes"] == findings["nvcc"] == "ok"
    assert doctor._package("no-such-package").result == "is not installed"
    monkeypatch.setitem(doctor.OPTIONAL, "no-such-package", "only some need it")
    assert doctor._package("no-such-package").state == "note"


def test_doctor_without_a_compiler(monkeypatch):
    monkeypatch.setenv("CUDACXX", "/nowhere/nvcc")  # what was found before is kept for the same places
    monkeypatch.setattr(Path, "is_file", lambda path: False)
    finding = doctor._compiler()
    assert finding.state == "note" and "nvidia-cuda-nvcc" in finding.fix


def test_doctor_on_cudnn_attention(monkeypatch):
    assert doctor._attention().state == "ok"
    monkeypatch.setattr(attention, "capabilities", lambda device: [(9, 0)])
    finding = doctor._attention()
    assert finding.state == "note" and "is off under stage: cuset" in finding.result and "9.0" in finding.result
    assert "export TORCH_CUDNN_SDPA_DEPRIORITIZED=1" in finding.fix
    monkeypatch.setenv(attention.VARIABLE, "1")
    assert doctor._attention().result.startswith("is on: ")
