import numpy as np


# Column means of up to 500,000 positive float32 terms, accumulated in parts.
TOLERANCE = {"loss": (3e-4, 0)}


def make_inputs(rng, samples, levels):
    target = rng.normal(1.0, 2.0, samples)
    tau = np.sort(rng.uniform(0.03, 0.97, levels))
    pred = target[:, None] + rng.normal(0.0, 1.0, (samples, levels)) + 2.0 * (tau - 0.5) + rng.normal(0.0, 0.3, levels)
    return {"target": target.astype(np.float32), "pred": pred.astype(np.float32), "tau": tau.astype(np.float32)}


def reference(inputs):
    d = inputs["target"].astype(np.float64)[:, None] - inputs["pred"]
    tau = inputs["tau"].astype(np.float64)
    return {"loss": (np.where(d >= 0, tau, 1.0 - tau) * d * d).mean(axis=0).astype(np.float32)}
