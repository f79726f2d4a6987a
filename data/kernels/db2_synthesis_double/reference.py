import numpy as np


TOLERANCE = {"x": (1e-12, 1e-12)}


def make_inputs(rng, rows, half, values="noise"):
    approximation, detail = rng.normal(0.0, 3.0, (2, rows, half))
    if values == "impulses":  # shows single taps, and the wrap at the first sample
        approximation[:], detail[:] = 0.0, 0.0
        approximation[0, 0] = detail[1, 0] = approximation[2, 1] = detail[3, 1] = 1.0
    return {
        "sizes": np.array([rows, half], dtype=np.int32),
        "approximation": approximation,
        "detail": detail,
    }


def reference(inputs):
    root = np.sqrt(3.0)
    h = np.array([1 + root, 3 + root, 3 - root, 1 - root]) / (4.0 * np.sqrt(2.0))
    g = np.array([h[3], -h[2], h[1], -h[0]])
    a, d = inputs["approximation"], inputs["detail"]
    n = 2 * a.shape[1]
    x = np.zeros((len(a), n))
    for k in range(4):  # coefficient i contributes to sample (2 i + k) mod n
        x[:, (2 * np.arange(a.shape[1]) + k) % n] += h[k] * a + g[k] * d
    return {"x": x}
