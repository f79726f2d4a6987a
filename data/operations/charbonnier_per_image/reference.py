import numpy as np


# Mean of up to a million positive float32 terms summed by threads and blocks: relative error below 1e-4.
TOLERANCE = {"loss": (2e-4, 0)}


def make_inputs(rng, batch, channels, height, width):
    clean = rng.random((batch, channels, height, width)).astype(np.float32)
    noise = rng.uniform(0.002, 0.2, (batch, 1, 1, 1)) * rng.standard_normal(clean.shape)
    return {"output": (clean + noise).astype(np.float32), "clean": clean}


def reference(inputs):
    d = inputs["output"].astype(np.float64) - inputs["clean"]
    return {"loss": np.sqrt(d * d + 1e-4).mean(axis=(1, 2, 3)).astype(np.float32)}
