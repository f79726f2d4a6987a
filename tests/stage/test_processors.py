"""The labelling processors give LLaMA-Factory's own ids and labels, and columns that match them, whatever the options."""

import re

import numpy as np
import pytest
from llamafactory.data.template import TEMPLATES

from cuset_stage.stage.processors import LabelRules, mark_cuda_tokens
from cuset_stage.text import InputError

from .conftest import ANSWER, KERNEL, SPANS, columns_of


RULES = LabelRules(("kernel_body", "launch_config"))


def cuda_text(tokenizer, ours, row=0):
    """Return the texts that a training example shows as CUDA, one for each run of tokens."""
    example = {name: column[row] for name, column in ours.items()}
    return re.findall(r"⟦(.*?)⟧", mark_cuda_tokens(tokenizer, example), re.DOTALL)


@pytest.mark.parametrize("template", ["qwen", "llama2", "llama3", "deepseekcoder", "seed_coder", "qwen3", "mistral"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"mask_history": True},
        {"train_on_prompt": True},
        {"cutoff_len": 150},
        {"cutoff_len": 150, "mask_history": True},
        {"cutoff_len": 60},
        {"packing": True, "cutoff_len": 900},
        {"neat_packing": True, "cutoff_len": 900},
        {"neat_packing": True, "cutoff_len": 900, "train_on_prompt": True},
    ],
    ids=str,
)
def test_every_option(process, template, options):
    _, ours = process(
        ["Scale a vector.", ANSWER, "Launch it with 128 threads.", f"```cuda\n{KERNEL}\n```"],
        ["What is a warp?", "32 threads that run in step."],
        ["Kernel only.", KERNEL, "Thanks.", "Gern geschehen."],
        template=template,
        **options,
    )
    assert ours["input_ids"]  # `process` checks everything else


@pytest.mark.parametrize("tokenizer", ["sentencepiece_type", "slow"])
@pytest.mark.parametrize("packing", [False, True])
def test_other_tokenizers(process, request, tokenizer, packing):
    tokenizer, ours = process(
        ["Scale a vector.", ANSWER],
        ["What is a warp?", "32 threads."],
        tokenizer=request.getfixturevalue(tokenizer),
        template="llama2",
        packing=packing,
    )
    runs = [run for row in range(len(ours["input_ids"])) for run in cuda_text(tokenizer, ours, row)]
    assert len(runs) == 2
    for run, span in zip(runs, SPANS, strict=True):
        assert "".join(span.split()) in "".join(run.split())


EFFICIENT = next(name for name, template in sorted(TEMPLATES.items()) if template.efficient_eos)


@pytest.mark.parametrize("template", ["qwen", EFFICIENT])
def test_a_sample_is_a_turn_with_its_end_of_turn_marker(process, template):
    """The end-of-turn marker belongs to the turn that it ends.

    For templates with `efficient_eos`, LLaMA-Factory puts it at the beginning of the next turn, or at the very end.
    """
    tokenizer, ours = process(["One.", "First.", "Two.", "Second."], template=template)
    end = tokenizer.decode([tokenizer.eos_token_id])
    for number, text in ((1, "First."), (2, "Second.")):
        found = tokenizer.decode(np.array(ours["labels"][0])[ours["sample_ids"][0] == number]).strip()
        assert found.endswith(end) and [each for each in ("First.", "Second.") if each in found] == [text]


def test_cuda_in_a_prompt_is_not_labelled(process):
    _, ours = process([f"Explain:\n```cuda\n{KERNEL}\n```", "It scales a vector."], train_on_prompt=True)
    assert not np.concatenate(ours["cuda_mask"]).any()


def test_a_template_whose_tokens_the_tokenizer_lacks_is_refused(process):
    with pytest.raises(ValueError, match="the tokenizer has no token '<sep>'"):
        process(["One.", "First."], template="yuan")


@pytest.mark.parametrize("tools", ["not JSON", "3", '["name"]'])
def test_a_row_that_the_template_cannot_encode_is_named(processor, tools):
    with pytest.raises(InputError, match=r"the row whose prompt is 'Hi\.' cannot be encoded \(.*\); expected tools"):
        processor(template="qwen3").preprocess_dataset(columns_of(["Hi.", "Hello."]) | {"_tools": [tools]})


def test_a_row_whose_calls_the_template_has_no_form_for_is_named(processor):
    examples = columns_of(["Hi.", '[{"name": "f", "arguments": {}}, {"name": "g", "arguments": {}}]'])
    examples["_response"][0][0]["role"] = "function"
    with pytest.raises(InputError, match=r"whose prompt is 'Hi\.' cannot be encoded \(ValueError: GLM-4 does not"):
        processor(template="glm4").preprocess_dataset(examples)


def test_rows_with_nothing_to_learn_are_left_out_and_counted(processor, monkeypatch):
    from cuset_stage.stage import processors

    messages = []
    monkeypatch.setattr(processors.logger, "warning_rank0", messages.append, raising=False)
    examples = columns_of(["Good", ANSWER], ["Empty", "  \n"], ["Also empty", ""], ["No answer", "gone"], ["Odd", ""])
    examples["_response"][3] = examples["_response"][4] = examples["_prompt"][4] = []
    ours = processor().preprocess_dataset(examples)
    assert len(ours["input_ids"]) == 1
    assert sorted(messages) == [
        "Dropped 1 of 5 rows whose turns do not alternate between user and assistant; `cuset label` numbers them.",
        "Dropped 1 of 5 rows without an assistant message to learn from; the first one's prompt begins 'No answer'; `cuset label` numbers "
        "them.",
        "Dropped 2 of 5 rows with an empty response; the first one's prompt begins 'Empty'; `cuset label` numbers them.",
    ]


def test_the_cache_of_datasets_depends_on_the_rules(processor):
    """`datasets` computes its cache key from what the processor holds, not from our code, so the rules must be part of
    it.
    """
    from datasets.fingerprint import Hasher

    def fingerprint(rules):
        return Hasher.hash(processor(rules).preprocess_dataset)

    assert fingerprint(RULES) == fingerprint(LabelRules(("kernel_body", "launch_config")))
    others = [
        LabelRules(("kernel_body",)),
        LabelRules(RULES.kinds, aliases=("KERNEL",)),
        LabelRules(RULES.kinds, label_version="another"),
        LabelRules(RULES.kinds, language="triton"),
    ]
    assert len({fingerprint(rules) for rules in [RULES, *others]}) == 5


@pytest.mark.parametrize("options", [{}, {"packing": True}], ids=str)
def test_the_data_set_has_the_types_it_has_under_sft(processor, options):
    from datasets import Dataset

    raw = Dataset.from_dict(columns_of(["Scale.", ANSWER], ["What is a warp?", "32 threads."]))
    theirs, ours = (
        raw.map(processor(rules, **options).preprocess_dataset, batched=True, remove_columns=raw.column_names)
        for rules in (None, RULES)
    )
    assert {name: ours.features[name] for name in theirs.features} == dict(theirs.features)
    assert ours.features["cuda_mask"].feature.dtype == "int8"
    assert ours.features["sample_ids"].feature.dtype == "int32"


TRITON = (
    "```python\nimport triton\nimport triton.language as tl\n\n\n@triton.jit\ndef add(x, n: tl.constexpr):\n    pid = tl.program_id(0)\n\n\n"
    "add[(4,)](x, 4)\n```"
)


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("cuda", []),
        ("triton", ["    pid = tl.program_id(0)", "[(4,)]("]),
        ("auto", ["    pid = tl.program_id(0)", "[(4,)]("]),
        ("{}/own_language.py:find", ["import triton"]),
    ],
)
def test_the_language_decides_the_labels(byte_level, processor, tmp_path, language, expected):
    file = tmp_path / "own_language.py"
    file.write_text(
        "import re\n\n\ndef find(text):\n    return [m.span() for m in re.finditer('import triton$|Add', text, re.M)]\n"
    )
    labelling = processor(LabelRules(RULES.kinds, language=language.format(tmp_path)))
    found = cuda_text(byte_level, labelling.preprocess_dataset(columns_of(["Add.", TRITON])))
    assert len(found) == len(expected)
    assert all(wanted.strip("( ") in text for wanted, text in zip(expected, found, strict=True))


def test_a_function_of_ones_own_that_changes_makes_caches_miss(tmp_path):
    file, rules = tmp_path / "own_spans.py", []
    for found in ("[]", "[]", "[(0, 1)]"):
        file.write_text(f"def find(text):\n    return {found}\n")
        rules.append(LabelRules(RULES.kinds, language=f"{file}:find"))
    assert rules[0] == rules[1] != rules[2]
