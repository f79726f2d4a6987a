import numpy as np


# A division, a mean and a product in float32: a few units of the last place.
TOLERANCE = {"rgb": (1e-6, 1e-7)}


def make_inputs(rng, height, width):
    level = rng.integers(150, 4096, (height // 5 + 1, width // 5 + 1)).repeat(10, 0).repeat(10, 1)
    raw = level[: 2 * height, : 2 * width] * rng.uniform(0.02, 1.0, (2 * height, 2 * width))
    return {
        "raw": raw.astype(np.uint16),
        "black": rng.integers(40, 300, 4).astype(np.int32),
        "gain": rng.uniform(0.9, 2.2, 3).astype(np.float32),
    }


def reference(inputs):
    black = inputs["black"].astype(np.float64)
    raw = inputs["raw"].astype(np.float64)
    part = [
        np.maximum(raw[y::2, x::2] - b, 0) / (4095 - b)
        for (y, x), b in zip([(0, 0), (0, 1), (1, 0), (1, 1)], black, strict=False)
    ]
    rgb = np.stack([part[0], 0.5 * (part[1] + part[2]), part[3]], axis=2) * inputs["gain"].astype(np.float64)
    return {"rgb": np.minimum(rgb, 1).astype(np.float32)}
