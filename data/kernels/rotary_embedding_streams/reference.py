import numpy as np


TOLERANCE = {"rotated_q": (1e-5, 1e-5), "rotated_k": (1e-5, 1e-5)}


def make_inputs(rng, length, q_heads, kv_heads, values="normal"):
    positions = rng.integers(0, 8192, length)
    q, k = rng.normal(0.0, 1.0, (length, q_heads, 64)), rng.normal(0.0, 1.0, (length, kv_heads, 64))
    if values == "extremes":  # the largest positions, where an angle in float is off by hundredths, and position 0
        positions = 1000000 - rng.integers(0, 50, length)
        positions[::4] = 0
        q[1::3] = 0.0
    return {
        "sizes": np.array([length, q_heads, kv_heads], dtype=np.int32),
        "positions": positions.astype(np.int32),
        "q": q.astype(np.float32),
        "k": k.astype(np.float32),
    }


def rotate(x, positions):
    angles = positions[:, None, None] * 10000.0 ** (-np.arange(32) / 32.0)
    even, odd = x[..., 0::2].astype(np.float64), x[..., 1::2].astype(np.float64)
    turned = (even * np.cos(angles) - odd * np.sin(angles), even * np.sin(angles) + odd * np.cos(angles))
    return np.stack(turned, axis=-1).reshape(x.shape).astype(np.float32)


def reference(inputs):
    return {f"rotated_{name}": rotate(inputs[name], inputs["positions"]) for name in ("q", "k")}
