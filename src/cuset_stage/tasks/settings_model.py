"""One model that holds a task's model in all its settings. Never imported: robust_kbench.py puts SOURCE (the task's module), SETTINGS
(name -> arguments of Model, arguments of get_inputs) and BACKWARD before it, and it runs in the sandbox.

Settings with the same arguments of get_inputs have the same inputs. forward returns {setting: output}, or with BACKWARD {setting:
[gradients]}, of the inputs that have one and of the parameters. Forward and backward are timed together then.
"""
# ruff: noqa: F821  the three names

import os
import sys
import types
from pathlib import Path
from typing import ClassVar

import torch


task = types.ModuleType("task")
sys.modules["task"] = task
exec(compile(SOURCE, "task.py", "exec"), vars(task))

arguments = []  # of get_inputs, without repetitions
for _, wanted in SETTINGS.values():
    if wanted not in arguments:
        arguments.append(wanted)
places = {name: arguments.index(wanted) for name, (_, wanted) in SETTINGS.items()}
shapes = {}  # setting -> that of its output


def get_init_inputs():
    return []


def get_inputs():
    """All inputs; with BACKWARD also which of them need a gradient, and for each setting the gradient of its output."""
    drawn = [task.get_inputs(**one) for one in arguments]
    if not BACKWARD:
        return [drawn]
    if not shapes:
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            for name, (init, _) in SETTINGS.items():
                shapes[name] = task.Model(**init)(*drawn[places[name]]).shape
    needed = [[isinstance(value, torch.Tensor) and value.requires_grad for value in inputs] for inputs in drawn]
    return [drawn, needed, [torch.randn(shape) for shape in shapes.values()]]


class Model(torch.nn.Module):
    given: ClassVar[dict] = {}  # to the task's forward, beside its inputs

    def __init__(self):
        super().__init__()
        self.models = torch.nn.ModuleList(task.Model(**init) for init, _ in SETTINGS.values())

    def forward(self, drawn, needed=(), upstream=()):
        found = {}
        for index, (name, model) in enumerate(zip(SETTINGS, self.models, strict=True)):
            place = places[name]
            if BACKWARD:
                found[name] = self.gradients(model, drawn[place], needed[place], upstream[index])
            else:
                found[name] = model(*drawn[place], **self.given)
        return found

    def gradients(self, model, inputs, needed, upstream):
        with torch.enable_grad():
            inputs = [
                value.detach().requires_grad_() if need else value for value, need in zip(inputs, needed, strict=True)
            ]
            output = model(*inputs, **self.given)
            leaves = [value for value in (*inputs, *model.parameters()) if getattr(value, "requires_grad", False)]
            found = torch.autograd.grad(output, leaves, upstream, allow_unused=True)
        return [gradient for gradient in found if gradient is not None]


class ModelNew(Model):
    pass


def load_answer(code):
    """Compile a .cu file with the exported function `forward` or `backward`, and let ModelNew call it."""
    from torch.utils.cpp_extension import load

    source = Path(os.environ["TORCH_EXTENSIONS_DIR"], "answer.cu")
    if not source.exists():  # a later run starts with what an earlier one built
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(code)
    extension = load("answer_kernel", [str(source)], extra_cuda_cflags=["-O3"])
    if BACKWARD:
        task.AutogradFunction.backward_fn = extension.backward
        ModelNew.given = {"fn": task.AutogradFunction.apply}
    else:
        ModelNew.given = {"fn": extension.forward}
