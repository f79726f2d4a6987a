import numpy as np


TOLERANCE = {"y": (1e-4, 1e-3)}


def make_inputs(rng, height, width, values="image"):
    row, col = np.indices((height, width))
    x = 100.0 * np.sin(row / 13.0 + col / 29.0) + rng.normal(0.0, 20.0, (height, width))
    if values == "steps":  # the shortest columns there are: each sample is the other's mirror image
        x = 255.0 * rng.integers(0, 2, (height, width))
    return {"sizes": np.array([height, width], dtype=np.int32), "x": x.astype(np.float32)}


def reference(inputs):
    x = inputs["x"].astype(np.float64)
    even, odd = x[0::2].copy(), x[1::2].copy()

    def beside_odd(values):
        """The even values above and below each odd one, mirrored at the end."""
        return values[: len(odd)] + np.concatenate([values[1:], values[-1:]])[: len(odd)]

    def beside_even(values):
        """The odd values above and below each even one, mirrored at both ends."""
        padded = np.concatenate([values[:1], values, values[-1:]])
        return padded[: len(even)] + padded[1 : len(even) + 1]

    odd += -1.586134342 * beside_odd(even)
    even += -0.05298011854 * beside_even(odd)
    odd += 0.8829110762 * beside_odd(even)
    even += 0.4435068522 * beside_even(odd)
    return {"y": np.concatenate([even / 1.230174105, odd * 1.230174105]).astype(np.float32)}
