import numpy as np


# A contracting float32 recursion with values of at most about 3; the update is continuous where m equals e.
TOLERANCE = {"envelope": (2e-5, 2e-5)}


def make_inputs(rng, channels, samples):
    t = np.arange(samples)
    loud = np.abs(np.sin(t * rng.uniform(0.001, 0.02, (channels, 1)) + rng.uniform(0, 3, (channels, 1)))) ** 3
    x = rng.normal(0, 0.6, (channels, samples)) * loud
    return {
        "audio": x.astype(np.float32),
        "attack": rng.uniform(0.2, 0.9, channels).astype(np.float32),
        "release": rng.uniform(0.005, 0.1, channels).astype(np.float32),
    }


def reference(inputs):
    m = np.abs(inputs["audio"].astype(np.float64)).T.copy()
    a, r = inputs["attack"].astype(np.float64), inputs["release"].astype(np.float64)
    out = np.empty(m.shape, np.float32)
    e = np.zeros(m.shape[1])
    for t in range(len(m)):
        d = m[t] - e
        e = e + np.where(d > 0, a, r) * d
        out[t] = e
    return {"envelope": np.ascontiguousarray(out.T)}
