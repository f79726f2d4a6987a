import numpy as np


# Ten float32 products of size about 1, which cancel against the sample.
TOLERANCE = {"residual": (1e-5, 1e-5)}


def make_inputs(rng, clips, frames):
    n = frames * 160
    t = np.arange(n)
    x = np.sin(t * rng.uniform(0.05, 0.6, (clips, 1))) + rng.normal(0, 0.3, (clips, n))
    k = np.arange(10)
    a = rng.normal(0, 0.5, (clips, frames, 10)) * 0.8**k
    return {"speech": x.reshape(clips, frames, 160).astype(np.float32), "predictor": a.astype(np.float32)}


def reference(inputs):
    s = inputs["speech"].astype(np.float64)
    a = inputs["predictor"].astype(np.float64)
    clips, frames, size = s.shape
    past = np.pad(s.reshape(clips, -1), ((0, 0), (10, 0)))
    e = s.copy()
    for k in range(1, 11):
        e -= a[:, :, k - 1 : k] * past[:, 10 - k : 10 - k + frames * size].reshape(s.shape)
    return {"residual": e.astype(np.float32)}
