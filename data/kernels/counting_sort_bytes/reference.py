import numpy as np


TOLERANCE = {"sorted": (0, 0)}


def make_inputs(rng, n, values="skewed"):
    # A normal distribution over the middle values, many zeros, and gaps: odd values above 200 do not occur.
    data = np.clip(rng.standard_normal(n, dtype=np.float32) * 50 + 110, 0, 255).astype(np.uint8)
    data[rng.random(n, dtype=np.float32) < 0.1] = 0
    data[(data > 200) & (data % 2 == 1)] = 255
    if values == "two_values":  # hardly any boundary, and it lies inside a vector of 16
        data = np.where(np.arange(n) % 3 == 1, 7, 254).astype(np.uint8)
    return {"sizes": np.array([n], dtype=np.int32), "data": data}


def reference(inputs):
    counts = np.bincount(inputs["data"], minlength=256)
    return {"sorted": np.repeat(np.arange(256, dtype=np.uint8), counts)}
