import numpy as np


TOLERANCE = {"stats": (1e-4, 1e-6), "grad": (1e-4, 1e-9)}


def make_inputs(rng, tokens, pattern="normal"):
    # Log-probabilities are multiples of 1/64: their differences are exact and no ratio comes close to 0.8 or 1.2.
    logp_old = -np.round(rng.exponential(2.0, tokens) * 64) / 64
    logp_new = logp_old + np.round(rng.normal(0.0, 0.2, tokens) * 64) / 64
    mask = rng.random(tokens) < 0.8
    if pattern == "masked":
        mask[:] = False
    return {
        "sizes": np.array([tokens], dtype=np.int32),
        "logp_new": logp_new.astype(np.float32),
        "logp_old": logp_old.astype(np.float32),
        "advantage": rng.normal(0.3, 1.0, tokens).astype(np.float32),
        "mask": mask.astype(np.uint8),
    }


def reference(inputs):
    log_ratio = inputs["logp_new"].astype(np.float64) - inputs["logp_old"]
    ratio, advantage = np.exp(log_ratio), inputs["advantage"].astype(np.float64)
    kept = inputs["mask"] == 1
    count = max(kept.sum(), 1)
    loss = -np.minimum(ratio * advantage, np.clip(ratio, 0.8, 1.2) * advantage)
    clipped = (ratio > 1.2) | (ratio < 0.8)
    sums = [loss[kept].sum(), clipped[kept].sum(), (ratio - 1 - log_ratio)[kept].sum()]
    flat = ((advantage > 0) & (ratio > 1.2)) | ((advantage < 0) & (ratio < 0.8))
    grad = np.where(kept & ~flat, -ratio * advantage / count, 0.0)
    return {"stats": (np.array(sums) / count).astype(np.float32), "grad": grad.astype(np.float32)}
