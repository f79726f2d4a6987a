import numpy as np


# 1 / (...) is about 300 K with a few float32 ulp (3e-5 each); subtracting 273.15 leaves that as absolute error.
TOLERANCE = {"celsius": (1e-5, 5e-4)}


def make_inputs(rng, sensors, samples):
    adc = np.clip(np.rint(rng.normal(2000.0, 900.0, (sensors, samples))), 0, 4095)
    base = np.array([1.129e-3, 2.341e-4, 8.775e-8])
    coef = base * rng.uniform(0.97, 1.03, (sensors, 3))
    return {"adc": adc.astype(np.int32), "coef": coef.astype(np.float32)}


def reference(inputs):
    q = inputs["adc"].astype(np.float64)
    a, b, c = (inputs["coef"].astype(np.float64)[:, k, None] for k in range(3))
    bad = (q <= 0) | (q >= 4095)
    safe = np.where(bad, 2000.0, q)
    ln = np.log(10000.0 * safe / (4095.0 - safe))
    return {"celsius": np.where(bad, -999.0, 1.0 / (a + b * ln + c * ln**3) - 273.15).astype(np.float32)}
