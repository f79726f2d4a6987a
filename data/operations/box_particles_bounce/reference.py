import numpy as np


# Integer arithmetic: exact.
TOLERANCE = {"new_position": (0, 0), "bounces": (0, 0)}


def make_inputs(rng, particles):
    return {
        "position": rng.integers(0, 1000001, (particles, 2)).astype(np.int32),
        "velocity": rng.integers(-60000, 60001, (particles, 2)).astype(np.int32),
    }


def reference(inputs):
    c, v = inputs["position"].copy(), inputs["velocity"].copy()
    bounces = np.zeros(len(c), dtype=np.int32)
    for _ in range(40):
        v[:, 1] -= 150
        c += v
        low, high = c < 0, c > 1000000
        c = np.where(low, -c, np.where(high, 2000000 - c, c))
        v = np.where(low | high, -(np.sign(v) * (7 * np.abs(v) // 8)), v)
        bounces += (low | high).sum(axis=1, dtype=np.int32)
    return {"new_position": c.astype(np.int32), "bounces": bounces}
