import numpy as np


TOLERANCE = {"sigma": (1e-6, 1e-12)}


def make_inputs(rng, rows, n, values="noise"):
    detail = rng.normal(0.0, 1.0, (rows, n)) * 10.0 ** rng.uniform(-3.0, 3.0, (rows, 1))
    if values == "ties":  # the two middle magnitudes are equal, or 0, or far apart
        detail = rng.choice([-2.0, -1.0, 1.0, 2.0, 1e20], (rows, n))
        detail[0] = 0.0
        detail[1, : n // 2], detail[1, n // 2 :] = -1e-30, 3.0
    return {"sizes": np.array([rows, n], dtype=np.int32), "detail": detail.astype(np.float32)}


def reference(inputs):
    return {"sigma": (np.median(np.abs(inputs["detail"].astype(np.float64)), axis=1) / 0.6745).astype(np.float32)}
