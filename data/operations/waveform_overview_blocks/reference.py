import numpy as np


# Extremes are copied; the mean square is a float32 sum of at most 500 positive terms.
TOLERANCE = {"low": (0, 0), "high": (0, 0), "level": (1e-5, 1e-7)}


def make_inputs(rng, tracks, samples):
    loud = np.repeat(rng.uniform(0.01, 1.0, (tracks, samples // 700 + 1)), 700, axis=1)[:, :samples]
    return {
        "audio": (rng.normal(0, 0.3, (tracks, samples)) * loud + rng.uniform(-0.2, 0.2, (tracks, 1))).astype(
            np.float32
        )
    }


def reference(inputs):
    x = inputs["audio"]
    first = np.arange(0, x.shape[1], 500)
    size = np.minimum(500, x.shape[1] - first)
    square = np.add.reduceat(x.astype(np.float64) ** 2, first, axis=1) / size
    return {
        "low": np.minimum.reduceat(x, first, axis=1),
        "high": np.maximum.reduceat(x, first, axis=1),
        "level": np.sqrt(square).astype(np.float32),
    }
