import numpy as np


TOLERANCE = {"leaders": (0, 0), "log_mean": (1e-5, 1e-5)}
FLOOR = 2.0**-100


def make_inputs(rng, rows, half, levels, values="multifractal"):
    parts = []
    for level in range(levels):  # the finest first
        part = rng.normal(0.0, 1.0, (rows, half >> level)) * 2.0 ** (0.6 * level)
        part *= np.exp(rng.normal(0.0, 1.0, part.shape))
        parts.append(part)
    parts.append(rng.normal(5.0, 100.0, (rows, half >> (levels - 1))))  # the smoothed signal
    details = np.concatenate(parts, axis=1)
    if values == "sparse":
        details *= rng.random(details.shape) < 0.02
    return {
        "sizes": np.array([rows, half, levels], dtype=np.int32),
        "details": details.astype(np.float32),
    }


def reference(inputs):
    _, half, levels = (int(v) for v in inputs["sizes"])
    sizes = np.abs(inputs["details"])
    leaders = np.zeros_like(sizes)
    log_mean = np.empty((len(sizes), levels))
    start, below = 0, None
    for level in range(levels):
        count = half >> level
        largest = sizes[:, start : start + count]
        if below is not None:
            largest = np.maximum(largest, below.reshape(len(sizes), count, 2).max(axis=2))
        around = np.pad(largest, ((0, 0), (1, 1)))
        found = np.maximum(np.maximum(around[:, :-2], around[:, 1:-1]), around[:, 2:])
        leaders[:, start : start + count] = found
        log_mean[:, level] = np.log2(np.maximum(found.astype(np.float64), FLOOR)).mean(axis=1)
        start, below = start + count, largest
    return {"leaders": leaders, "log_mean": log_mean.astype(np.float32)}
