import numpy as np


# Positive terms summed in float32 over many blocks, with cancellation in |r|/c - ln(1+|r|/c) for small r.
TOLERANCE = {"loss": (3e-4, 0)}


def make_inputs(rng, samples, outputs):
    target = rng.normal(0.0, 3.0, (samples, outputs)).astype(np.float32)
    pred = (target + rng.uniform(1.0, 6.0) * rng.standard_normal((samples, outputs))).astype(np.float32)
    weight = rng.uniform(0.1, 2.0, samples)
    weight[rng.random(samples) < 0.25] = 0.0
    pred[weight == 0.0] += 50.0
    return {"pred": pred, "target": target, "weight": weight.astype(np.float32)}


def reference(inputs):
    a = np.abs(inputs["pred"].astype(np.float64) - inputs["target"]) / 1.3998
    w = inputs["weight"].astype(np.float64)
    per = (1.3998**2 * (a - np.log1p(a))).sum(axis=1)
    return {"loss": np.array([np.sum(w * per) / np.sum(w)], dtype=np.float32)}
