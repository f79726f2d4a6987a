import numpy as np


# Quarters of degrees below 4096 are exact in float32, and so is every step.
TOLERANCE = {"turn": (0, 0), "turns": (0, 0)}


def make_inputs(rng, n):
    heading = rng.integers(-2880, 2880, n) * 0.25
    target = rng.integers(-5760, 5760, n) * 0.25
    edge = rng.random(n) < 0.05
    target[edge] = (heading + 180.0 * rng.integers(-3, 4, n))[edge]
    return {"heading": heading.astype(np.float32), "target": target.astype(np.float32)}


def reference(inputs):
    d = inputs["target"].astype(np.float64) - inputs["heading"].astype(np.float64)
    k = np.floor((d + 180.0) / 360.0)
    return {"turn": (d - 360.0 * k).astype(np.float32), "turns": k.astype(np.int32)}
