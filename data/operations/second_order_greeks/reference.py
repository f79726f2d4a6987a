import numpy as np


# d1 carries an absolute error of about 1e-6 in float32, amplified by d1 up to 4 in the exponential.
TOLERANCE = {"vega": (1e-4, 1e-4), "vanna": (1e-4, 2e-5), "volga": (1e-4, 5e-4)}


def make_inputs(rng, count):
    spot = rng.uniform(20, 200, count)
    return {
        "spot": spot.astype(np.float32),
        "strike": (spot * rng.uniform(0.6, 1.6, count)).astype(np.float32),
        "maturity": rng.uniform(0.3, 4, count).astype(np.float32),
        "volatility": rng.uniform(0.12, 0.7, count).astype(np.float32),
    }


def reference(inputs):
    S, K, T, s = (inputs[k].astype(np.float64) for k in ("spot", "strike", "maturity", "volatility"))
    d1 = (np.log(S / K) + (0.02 + s * s / 2) * T) / (s * np.sqrt(T))
    d2 = d1 - s * np.sqrt(T)
    phi = np.exp(-d1 * d1 / 2) / np.sqrt(2 * np.pi)
    vega = S * phi * np.sqrt(T)
    return {
        "vega": vega.astype(np.float32),
        "vanna": (-phi * d2 / s).astype(np.float32),
        "volga": (vega * d1 * d2 / s).astype(np.float32),
    }
