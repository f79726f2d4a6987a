import numpy as np


# Integers: exact.
TOLERANCE = {"poster": (0, 0), "code": (0, 0)}


def make_inputs(rng, height, width):
    return {
        "picture": rng.integers(0, 256, (height, width, 3)).astype(np.uint8),
        "levels": rng.permutation(np.arange(2, 17))[:3].astype(np.int32),
    }


def reference(inputs):
    v, n = inputs["picture"].astype(np.int32), inputs["levels"]
    q = (2 * v * (n - 1) + 255) // 510
    poster = (510 * q + n - 1) // (2 * (n - 1))
    code = q[..., 0] + n[0] * (q[..., 1] + n[1] * q[..., 2])
    return {"poster": poster.astype(np.uint8), "code": code.astype(np.int32)}
