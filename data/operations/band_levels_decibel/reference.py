import numpy as np


# float32 means of positive powers: a relative error of 1e-6 of the mean is 1e-5 dB; logarithms near 0 dB and at -120.
TOLERANCE = {"level": (1e-5, 1e-3)}


def make_inputs(rng, frames, bins, bands):
    power = (
        rng.exponential(1.0, (frames, bins)) * 10.0 ** rng.uniform(-9, 2, (frames, 1)) * 10.0 ** rng.normal(0, 1, bins)
    )
    power[rng.random(frames) < 0.03] = 0.0
    edge = np.sort((bins * rng.random(bands + 1) ** 2).astype(np.int32))
    edge[4] = edge[3]
    return {"power": power.astype(np.float32), "edge": edge.astype(np.int32)}


def reference(inputs):
    p, e = inputs["power"].astype(np.float64), inputs["edge"]
    level = np.full((len(p), len(e) - 1), -120.0)
    for j in range(len(e) - 1):
        if e[j + 1] > e[j]:
            level[:, j] = 10 * np.log10(p[:, e[j] : e[j + 1]].mean(axis=1) + 1e-12)
    return {"level": level.astype(np.float32)}
