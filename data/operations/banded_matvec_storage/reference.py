import numpy as np


# Sums of at most 40 float32 products of order one.
TOLERANCE = {"y": (2e-5, 5e-5)}


def make_inputs(rng, n, kl, ku):
    band = rng.normal(0.0, 1.0, (kl + ku + 1, n))
    i = np.arange(kl + ku + 1)[:, None] - ku + np.arange(n)[None, :]
    band[(i < 0) | (i >= n)] = 1000.0
    return {"band": band.astype(np.float32), "x": rng.uniform(-1.0, 1.5, n).astype(np.float32)}


def reference(inputs):
    band, x = inputs["band"], inputs["x"].astype(np.float64)
    n = len(x)
    # The shapes do not tell ku: column 0 of band begins with ku unused places, which hold 1000.
    ku = int(np.argmax(band[:, 0] != 1000.0))
    y = np.zeros(n)
    for r in range(len(band)):
        shift = r - ku
        j = np.arange(max(0, -shift), min(n, n - shift))
        y[j + shift] += band[r, j].astype(np.float64) * x[j]
    return {"y": y.astype(np.float32)}
