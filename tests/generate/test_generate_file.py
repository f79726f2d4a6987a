"""The answers file: a run that was stopped goes on in it, and nothing of other settings gets into it."""

import re
from dataclasses import replace

import pytest

from cuset_stage.generate import GenerationError
from cuset_stage.generate.plan import generate, make_plan
from cuset_stage.tasks.answers_file import Answer, read_answers


def test_run_that_was_killed_goes_on_to_the_same_answers(settings, backend, kernels, tmp_path):
    class Dies:
        def replies(self, requests):
            for number, reply in enumerate(backend.replies(requests)):
                if number == 9:
                    raise KeyboardInterrupt
                yield reply

    def run(output, opened, samples=3):
        return generate(kernels.tasks[:5], settings, samples=samples, output=output, open_backend=lambda: opened)

    whole, stopped = tmp_path / "whole.jsonl", tmp_path / "stopped.jsonl"
    assert run(whole, backend).made == 15
    with pytest.raises(KeyboardInterrupt):
        run(stopped, Dies())
    with stopped.open("a") as handle:
        handle.write('{"task": "half a li')  # killed while it wrote
    summary = run(stopped, backend)
    assert (summary.kept, summary.made) == (9, 6)

    def content(path):
        return sorted((answer.task, answer.sample, answer.answer, answer.tokens) for answer in read_answers(path))

    assert content(stopped) == content(whole)

    before = whole.read_bytes()
    # Nothing is missing, so that the model must not be loaded.
    assert generate(kernels.tasks[:5], settings, samples=2, output=whole, open_backend=pytest.fail).made == 0
    assert whole.read_bytes() == before
    assert run(whole, backend, samples=4).made == 5


class One:
    def replies(self, requests):
        return iter([Answer(requests[0].task, requests[0].sample, "x")])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"temperature": 0.5}, "temperature=1.0, this run has temperature=0.5"),
        ({"adapter": "lora"}, r"adapter=\(not recorded\), this run has adapter='lora'"),
        ({"weights": "ab"}, "this run has weights='ab'"),
        ({"backend": "endpoint"}, "backend='hf', this run has backend='endpoint'"),
        ({"template_args": {"a": 1}}, "template_args"),
    ],
)
def test_other_settings_are_refused_by_name(settings, kernels, tmp_path, change, message):
    file = tmp_path / "a.jsonl"
    generate(kernels.tasks[:1], settings, samples=1, output=file, open_backend=One)
    file.write_text(re.sub(r'"\w+": null, ', "", file.read_text()))  # as before these settings existed
    before = file.read_bytes()
    with pytest.raises(GenerationError, match=message) as error:
        generate(kernels.tasks[:1], settings.model_copy(update=change), samples=1, output=file, open_backend=One)
    assert f"{file}:1 was made with" in str(error.value)
    assert file.read_bytes() == before


def test_changed_prompt_is_refused(settings, kernels, tmp_path):
    task = kernels.tasks[0]
    generate([task], settings, samples=1, output=tmp_path / "a.jsonl", open_backend=One)
    changed = replace(task, prompts={1: task.prompts[1] + " Be fast."})
    with pytest.raises(GenerationError, match=f"answers another prompt of task '{task.id}'"):
        generate([changed], settings, samples=1, output=tmp_path / "a.jsonl", open_backend=One)


def test_system_prompt_of_ones_own(settings, kernels):
    task = replace(kernels.tasks[0], system="The set's.")
    for system, expected in ((None, ["The set's."]), ("Mine.", ["Mine."]), ("", [])):
        request = make_plan([task], settings.model_copy(update={"system": system}), 1)[0]
        assert [message["content"] for message in request.messages if message["role"] == "system"] == expected
