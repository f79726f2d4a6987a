import numpy as np


TOLERANCE = {"new_weights": (1e-6, 1e-7), "new_momentum": (0, 0)}


def make_inputs(rng, count, pattern="random"):
    # Grids on which float32 makes no error, so that the sign of the blend is certain.
    momentum = rng.integers(-64, 65, count) / 64.0
    grad = rng.integers(-512, 513, count) / 256.0
    if pattern == "balanced":  # momentum and gradient often cancel
        momentum = rng.integers(-8, 9, count) / 64.0
        grad = np.where(rng.random(count) < 0.5, -7.0 * momentum, grad)
    return {
        "sizes": np.array([count], dtype=np.int32),
        "weights": (rng.normal(0.0, 1.0, count) + 0.01).astype(np.float32),
        "grad": grad.astype(np.float32),
        "momentum": (momentum.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16),
    }


def reference(inputs):
    m = (inputs["momentum"].astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    w, g = inputs["weights"].astype(np.float64), inputs["grad"].astype(np.float64)
    direction = np.sign(0.875 * m + 0.125 * g)
    bits = ((63 * m + g) / 64).astype(np.float32).view(np.uint32)
    return {
        "new_weights": (w - (direction + 0.125 * w) / 1024).astype(np.float32),
        "new_momentum": ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16),
    }
