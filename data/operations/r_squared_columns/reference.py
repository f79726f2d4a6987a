import numpy as np


# Column sums of up to 100,000 float32 squares around a float32 mean; constant columns hold one exact small integer.
TOLERANCE = {"r2": (3e-4, 3e-4)}


def make_inputs(rng, samples, outputs):
    truth = rng.normal(0.0, 1.0, (samples, outputs)) * rng.uniform(0.5, 4.0, outputs) + rng.normal(0.0, 3.0, outputs)
    pred = truth + rng.normal(0.0, 1.0, truth.shape) * rng.uniform(0.0, 3.0, outputs)
    truth[:, 3], truth[:, outputs - 2] = 2.0, 4.0
    pred[:, 3] = 2.0
    return {"pred": pred.astype(np.float32), "truth": truth.astype(np.float32)}


def reference(inputs):
    p, t = inputs["pred"].astype(np.float64), inputs["truth"].astype(np.float64)
    r = ((t - p) ** 2).sum(axis=0)
    s = ((t - t.mean(axis=0)) ** 2).sum(axis=0)
    return {"r2": np.where(s > 0, 1.0 - r / np.where(s > 0, s, 1.0), np.where(r == 0, 1.0, 0.0)).astype(np.float32)}
