import numpy as np


# Float32 partial sums of positive terms, in any order of blocks: well below 1e-4 relative.
TOLERANCE = {"loss": (2e-4, 0)}


def make_inputs(rng, n):
    target = rng.normal(0.0, 2.0, n).astype(np.float32)
    wide = rng.uniform(0.3, 4.0)
    return {
        "pred": (target + wide * rng.standard_normal(n)).astype(np.float32),
        "target": target,
        "weight": rng.random(n).astype(np.float32),
    }


def reference(inputs):
    r2 = (inputs["pred"].astype(np.float64) - inputs["target"]) ** 2
    return {"loss": np.array([np.mean(inputs["weight"] * r2 / (r2 + 2.25))], dtype=np.float32)}
