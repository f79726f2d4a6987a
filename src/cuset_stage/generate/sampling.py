"""Sampling whose random numbers belong to the sample, not to the batch. Imports torch and transformers.

Drawing a token from softmax(x) is the same as taking argmax(x + g) with g independent standard Gumbel numbers
(Gumbel-max; Maddison, Tarlow and Minka, 2014, section 2). `generate` of transformers draws from one generator for the
whole batch, so an answer would depend on its neighbours. Here g is a function of (the sample's seed, step, token)
alone: a counter-based generator, with the output function of SplitMix64 (Steele, Lea and Flood, 2014), in integer
arithmetic that is the same on every device. The same sample in another batch, after a stop, or on another GPU meets
the same noise; what is left are rounding differences of the logits.
"""

import torch
from transformers import LogitsProcessor, TemperatureLogitsWarper, TopPLogitsWarper


# SplitMix64's constants as torch.int64 holds them.
GAMMA = 0x9E3779B97F4A7C15 - 2**64
FACTORS = (0xBF58476D1CE4E5B9 - 2**64, 0x94D049BB133111EB - 2**64)


def _shifted(bits: torch.Tensor, by: int) -> torch.Tensor:
    """Logical right shift of int64."""
    return (bits >> by) & ((1 << (64 - by)) - 1)


def mix(bits: torch.Tensor) -> torch.Tensor:
    """SplitMix64's output function, element by element. int64 in and out; products wrap."""
    bits = (bits ^ _shifted(bits, 30)) * FACTORS[0]
    bits = (bits ^ _shifted(bits, 27)) * FACTORS[1]
    return bits ^ _shifted(bits, 31)


def gumbel_noise(seeds: torch.Tensor, step: torch.Tensor | int, vocab_size: int) -> torch.Tensor:
    """Standard Gumbel numbers, [batch, vocab_size], float64: row i depends on its seed and step only, its beginning not on vocab_size.

    seeds: [batch], int64; step: number of the token in the answer, from 0; one a row, [batch], or the same for all.
    """
    step = torch.as_tensor(step, device=seeds.device)
    stream = mix(mix(seeds) + (step + 1) * GAMMA)  # [batch]; products wrap
    tokens = torch.arange(1, vocab_size + 1, device=seeds.device)
    bits = mix(stream[:, None] + tokens * GAMMA)
    uniform = (_shifted(bits, 12).double() + 0.5) * 2.0**-52  # in (0, 1), both ends left out
    return -torch.log(-torch.log(uniform))


def draw(
    logits: torch.Tensor, seeds: torch.Tensor, step: torch.Tensor | int, *, temperature: float, top_p: float
) -> torch.Tensor:
    """A token a row, [batch], int64, from logits [batch, vocab_size], float32; temperature 0 takes the likeliest."""
    if temperature == 0:
        return logits.argmax(-1)
    nucleus = [TopPLogitsWarper(top_p)] if top_p < 1 else []
    for warper in (TemperatureLogitsWarper(temperature), *nucleus):
        logits = warper(None, logits)
    return (logits.double() + gumbel_noise(seeds, step, logits.shape[1])).argmax(-1)


class Draw(LogitsProcessor):
    """`draw` for `generate` of transformers: scores [batch, vocab_size] with all tokens but the drawn ones at -inf.

    seeds: a seed a row of the batch; prompt_length: width of the padded prompts.
    """

    def __init__(self, seeds: list[int], prompt_length: int, *, temperature: float, top_p: float) -> None:
        self._seeds = torch.tensor(seeds, dtype=torch.int64)
        self._prompt_length = prompt_length
        self._shape = {"temperature": temperature, "top_p": top_p}

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor) -> torch.FloatTensor:
        tokens = draw(scores, self._seeds.to(scores.device), input_ids.shape[1] - self._prompt_length, **self._shape)
        return torch.full_like(scores, -torch.inf).scatter_(1, tokens[:, None], 0.0)
