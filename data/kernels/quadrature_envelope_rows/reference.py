import numpy as np


TOLERANCE = {"envelope": (1e-4, 1e-5)}


def make_inputs(rng, rows, n, half, values="noise"):
    j = np.arange(half)
    taps = 2.0 / (np.pi * (2 * j + 1)) * (0.54 + 0.46 * np.cos(np.pi * j / half))
    x = rng.normal(0.0, 1.0, (rows, n))
    if values == "chirp":  # a constant amplitude away from the ends
        t = np.arange(n)
        x = 2.0 * np.cos(0.3 * t + 0.003 * t**2 + rng.uniform(0.0, 6.0, (rows, 1)))
    return {
        "sizes": np.array([rows, n, half], dtype=np.int32),
        "x": x.astype(np.float32),
        "taps": taps.astype(np.float32),
    }


def reference(inputs):
    x, taps = inputs["x"].astype(np.float64), inputs["taps"].astype(np.float64)
    reach, n = 2 * len(taps) - 1, x.shape[1]
    padded = np.pad(x, ((0, 0), (reach, reach)))
    quadrature = np.zeros(x.shape)
    for j, tap in enumerate(taps):
        step = 2 * j + 1
        quadrature += tap * (padded[:, reach - step : reach - step + n] - padded[:, reach + step : reach + step + n])
    return {"envelope": np.hypot(x, quadrature).astype(np.float32)}
