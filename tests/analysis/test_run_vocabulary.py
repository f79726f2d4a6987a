"""Models, adapters and tokenizers of runs that added tokens, as LLaMA-Factory writes them, against the model that wrote them."""

import json
import shutil
from types import SimpleNamespace

import pytest
import torch
from commands import cuset
from data_sets import write_data_set
from llamafactory.data import get_template_and_fix_tokenizer
from llamafactory.hparams import DataArguments, FinetuningArguments, ModelArguments
from llamafactory.model import load_model, load_tokenizer
from llamafactory.train.callbacks import PissaConvertCallback
from peft import LoraConfig, get_peft_model
from tiny_models import make_another
from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig

from cuset_stage.analysis.readers import open_reader
from cuset_stage.analysis.requests import LabelSettings, ModelRequest
from cuset_stage.generate import RecordedSettings
from cuset_stage.generate.hf import HFBackend
from cuset_stage.generate.prompting import Prompter
from cuset_stage.pairs.settings import PairsSettings
from cuset_stage.settings import SettingsError
from cuset_stage.spans import KINDS
from cuset_stage.stage.loading import open_tokenizer
from cuset_stage.stage.pretrained import check_adapter, check_vocabulary
from cuset_stage.stage.token_labels import LabellingTokenizer, LabelRules, Passages


TEXT = "```cpp\n__global__ void k(int* p) { p[0] = 1; }\nvoid f(int* p) { k<<<1, 2>>>(p); }\n```"
ADDED = {"add_tokens": "<<<,>>>"}


def write_run(base, folder, keys, tuning):
    """What a run writes, without its steps: LLaMA-Factory makes the model, and every number that it would train is moved."""
    model_args = ModelArguments(str(base), **keys)
    tokenizer = load_tokenizer(model_args)["tokenizer"]
    get_template_and_fix_tokenizer(tokenizer, DataArguments(template="qwen"))
    torch.manual_seed(0)
    finetuning_args = FinetuningArguments(**({"finetuning_type": "lora", "lora_rank": 4} | tuning))
    model = load_model(tokenizer, model_args, finetuning_args, is_trainable=True)
    convert, run = PissaConvertCallback(), SimpleNamespace(should_save=True, output_dir=str(folder))
    if finetuning_args.pissa_convert:
        convert.on_train_begin(run, None, None, model=model)
    with torch.no_grad():
        for parameter in (one for one in model.parameters() if one.requires_grad):
            parameter += 0.1 * torch.randn_like(parameter)
    model.eval()
    ids = tokenizer(TEXT, return_tensors="pt")["input_ids"]
    with torch.no_grad():
        logits = model(ids).logits
    if finetuning_args.pissa_convert:
        convert.on_train_end(run, None, None, model=model)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return ids, logits


@pytest.fixture(scope="module")
def bases(models, tmp_path_factory):
    """`before`, one whose output layer is its embedding, and one with rows to spare."""
    folder = tmp_path_factory.mktemp("bases")
    tied = make_another(models / "before", folder / "tied", tie_word_embeddings=True)
    spare = make_another(models / "before", folder / "spare", vocab_size=1088)
    return {"before": models / "before", "tied": tied, "spare": spare}


@pytest.fixture(scope="module")
def run(bases, tmp_path_factory):
    """A run on `before` with `<<<` and `>>>` added."""
    folder = tmp_path_factory.mktemp("run")
    write_run(bases["before"], folder, ADDED, {})
    return folder


def backend(model, adapter=None):
    names = {"model": str(model), "adapter": adapter and str(adapter)}
    return HFBackend(RecordedSettings(backend="hf", dtype="float32", max_tokens=4, **names), batch_size=1)


@pytest.mark.parametrize(
    ("base", "keys", "tuning"),
    [
        ("before", ADDED, {}),
        ("tied", {"add_special_tokens": "<<<,>>>"}, {"use_dora": True}),
        ("tied", ADDED, {"additional_target": "norm"}),
        ("spare", ADDED, {"additional_target": "lm_head"}),
        ("before", {"init_special_tokens": "desc_init"}, {}),
        ("before", ADDED, {"finetuning_type": "oft"}),
        ("before", ADDED, {"pissa_init": True, "pissa_iter": -1}),
        ("before", ADDED, {"pissa_init": True, "pissa_iter": 1, "pissa_convert": True}),
        ("tied", {"add_special_tokens": "<<<,>>>"}, {"finetuning_type": "full"}),
    ],
    ids=["lora", "dora", "other_target", "spare_rows", "described", "oft", "pissa", "pissa_converted", "full"],
)
def test_commands_read_what_the_run_trained(bases, tmp_path, base, keys, tuning):
    if "init_special_tokens" in keys:
        (tmp_path / "tokens.yaml").write_text('"<<<": begin of a launch\n">>>": end of a launch\n')
        keys = {**keys, "new_special_tokens_config": str(tmp_path / "tokens.yaml")}
    ids, logits = write_run(bases[base], tmp_path / "run", keys, tuning)
    is_full = tuning.get("finetuning_type") == "full"
    model, adapter = (tmp_path / "run", None) if is_full else (bases[base], tmp_path / "run")

    own = backend(model, adapter)
    request = ModelRequest(model=str(model), adapter=adapter and str(adapter))
    tokenizer = open_tokenizer(request.model, request.adapter)
    assert tokenizer(TEXT)["input_ids"] == own._prompter.tokenizer(TEXT)["input_ids"] == ids[0].tolist()
    models = [own.model, open_reader(request, tokenizer, "cpu")]
    if tuning.get("pissa_convert"):
        models.append(backend(model, adapter / "pissa_converted").model)
    with torch.no_grad():
        for found in models:
            torch.testing.assert_close(found(ids).logits, logits, atol=2e-4, rtol=1e-3)
    assert own._prompter.decode([*ids[0].tolist(), tokenizer.eos_token_id]) == TEXT


@pytest.mark.parametrize("bits", [4, 8])
def test_an_adapter_of_new_tokens_beside_a_quantised_base(models, tmp_path, bits):
    # Some processors take four bits of rows of 64 and more alone.
    base = make_another(models / "before", tmp_path / "base", hidden_size=64, intermediate_size=128)
    write_run(base, tmp_path / "run", ADDED, {})
    request = ModelRequest(model=str(base), adapter=str(tmp_path / "run"), quantization_bit=bits)
    tokenizer = open_tokenizer(request.model, request.adapter)
    plain = open_reader(ModelRequest(model=request.model, adapter=request.adapter), tokenizer, "cpu")
    ids = tokenizer(TEXT, return_tensors="pt")["input_ids"]
    readers = (open_reader(request, tokenizer, "cpu"), plain)
    with torch.no_grad():
        found, expected = (reader(ids).logits.flatten().float() for reader in readers)
    assert 0.9 < torch.nn.functional.cosine_similarity(found, expected, dim=0) < 1 - 1e-6


def test_a_cpu_reads_16_bit_weights_in_float32(models, tmp_path):
    AutoModelForCausalLM.from_pretrained(models / "deeper").bfloat16().save_pretrained(tmp_path)
    AutoTokenizer.from_pretrained(models / "deeper").save_pretrained(tmp_path)
    reader = open_reader(ModelRequest(model=str(tmp_path)), open_tokenizer(str(tmp_path)), "cpu")
    assert {parameter.dtype for parameter in reader.parameters()} == {torch.float32}


def test_a_checkpoint_without_a_tokenizer_has_its_run_s(bases, run, tmp_path):
    folder = shutil.copytree(run, tmp_path / "run")
    (folder / "checkpoint-500").mkdir()
    for name in ("adapter_config.json", "adapter_model.safetensors"):
        shutil.copy(folder / name, folder / "checkpoint-500")
    GenerationConfig(eos_token_id=[77]).save_pretrained(folder)
    found = backend(bases["before"], folder / "checkpoint-500")
    assert len(found._prompter.tokenizer) == 1026 and found._stop_ids == {77, found._prompter.tokenizer.eos_token_id}


def test_new_tokens_without_their_rows_are_refused(bases, tmp_path):
    plain = get_peft_model(AutoModelForCausalLM.from_pretrained(bases["before"]), LoraConfig(r=2))
    plain.save_pretrained(tmp_path / "plain")
    for keys in ({"special_tokens": True}, {}):
        tokenizer = AutoTokenizer.from_pretrained(bases["before"])
        tokenizer.add_tokens(["<<<"], **keys)
        tokenizer.save_pretrained(tmp_path / "plain")
        with pytest.raises(
            SettingsError, match=r"has 1025 tokens, .* embeddings for 1024: '<<<' .* resize_vocab: true"
        ):
            backend(bases["before"], tmp_path / "plain")

    half = AutoModelForCausalLM.from_pretrained(bases["before"])
    half.resize_token_embeddings(1088)
    half = get_peft_model(half, LoraConfig(r=2, target_modules=["q_proj"], modules_to_save=["lm_head"]))
    half.save_pretrained(tmp_path / "plain", save_embedding_layers=False)
    with pytest.raises(SettingsError, match=r"1088 rows, and holds those of base_model.model.lm_head. alone"):
        backend(bases["before"], tmp_path / "plain")


def test_a_special_token_of_the_model_s_own_may_have_no_row(bases):
    """Gemma 3 of 1 B has one for images."""
    tokenizer = AutoTokenizer.from_pretrained(bases["before"])
    model = AutoModelForCausalLM.from_pretrained(bases["before"])
    tokenizer.add_tokens(["<image>"], special_tokens=True)
    check_vocabulary(tokenizer, model, str(bases["before"]))
    tokenizer.add_tokens(["<<<"])
    with pytest.raises(SettingsError, match=r"has 1026 tokens, .* embeddings for 1024: '<<<' and 0 more"):
        check_vocabulary(tokenizer, model, str(bases["before"]))


def test_a_folder_copied_in_part_is_refused(bases, run, tmp_path):
    """transformers reads it without a word as a tokenizer that finds no tokens: all 500 answers of a real run were empty."""
    partial = shutil.copytree(run, tmp_path / "partial", ignore=shutil.ignore_patterns("tokenizer.json", "vocab*"))
    (partial / "tokenizer_config.json").write_text('{"tokenizer_class": "Qwen2Tokenizer"}')
    vocabulary = r"partial: its tokenizer has no vocabulary, .* copy the missing file \(tokenizer.json"
    with pytest.raises(SettingsError, match=vocabulary):
        backend(bases["before"], partial)
    with pytest.raises(SettingsError, match=vocabulary):
        LabellingTokenizer(open_tokenizer(str(bases["before"]), str(partial)), LabelRules(KINDS), Passages(), ("", ""))
    (partial / "tokenizer_config.json").write_text("{")
    with pytest.raises(SettingsError, match="partial: its tokenizer cannot be loaded"):
        open_tokenizer(str(bases["before"]), str(partial))
    (partial / "tokenizer_config.json").unlink()
    with pytest.raises(
        SettingsError, match=r"partial: .* vocabulary of 1088 rows, and its tokenizer is not there; copy"
    ):
        backend(bases["before"], partial)
    (partial / "adapter_model.safetensors").rename(partial / "adapter_model.bin").write_bytes(b"")
    with pytest.raises(SettingsError, match=r"partial does not fit the model; .*: a file ends too early"):
        backend(bases["before"], partial)
    (partial / "adapter_model.bin").unlink()
    with pytest.raises(ValueError, match=r"no adapter_model\.\* there; .* with all its files"):
        check_adapter(str(partial))


def test_special_tokens_that_are_code_stay_in_an_answer(bases):
    tokenizer = AutoTokenizer.from_pretrained(bases["before"])
    added = ["<<<", ">>>", "__global__", "<|fim|>"]
    tokenizer.add_special_tokens({"additional_special_tokens": added, "pad_token": "!"})
    prompter = Prompter(tokenizer)
    text = "__global__ void k(); if (!x) k<<<1, 2>>>();"
    assert prompter.decode(tokenizer(f"{text}<|fim|><|im_end|>")["input_ids"]) == text


def test_every_command_takes_the_tokenizer_of_the_run(bases, run, tmp_path):
    """Their counts of tokens are smaller by those that the two new tokens save, which is known by hand: `<<<` and `>>>` once a row."""
    data = write_data_set(tmp_path, "rows", [{"instruction": "Launch k.", "input": "", "output": TEXT}])
    pair = {"task": "t", "prompt": "Launch k.", "right": TEXT, "wrong": TEXT.replace("1, 2", "2, 1"), "kind": "order"}
    (tmp_path / "pairs.jsonl").write_text(json.dumps(pair) + "\n")
    base, data = bases["before"], [f"{key}={value}" for key, value in data.items()]
    tokenizers = [open_tokenizer(str(base)), open_tokenizer(str(base), str(run))]
    saved = len(tokenizers[0](TEXT)["input_ids"]) - len(tokenizers[1](TEXT)["input_ids"])
    assert saved > 0

    def ask(command, *arguments, output):
        cuset(command, *arguments, output=tmp_path / output)
        return tmp_path / output

    counts = []
    for number, adapter in enumerate([[], [f"adapter={run}"]]):
        ask("label", f"model={base}", *adapter, *data, f"numbers={tmp_path}/{number}.json", output="label.html")
        counts.append(json.loads((tmp_path / f"{number}.json").read_text())["supervised_tokens"])
    assert counts[0] - counts[1] == saved

    page = ask("heatmap", f"model={base}", f"adapter={run}", *data, "device=cpu", "numbers=true", output="page.html")
    shown = json.loads(page.with_suffix(".json").read_text())
    assert {"<<<", ">>>"} < set(shown["samples"][0]["texts"])
    assert list(shown["samples"][0]["readings"]) == ["model"] and shown["settings"]["before"] is None

    models = f"models={{base: {base}, run: {{model: {base}, adapter: {run}}}}}"
    folder = ask("analyze", models, *data, "device=cpu", "resamples=100", output="analysis")
    (numbers,) = folder.glob("*.json")
    found = json.loads(numbers.read_text())["models"]
    assert found["base"]["tokens"] - found["run"]["tokens"] == saved

    record = json.loads(ask("pairs", tmp_path / "pairs.jsonl", models, "device=cpu", output="pairs.json").read_text())
    assert record["models"]["base"]["differences"] != record["models"]["run"]["differences"]


def test_the_template_is_the_run_s_where_it_wrote_its_keys(bases, run, tmp_path):
    folder = shutil.copytree(run, tmp_path / "run")
    names = {"model": str(bases["before"]), "adapter": str(folder)}
    rows, request = {**names, "dataset": "rows"}, ModelRequest(**names)
    for text, expected in (("template: llama3\n", "llama3"), ("{", "qwen"), ("stage: sft\n", "qwen")):
        (folder / "training_args.yaml").write_text(text)
        asked = PairsSettings(models=names["model"])
        assert LabelSettings.checked(rows).template == request.template_for(asked) == expected
        asked, labelled = PairsSettings(models=names["model"], template="chatml"), {**rows, "template": "chatml"}
        assert LabelSettings.checked(labelled).template == request.template_for(asked) == "chatml"
        assert ModelRequest(**names, template="phi").template_for(asked) == "phi"
