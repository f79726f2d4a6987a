import numpy as np


TOLERANCE = {"correlation": (1e-3, 1e-4), "loss": (1e-3, 1e-3)}


def make_inputs(rng, samples, width, pattern="centred"):
    shared = rng.normal(0.0, 1.0, (samples, width))
    shared[:, 1::2] += 0.6 * shared[:, : width - width % 2 : 2][:, : shared[:, 1::2].shape[1]]
    first = shared + rng.normal(0.0, 0.7, (samples, width))
    second = shared + rng.normal(0.0, 0.7, (samples, width))
    if pattern == "offset":  # large means, and a column without any variance
        first, second = first + 100.0, 0.1 * second - 10.0
        first[:, 3] = 5.0
    return {
        "sizes": np.array([samples, width], dtype=np.int32),
        "first": first.astype(np.float32),
        "second": second.astype(np.float32),
    }


def reference(inputs):
    views = []
    for name in ("first", "second"):
        x = inputs[name].astype(np.float64)
        x -= x.mean(axis=0)
        views.append(x / np.sqrt((x**2).mean(axis=0) + 1e-5))
    correlation = views[0].T @ views[1] / views[0].shape[0]
    diagonal = np.diag(correlation)
    loss = ((1 - diagonal) ** 2).sum() + ((correlation**2).sum() - (diagonal**2).sum()) / 128
    return {"correlation": correlation.astype(np.float32), "loss": np.array([loss], dtype=np.float32)}
