import numpy as np


TOLERANCE = {"histogram": (0, 0)}


def make_inputs(rng):
    skewed = rng.geometric(0.15, 4000037) - 1
    return {"bytes": np.minimum(skewed * 3 + rng.integers(0, 3, skewed.size), 255).astype(np.uint8)}


def reference(inputs):
    return {"histogram": np.bincount(inputs["bytes"], minlength=256).astype(np.uint32)}
