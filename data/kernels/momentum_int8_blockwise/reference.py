import numpy as np


TOLERANCE = {"new_weights": (1e-5, 1e-6), "new_codes": (0, 1), "new_scales": (1e-5, 1e-6)}


def make_inputs(rng, blocks, pattern="normal"):
    count = 256 * blocks
    grad = rng.normal(0.0, 1.0, count) * np.repeat(rng.choice([0.01, 1.0, 5.0], blocks), 256)
    codes, scales = rng.integers(-127, 128, count), rng.exponential(1.0, blocks)
    if pattern == "empty":  # blocks without any momentum, and blocks with one large value
        grad[: count // 3] = 0.0
        scales[: blocks // 3] = 0.0
        grad[count // 2 :: 256] = 1000.0
    return {
        "sizes": np.array([blocks], dtype=np.int32),
        "weights": rng.normal(0.0, 1.0, count).astype(np.float32),
        "grad": grad.astype(np.float32),
        "codes": codes.astype(np.int8),
        "scales": scales.astype(np.float32),
    }


def reference(inputs):
    scales = inputs["scales"].astype(np.float64)[:, None]
    momentum = 0.9 * scales * inputs["codes"].reshape(-1, 256) / 127 + inputs["grad"].reshape(-1, 256)
    largest = np.abs(momentum).max(axis=1, keepdims=True)
    codes = np.rint(127 * momentum / np.where(largest > 0, largest, 1.0))
    return {
        "new_weights": (inputs["weights"] - 0.01 * momentum.ravel()).astype(np.float32),
        "new_codes": codes.astype(np.int8).ravel(),
        "new_scales": largest.ravel().astype(np.float32),
    }
