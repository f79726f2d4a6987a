import numpy as np


# exp of quotients up to several hundred, relative to the maximum; errors of x / tau scale with tau again.
TOLERANCE = {"lme": (3e-5, 1e-4)}


def make_inputs(rng, rows, cols):
    tau = np.exp(rng.uniform(np.log(0.05), np.log(20.0), rows))
    x = rng.normal(0.0, 4.0, (rows, cols)) + rng.uniform(-10.0, 10.0, (rows, 1))
    return {"x": x.astype(np.float32), "tau": tau.astype(np.float32)}


def reference(inputs):
    x, tau = inputs["x"].astype(np.float64), inputs["tau"].astype(np.float64)
    m = x.max(axis=1)
    mean = np.exp((x - m[:, None]) / tau[:, None]).mean(axis=1)
    return {"lme": (m + tau * np.log(mean)).astype(np.float32)}
