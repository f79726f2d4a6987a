import numpy as np


TOLERANCE = {
    "new_weights": (1e-5, 1e-6),
    "new_moment1": (1e-5, 1e-6),
    "new_moment2": (1e-5, 1e-6),
    "weights_bf16": (0, 1),
}


def make_inputs(rng, count, step, pattern="normal"):
    grad = rng.normal(0.0, 1.0, count) * rng.choice([1.0, 0.01], count)
    moment1, moment2 = rng.normal(0.0, 0.3, count), rng.exponential(0.2, count)
    if step == 1:
        moment1[:], moment2[:] = 0.0, 0.0
    if pattern == "frozen":  # no gradient and no moments in every second element: only the decay acts
        grad[::2] = moment1[::2] = moment2[::2] = 0.0
    weights = rng.choice([-1.0, 1.0], count) * rng.uniform(0.05, 3.0, count)
    return {
        "sizes": np.array([count, step], dtype=np.int32),
        "weights": weights.astype(np.float32),
        "grad": grad.astype(np.float32),
        "moment1": moment1.astype(np.float32),
        "moment2": moment2.astype(np.float32),
    }


def reference(inputs):
    t = int(inputs["sizes"][1])
    w, g = inputs["weights"].astype(np.float64), inputs["grad"].astype(np.float64)
    m = 0.9 * inputs["moment1"] + 0.1 * g
    v = 0.99 * inputs["moment2"] + 0.01 * g**2
    direction = m / (1 - 0.9**t) / (np.sqrt(v / (1 - 0.99**t)) + 1 / 65536)
    w = (w - (0.0625 * w + direction) / 1024).astype(np.float32)
    bits = w.view(np.uint32)
    nearest = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return {
        "new_weights": w,
        "new_moment1": m.astype(np.float32),
        "new_moment2": v.astype(np.float32),
        "weights_bf16": nearest.astype(np.uint16),
    }
