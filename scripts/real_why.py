"""What yaml_configs/studies/real_why.yaml needs beside keys: wider CUDA spans, and a confidence mask that starts late."""

import re
from dataclasses import dataclass

import torch

from cuset_stage.objective import rule
from cuset_stage.objective.rules import MadeUpTokens, Tokens
from cuset_stage.spans import KINDS, Span, find_spans


_NAME = re.compile(r"[\w:]+(?:<[^<>;{}]*>)?\s*\Z")  # a kernel's name and template arguments, before `<<<`
_ARGUMENTS = re.compile(r"\s*\([^;]*")  # of a launch, up to its semicolon


def wide_spans(text: str) -> list[Span]:
    """Return the CUDA spans of every kind. A launch has its kernel's name and its arguments in its span.

    For `cuset_language`; `cuset_sensitive_kinds` chooses among the kinds.
    """
    spans = []
    for start, end, kind in find_spans(text, tuple(KINDS)):
        if kind == "launch_config":
            name = _NAME.search(text, max(0, start - 200), start)
            arguments = _ARGUMENTS.match(text, end)
            start, end = name.start() if name else start, arguments.end() if arguments else end
        spans.append(Span(start, end, kind))
    return sorted(spans)


@dataclass
class LateOptions:
    """Options of `late_mask`.

    Attributes:
        rows: the confidence mask starts once so many rows were trained on.
    """

    rows: int


seen: torch.Tensor | int = 0  # rows that this process has trained on; a tensor, so that no step waits for the GPU


@rule("CuSeT whose confidence mask starts late", sample_weight=lambda region: 1 - region)
def late_mask(tokens: Tokens, options: LateOptions) -> torch.Tensor:
    """Return CuSeT's weights with tau 0.1 and lambda 1. The first `options.rows` rows have no confidence mask.

    The rule counts the rows itself. So training must not evaluate, run on several GPUs, or go on from a checkpoint.
    """
    global seen
    training = not isinstance(tokens, MadeUpTokens)  # made-up ones are on the CPU, also after a training on a GPU
    weight = ((tokens.confidence > 0.1) | (training and seen < options.rows)).float() + tokens.is_cuda
    rows = tokens.sample[-1] + 1  # of this batch
    seen = seen + rows if training else seen
    return weight
