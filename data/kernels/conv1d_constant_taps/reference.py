import numpy as np


TOLERANCE = {"filtered": (1e-4, 1e-4)}


def make_inputs(rng):
    return {
        "signal": rng.normal(0.0, 1.0, 500009).astype(np.float32),
        "taps": rng.normal(0.0, 0.3, 65).astype(np.float32),  # not symmetric: a correlation gives another result
    }


def reference(inputs):
    padded = np.pad(inputs["signal"].astype(np.float64), 32, mode="edge")
    return {"filtered": np.convolve(padded, inputs["taps"].astype(np.float64), mode="valid").astype(np.float32)}
