import numpy as np


# Centred float32 sums of up to 10,000 terms; the mean of values near 10 is good to about 1e-5, its square is harmless.
TOLERANCE = {"loss": (2e-4, 1e-4)}


def make_inputs(rng, sequences, frames):
    level = rng.uniform(-10.0, 10.0, (sequences, 1))
    truth = level + 0.3 * rng.standard_normal((sequences, frames))
    gain = rng.uniform(-0.5, 1.5, (sequences, 1))
    pred = (
        level + rng.normal(0.0, 0.15, (sequences, 1)) + gain * (truth - level) + 0.1 * rng.standard_normal(truth.shape)
    )
    return {"pred": pred.astype(np.float32), "truth": truth.astype(np.float32)}


def reference(inputs):
    p, t = inputs["pred"].astype(np.float64), inputs["truth"].astype(np.float64)
    mp, mt = p.mean(axis=1), t.mean(axis=1)
    cov = ((p - mp[:, None]) * (t - mt[:, None])).mean(axis=1)
    return {"loss": (1.0 - 2.0 * cov / (p.var(axis=1) + t.var(axis=1) + (mp - mt) ** 2 + 1e-8)).astype(np.float32)}
