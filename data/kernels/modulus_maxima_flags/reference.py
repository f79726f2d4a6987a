import numpy as np


TOLERANCE = {"maximum": (0, 0), "counts": (0, 0)}


def make_inputs(rng, scales, n, values="noise"):
    w = rng.normal(0.0, 1.0, (scales, n))
    floor = rng.uniform(0.0, 1.5, scales)
    if values == "plateaus":  # equal neighbours, values at the floor, maxima at the ends
        w = rng.choice([-2.0, -1.0, 0.0, 1.0, 2.0], (scales, n)).repeat(2, axis=1)[:, :n]
        floor = rng.choice([0.0, 1.0, 2.0], scales)
    return {
        "sizes": np.array([scales, n], dtype=np.int32),
        "w": w.astype(np.float32),
        "floor": floor.astype(np.float32),
    }


def reference(inputs):
    size = np.abs(inputs["w"])
    before = np.pad(size[:, :-1], ((0, 0), (1, 0)), constant_values=-1.0)
    after = np.pad(size[:, 1:], ((0, 0), (0, 1)), constant_values=-1.0)
    maximum = (size > inputs["floor"][:, None]) & (size >= before) & (size > after)
    return {"maximum": maximum.astype(np.uint8), "counts": np.count_nonzero(maximum, axis=1).astype(np.int32)}
