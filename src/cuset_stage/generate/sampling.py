"""Sampling whose random numbers belong to the sample, not to the batch. Imports torch and transformers.

Drawing a token from softmax(x) is the same as taking argmax(x + g) with g independent standard Gumbel numbers
(Gumbel-max; Maddison, Tarlow and Minka, 2014, section 2). `generate` of transformers draws from one generator for the
whole batch, so an answer would depend on its neighbours. Here g is a function of (the sample's seed, step, token)
alone: a counter-based generator, with the output function of SplitMix64 (Steele, Lea and Flood, 2014), in integer
arithmetic that is the same on every device. The same sample in another batch, after a stop, or on another GPU meets
the same noise; what is left are rounding differences of the logits.
"""

import torch
from torch import Tensor
from transformers import LogitsProcessor


# SplitMix64's constants as torch.int64 holds them.
GAMMA = 0x9E3779B97F4A7C15 - 2**64
FACTORS = (0xBF58476D1CE4E5B9 - 2**64, 0x94D049BB133111EB - 2**64)
CANDIDATES = 256  # likeliest tokens among which a nucleus is looked for first


def _shifted(bits: Tensor, by: int) -> Tensor:
    """Logical right shift of int64."""
    return (bits >> by) & ((1 << (64 - by)) - 1)


def mix(bits: Tensor) -> Tensor:
    """SplitMix64's output function, element by element. int64 in and out; products wrap."""
    bits = (bits ^ _shifted(bits, 30)) * FACTORS[0]
    bits = (bits ^ _shifted(bits, 27)) * FACTORS[1]
    return bits ^ _shifted(bits, 31)


def gumbel_noise(seeds: Tensor, step: Tensor | int, tokens: Tensor) -> Tensor:
    """Standard Gumbel numbers, [batch, number of tokens], float64: each depends on the seed of its row, its step and its token only.

    seeds: [batch], int64; step: number of the token in the answer, from 0; one a row, [batch], or the same for all.
    tokens: ids, int64, [batch, number of tokens], or the same for all rows, [number of tokens].
    """
    step = torch.as_tensor(step, device=seeds.device)
    stream = mix(mix(seeds) + (step + 1) * GAMMA)  # [batch]; products wrap
    bits = mix(stream[:, None] + (tokens + 1) * GAMMA)
    uniform = (_shifted(bits, 12).double() + 0.5) * 2.0**-52  # in (0, 1), both ends left out
    return -torch.log(-torch.log(uniform))


def draw_among(
    logits: Tensor, seeds: Tensor, step: Tensor | int, *, temperature: float, top_p: float, count: int = CANDIDATES
) -> tuple[Tensor, Tensor]:
    """A token a row from its nucleus, as far as that lies among the `count` likeliest tokens; arguments as in `draw`.

    Sorting a vocabulary takes longer than all layers of a small model, and a model that knows what to write has few candidates.

    Returns:
        [batch], int64; and [batch], bool: whether the whole nucleus lies among them, so that `draw` returns the same token.
    """
    scaled = logits / temperature
    values, tokens = scaled.topk(min(count, logits.shape[1]))
    probabilities = (values - scaled.logsumexp(-1, keepdim=True)).double().exp()
    # The mass of the likelier tokens. Equally likely ones, of which bfloat16 makes many, are in the nucleus together: their order means nothing.
    likelier = probabilities.cumsum(-1) - probabilities
    likelier[:, 1:] *= values[:, 1:] < values[:, :-1]
    likelier = likelier.cummax(-1).values
    noisy = values.masked_fill(likelier >= top_p, -torch.inf) + gumbel_noise(seeds, step, tokens)
    is_whole = (likelier[:, -1] >= top_p) | (tokens.shape[1] == logits.shape[1])
    return tokens.gather(1, noisy.argmax(-1, keepdim=True))[:, 0], is_whole


def draw(logits: Tensor, seeds: Tensor, step: Tensor | int, *, temperature: float, top_p: float) -> Tensor:
    """A token a row, [batch], int64, from logits [batch, vocab_size], float32; temperature 0 takes the likeliest.

    With top_p below 1 from the nucleus: the tokens whose likelier tokens have less than that mass together (Holtzman et al., 1904.09751).
    """
    if temperature == 0:
        return logits.argmax(-1)
    vocab_size = logits.shape[1]
    if top_p < 1:
        return draw_among(logits, seeds, step, temperature=temperature, top_p=top_p, count=vocab_size)[0]
    noise = gumbel_noise(seeds, step, torch.arange(vocab_size, device=logits.device))
    return (logits / temperature + noise).argmax(-1)


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
