"""Sampling whose random numbers belong to the sample and not to the batch. Imports torch and transformers.

Drawing a token from softmax(x) is the same as taking argmax(x + g), where g are independent standard Gumbel numbers
(Gumbel-max; Maddison, Tarlow and Minka, 2014, section 2). `generate` of transformers draws from one generator for the
whole batch, so an answer would depend on its neighbours.

Here g is a function of the sample's seed, the step and the token only. It is computed by a counter-based generator,
with the output function of SplitMix64 (Steele, Lea and Flood, 2014), in integer arithmetic that is the same on every
device. The same sample in another batch, after an interruption, or on another GPU therefore gets the same noise. Only
rounding differences of the logits remain.
"""

import torch
from torch import Tensor
from transformers import LogitsProcessor


# SplitMix64's constants in two's complement, for torch.int64.
GAMMA = 0x9E3779B97F4A7C15 - 2**64
FACTORS = (0xBF58476D1CE4E5B9 - 2**64, 0x94D049BB133111EB - 2**64)
CANDIDATES = 256  # number of likeliest tokens that are searched for the nucleus first


def _shifted(bits: Tensor, by: int) -> Tensor:
    """Return a logical right shift of int64."""
    return (bits >> by) & ((1 << (64 - by)) - 1)


def mix(bits: Tensor) -> Tensor:
    """Apply SplitMix64's output function element by element. int64 in and out; products wrap around."""
    bits = (bits ^ _shifted(bits, 30)) * FACTORS[0]
    bits = (bits ^ _shifted(bits, 27)) * FACTORS[1]
    return bits ^ _shifted(bits, 31)


def gumbel_noise(seeds: Tensor, step: Tensor | int, tokens: Tensor) -> Tensor:
    """Return standard Gumbel numbers that depend only on the row's seed, the step and the token.

    Args:
        seeds: the seed of each row, [batch], int64.
        step: number of the token in the answer, from 0. One per row, [batch], or the same for all rows.
        tokens: token ids, int64, [batch, number of tokens], or the same for all rows, [number of tokens].

    Returns:
        [batch, number of tokens], float64.
    """
    step = torch.as_tensor(step, device=seeds.device)
    stream = mix(mix(seeds) + (step + 1) * GAMMA)  # [batch]; products wrap around
    bits = mix(stream[:, None] + (tokens + 1) * GAMMA)
    uniform = (_shifted(bits, 12).double() + 0.5) * 2.0**-52  # in (0, 1), never 0 or 1
    return -torch.log(-torch.log(uniform))


def draw_among(
    logits: Tensor, seeds: Tensor, step: Tensor | int, *, temperature: float, top_p: float, count: int = CANDIDATES
) -> tuple[Tensor, Tensor]:
    """Draw one token per row from the part of its nucleus that is among the `count` likeliest tokens.

    This is faster than `draw`: sorting a whole vocabulary takes longer than all layers of a small model, and a
    confident model has few candidates. The arguments are those of `draw`, with a temperature above 0.

    Returns:
        The tokens, [batch], int64, and whether the whole nucleus is among the candidates, [batch], bool. If it is,
        `draw` returns the same token.
    """
    scaled = logits / temperature
    values, tokens = scaled.topk(min(count, logits.shape[1]))
    probabilities = (values - scaled.logsumexp(-1, keepdim=True)).double().exp()
    # The probability mass of the tokens that are likelier. Equally likely tokens, which are frequent in bfloat16, are
    # in the nucleus together, because their order means nothing.
    likelier = probabilities.cumsum(-1) - probabilities
    likelier[:, 1:] *= values[:, 1:] < values[:, :-1]
    likelier = likelier.cummax(-1).values
    noisy = values.masked_fill(likelier >= top_p, -torch.inf) + gumbel_noise(seeds, step, tokens)
    is_whole = (likelier[:, -1] >= top_p) | (tokens.shape[1] == logits.shape[1])
    return tokens.gather(1, noisy.argmax(-1, keepdim=True))[:, 0], is_whole


def draw(logits: Tensor, seeds: Tensor, step: Tensor | int, *, temperature: float, top_p: float) -> Tensor:
    """Draw one token per row.

    With top_p below 1 the token is drawn from the nucleus: the tokens for which all likelier tokens together have a
    probability mass below top_p (Holtzman et al., 1904.09751).

    Args:
        logits: [batch, vocab_size], float32.
        seeds: the seed of each sample, [batch], int64.
        step: number of the token in the answer, from 0. One per row, [batch], or the same for all rows.
        temperature: sampling temperature. 0 takes the likeliest token.
        top_p: mass of the nucleus. 1 keeps every token.

    Returns:
        [batch], int64.
    """
    if temperature == 0:
        return logits.argmax(-1)
    vocab_size = logits.shape[1]
    if top_p < 1:
        return draw_among(logits, seeds, step, temperature=temperature, top_p=top_p, count=vocab_size)[0]
    noise = gumbel_noise(seeds, step, torch.arange(vocab_size, device=logits.device))
    return (logits / temperature + noise).argmax(-1)


class Draw(LogitsProcessor):
    """Logits processor that applies `draw` in `generate` of transformers.

    It returns scores [batch, vocab_size] in which all tokens except the drawn ones are -inf. `prompt_length` is the
    width of the padded prompts.
    """

    def __init__(self, seeds: list[int], prompt_length: int, *, temperature: float, top_p: float) -> None:
        self._seeds = torch.tensor(seeds, dtype=torch.int64)
        self._prompt_length = prompt_length
        self._shape = {"temperature": temperature, "top_p": top_p}

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor) -> torch.FloatTensor:
        tokens = draw(scores, self._seeds.to(scores.device), input_ids.shape[1] - self._prompt_length, **self._shape)
        return torch.full_like(scores, -torch.inf).scatter_(1, tokens[:, None], 0.0)
