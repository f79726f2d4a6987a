"""From messages to token ids, and back: the tokenizer's chat template, or LLaMA-Factory's."""

import logging

import pytest

from cuset_stage.generate import GenerationError
from cuset_stage.generate.hf import HFBackend

from .conftest import ask


@pytest.fixture
def templated(model_copy, settings):
    """The tiny model with another chat template, or none."""

    def make(chat_template, **changes):
        (model_copy / "chat_template.jinja").unlink()
        if chat_template is not None:
            (model_copy / "chat_template.jinja").write_text(chat_template)
        return HFBackend(settings.model_copy(update={"model": str(model_copy), **changes}), batch_size=2)

    return make


def test_tokenizer_without_template_is_refused(templated):
    with pytest.raises(GenerationError, match=r"its tokenizer has no chat template.*template=qwen"):
        templated(None)


def test_factory_template_gives_the_same_prompt(templated, backend):
    named = templated(None, template="qwen")
    messages = ({"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"})
    assert named._prompter.encode(messages) == backend._prompter.encode(messages)
    assert named._stop_ids == backend._stop_ids


@pytest.mark.parametrize(
    ("template", "system", "expected"),
    [
        ("{% if message.role == 'system' %}{{ raise_exception('No system') }}{% endif %}[{{ message.content }}]", "Be brief.", "[Be brief.\n\nHi]"),
        ("{% if message.role == 'user' %}[{{ message.content | trim }}]{% endif %}", "Be brief.\n", "[Be brief.\n\n\nHi]"),
    ],
    ids=["refuses", "drops without a word"],
)  # fmt: skip
def test_template_without_system_role(templated, caplog, template, system, expected):
    generator = templated("{% for message in messages %}" + template + "{% endfor %}")
    messages = ({"role": "system", "content": system}, {"role": "user", "content": "Hi"})
    with caplog.at_level(logging.WARNING):
        prompt = generator._prompter.encode(messages)
    assert generator._prompter.tokenizer.decode(prompt.ids) == expected
    assert "takes no system message" in caplog.text


@pytest.mark.parametrize("template", ["", "<|im_start|>system\nBe brief.<|im_end|>\n"], ids=["empty", "cut off"])
def test_a_template_copied_in_part_is_refused(templated, template):
    generator = templated(template)
    with pytest.raises(
        GenerationError, match=r"model.*: the tokenizer's chat template .* leaves the task out; was it copied"
    ):
        next(generator.replies([ask()]))


def test_reasoning_opened_by_the_template_is_part_of_the_answer(templated):
    template = "{{ messages[-1].content }}<|im_start|>assistant\n{% if think %}<think>\n{% endif %}"
    thinking = templated(template, template_args={"think": True})
    assert next(thinking.replies([ask()])).answer.startswith("<think>")
    thinking._prompter._arguments["think"] = False
    assert not next(thinking.replies([ask()])).answer.startswith("<think>")


def test_an_argument_that_the_prompt_needs_is_not_the_template_s(templated):
    with pytest.raises(GenerationError, match="template_args: tokenize is set by cuset generate itself"):
        templated("{{ messages[-1].content }}", template_args={"tokenize": True})
