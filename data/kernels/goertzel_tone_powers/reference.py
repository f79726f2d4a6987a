import numpy as np


TOLERANCE = {"power": (1e-4, 1e-3)}


def make_inputs(rng, frames, length, tones, values="noise"):
    bins = rng.integers(0, length, tones)
    x = rng.normal(0.0, 1.0, (frames, length))
    if values == "dial":  # two tones a frame, as from a telephone, among them the constant one
        bins = np.array([0, 18, 20, 22, 24, 31, 34, 38])
        angle = 2.0 * np.pi * np.arange(length)[None] * bins[rng.integers(0, 8, (frames, 2, 1))] / length
        x = np.cos(angle).sum(axis=1)
    return {
        "sizes": np.array([frames, length, tones], dtype=np.int32),
        "x": x.astype(np.float32),
        "bins": bins.astype(np.int32),
    }


def reference(inputs):
    x, length = inputs["x"].astype(np.float64), int(inputs["sizes"][1])
    turns = (inputs["bins"].astype(np.int64)[:, None] * np.arange(length) % length) / length
    real, imaginary = x @ np.cos(2.0 * np.pi * turns).T, x @ np.sin(2.0 * np.pi * turns).T
    return {"power": (real**2 + imaginary**2).astype(np.float32)}
