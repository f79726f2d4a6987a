"""How sure the model is of CUDA tokens and of others while it trains: `cuset_analyze_steps`.

Every so many steps, and before the first, the first rows of the evaluation data (of the training data where there are none) are read
without a gradient. `cuset analyze` measures a finished model more thoroughly.
"""

from typing import Any

import torch
from transformers import TrainerCallback

from ..objective import TokenTerms
from .artifacts import LOG_PREFIX


ROWS = 64  # that are read each time
BINS = 2**14  # of the log odds from LOWEST to HIGHEST, each 0.0037 wide
LOWEST, HIGHEST = -40.0, 20.0


def confidence_rows(terms: TokenTerms, batch_size: int, tau: float) -> torch.Tensor:
    """What the log needs of each row: [batch, 2, 2 + BINS], for CUDA tokens and others.

    The sum of the confidence, how many are at most tau, and how many are in each bin of the log odds, in float32.
    """
    log_p, confidence = -terms.nll.double(), terms.confidence
    odds = (log_p - torch.log(-torch.expm1(log_p))).clamp(LOWEST, HIGHEST)
    bins = ((odds - LOWEST) * (BINS / (HIGHEST - LOWEST))).long().clamp(max=BINS - 1)
    rows = torch.zeros(batch_size, 2, 2 + BINS, device=confidence.device)
    place = terms.row.long(), (~terms.is_cuda).long()
    for column, values in ((0, confidence), (1, (confidence <= tau).float()), (2 + bins, torch.ones_like(confidence))):
        where = column if isinstance(column, torch.Tensor) else torch.full_like(place[0], column)
        rows.index_put_((*place, where), values.float(), accumulate=True)
    return rows


def summary(rows: torch.Tensor) -> dict[str, float]:
    """The log's entries of the sum over `confidence_rows`, [2, 2 + BINS]; those of no token are left out.

    `ks_distance` is the two-sample Kolmogorov-Smirnov statistic D of the paper's section 3, by the run's CUDA mask (Eq. 3).
    """
    counts = rows[:, 2:].double()
    totals = counts.sum(dim=1)
    found = {}
    for name, total, values in zip(("cuda", "other"), totals.tolist(), rows.tolist(), strict=True):
        if total:
            found |= {
                f"analyze_{name}_confidence": values[0] / total,
                f"analyze_{name}_at_most_tau": values[1] / total,
            }
    if (totals > 0).all():
        cumulated = counts.cumsum(dim=1) / totals[:, None]
        found["analyze_ks_distance"] = float((cumulated[0] - cumulated[1]).abs().max())
    return {LOG_PREFIX + name: value for name, value in found.items()}


class ConfidenceLog(TrainerCallback):
    """Logs `summary` at step 0 and after every `steps` steps, on the ranks together."""

    def __init__(self, trainer: Any, steps: int) -> None:
        self._trainer, self._steps = trainer, steps

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if not state.global_step:
            self._log()

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if state.global_step % self._steps == 0:
            is_due = control.should_log  # which a log of any kind takes back
            self._log()
            control.should_log = is_due

    def _log(self) -> None:
        trainer = self._trainer
        data = trainer.eval_dataset
        if isinstance(data, dict):
            data = next(iter(data.values()))
        if data is None or trainer.args.predict_with_generate:  # whose rows are prompts
            data = trainer.train_dataset
        data = data.select(range(min(ROWS, len(data)))) if hasattr(data, "select") else data.take(ROWS)
        with torch.random.fork_rng(devices=[]):  # a loader takes a random number; training goes on as without this
            rows = trainer.read_confidence(trainer.get_test_dataloader(data))
        if rows is not None:
            trainer.log(summary(rows))
