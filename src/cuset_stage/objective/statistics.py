"""Statistics of the objective for the training log, summed exactly over micro-batches and ranks (torch only)."""

from collections.abc import Callable

import torch

from .cuset import TokenTerms


EXTREMES = ("region_confidence", "sample_weight")
SUMS = (
    *("tokens", "confident", "left_out", "cuda"),
    # CUDA tokens and other tokens have separate sums: a difference of two rounded sums (all tokens minus CUDA tokens)
    # could be below 0, or above the number of tokens.
    *("cuda_nll", "cuda_confidence", "other_nll", "other_confidence"),
    *("samples", *EXTREMES),
)

LOG_PREFIX = "cuset/"  # prefix of the names of these statistics in a training log
Gather = Callable[[torch.Tensor], torch.Tensor]


class ObjectiveMeter:
    """Collect `TokenTerms` on their device, without waiting for it, until `compute` turns them into averages.

    Shares and means are ratios of sums over all tokens (or samples) since the last `compute`. The result therefore
    does not depend on how the tokens are split into micro-batches and ranks.
    """

    def __init__(self) -> None:
        self._sums: torch.Tensor | None = None
        # Of the values and of the negated values, so that one reduction gives both extremes.
        self._maxima: torch.Tensor | None = None

    @torch.no_grad()
    def update(self, terms: TokenTerms, tau: float) -> None:
        """Add a micro-batch. A token counts as confident if its confidence is above `tau`."""
        nll, confidence, cuda = terms.nll.detach(), terms.confidence, terms.is_cuda.float()
        left_out = terms.weight == 0 if terms.given_weight is None else terms.weight * terms.given_weight == 0
        is_sample, extremes = terms.is_sample, (terms.region_confidence, terms.sample_weight)
        parts = (
            torch.ones_like(nll),
            (confidence > tau).float(),
            left_out.float(),
            cuda,
            *(share * values for share in (cuda, 1 - cuda) for values in (nll, confidence)),
            is_sample.float(),
            *(torch.where(is_sample, values, 0.0) for values in extremes),
        )
        sums = torch.stack([part.sum() for part in parts]).to(_summing_dtype(nll.device))
        self._sums = sums if self._sums is None else self._sums + sums
        if terms.sample_weight.numel():
            signed = (*extremes, *(-values for values in extremes))
            maxima = torch.stack([values.masked_fill(~is_sample, -torch.inf).max() for values in signed]).float()
            self._maxima = maxima if self._maxima is None else torch.maximum(self._maxima, maxima)

    def compute(self, device: torch.device, gather: Gather | None = None) -> dict[str, float]:
        """Return the averages of what was collected since the last call, and reset.

        Args:
            device: device for the sums where nothing was collected.
            gather: function from [1, n] of this rank to [ranks, n], as accelerate's `gather`. None averages over this
                rank only.

        Returns:
            Name -> value: nll in nats per token, shares and confidences in [0, 1]. Empty if no rank had a supervised
            token.
        """
        sums, maxima = self._sums, self._maxima
        if sums is None:
            sums = torch.zeros(len(SUMS), dtype=_summing_dtype(device), device=device)
        if maxima is None:
            maxima = torch.full((2 * len(EXTREMES),), -torch.inf, device=device)
        if gather is not None:
            sums, maxima = gather(sums[None]).sum(dim=0), gather(maxima[None]).amax(dim=0)
        self._sums = self._maxima = None

        total = dict(zip(SUMS, sums.tolist(), strict=True))
        if not total["tokens"]:
            return {}

        tokens, cuda, samples = total["tokens"], total["cuda"], total["samples"]
        result = {
            "nll": (total["cuda_nll"] + total["other_nll"]) / tokens,
            "confident_share": total["confident"] / tokens,
            "cuda_share": cuda / tokens,
            "left_out_share": total["left_out"] / tokens,
        }
        # A mean over no tokens is omitted rather than logged as 0.
        for name, count in (("cuda", cuda), ("other", tokens - cuda)):
            if count:
                result |= {key: total[key] / count for key in (f"{name}_confidence", f"{name}_nll")}
        values = maxima.tolist()
        for index, name in enumerate(EXTREMES):
            result[f"{name}_mean"] = total[name] / samples
            result[f"{name}_min"] = -values[len(EXTREMES) + index]
            result[f"{name}_max"] = values[index]
        return result


def _summing_dtype(device: torch.device) -> torch.dtype:
    """Return the dtype of sums over a whole logging interval: double keeps them exact, but MPS does not have it."""
    return torch.float32 if device.type == "mps" else torch.float64
