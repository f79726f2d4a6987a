import numpy as np


# Positive float32 sums of up to 12544 squares.
TOLERANCE = {"rms": (5e-5, 0), "crest": (5e-5, 0)}


def make_inputs(rng, batch, height, width, channels):
    x = rng.standard_normal((batch, height, width, channels), dtype=np.float32)
    x *= rng.uniform(0.1, 5.0, (batch, 1, 1, channels)).astype(np.float32)
    x[:, height // 2, width // 3] *= rng.uniform(1.0, 9.0, (batch, channels)).astype(np.float32)
    b, k = np.nonzero(rng.random((batch, channels)) < 0.04)
    x[b, :, :, k] = 0.0
    return {"x": x}


def reference(inputs):
    x = inputs["x"].reshape(inputs["x"].shape[0], -1, inputs["x"].shape[3])
    rms = np.sqrt(np.einsum("bpk,bpk->bk", x, x, dtype=np.float64) / x.shape[1])
    peak = np.abs(x).max(axis=1).astype(np.float64)
    return {
        "rms": rms.astype(np.float32),
        "crest": np.where(rms > 0, peak / np.where(rms > 0, rms, 1.0), 0.0).astype(np.float32),
    }
