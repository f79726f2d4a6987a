import numpy as np


# ln and three divisions in float32; dew near 0 and the difference T - dew keep absolute errors of some 1e-5.
TOLERANCE = {"dew": (1e-5, 5e-5), "spread": (1e-5, 1e-4)}


def make_inputs(rng, stations, hours):
    return {
        "temp": rng.normal(10.0, 14.0, (stations, hours)).clip(-45.0, 50.0).astype(np.float32),
        "humidity": rng.uniform(-5.0, 115.0, (stations, hours)).astype(np.float32),
        "offset": rng.normal(0.0, 0.8, stations).astype(np.float32),
    }


def reference(inputs):
    t = inputs["temp"].astype(np.float64) + inputs["offset"].astype(np.float64)[:, None]
    g = np.log(np.clip(inputs["humidity"].astype(np.float64), 1.0, 100.0) / 100.0) + 17.62 * t / (243.12 + t)
    dew = 243.12 * g / (17.62 - g)
    return {"dew": dew.astype(np.float32), "spread": (t - dew).astype(np.float32)}
