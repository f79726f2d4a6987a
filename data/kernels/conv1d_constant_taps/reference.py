import numpy as np


TOLERANCE = {"filtered": (1e-4, 1e-4)}


def make_inputs(rng, n, radius, values="normal"):
    signal = rng.normal(0.0, 1.0, n)
    if values == "impulses":  # silence with a few spikes, two of them on the ends that the clamp repeats
        signal[:] = 0.0
        signal[rng.integers(0, n, 9)] = rng.normal(0.0, 3.0, 9)
        signal[[0, -1]] = (-8.0, 8.0)
    return {
        "sizes": np.array([n, radius], dtype=np.int32),
        "signal": signal.astype(np.float32),
        # not symmetric: a correlation gives another result
        "taps": rng.normal(0.0, 0.3, 2 * radius + 1).astype(np.float32),
    }


def reference(inputs):
    taps = inputs["taps"].astype(np.float64)
    padded = np.pad(inputs["signal"].astype(np.float64), taps.size // 2, mode="edge")
    return {"filtered": np.convolve(padded, taps, mode="valid").astype(np.float32)}
