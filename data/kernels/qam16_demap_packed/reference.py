import numpy as np


TOLERANCE = {"bits": (0, 0)}


def make_inputs(rng, bursts, words, values="noisy"):
    # Multiples of 1/64 and gains that are powers of two: scaling is exact.
    gain = 2.0 ** rng.integers(-3, 4, bursts)
    level = rng.choice([-3.0, -1.0, 1.0, 3.0], (bursts, 8 * words, 2))
    received = level + np.rint(rng.normal(0.0, 0.4, level.shape) * 64.0) / 64.0
    if values == "borders":  # on and beside the decision borders, and far outside
        received = rng.choice([-9.0, -2.0, -1.984375, 0.0, -0.015625, 1.984375, 2.0, 9.0], level.shape)
    return {
        "sizes": np.array([bursts, words], dtype=np.int32),
        "symbols": (received / gain[:, None, None]).astype(np.float32),
        "gain": gain.astype(np.float32),
    }


def reference(inputs):
    value = inputs["symbols"].astype(np.float64) * inputs["gain"].astype(np.float64)[:, None, None]
    axis = 2 * (value >= 0.0) + (np.abs(value) < 2.0)  # two bits for each axis
    nibble = 4 * axis[..., 0] + axis[..., 1]
    grouped = nibble.reshape(*inputs["symbols"].shape[:1], -1, 8).astype(np.int64)
    return {"bits": (grouped << (4 * np.arange(8))).sum(axis=2).astype(np.uint32)}
