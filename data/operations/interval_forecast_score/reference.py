import numpy as np


# Mean of up to 2000 non-negative float32 terms; values lie on a grid of 1/64, so comparisons are exact.
TOLERANCE = {"score": (2e-5, 1e-6), "covered": (0, 0)}


def make_inputs(rng, series, steps):
    centre = rng.normal(0.0, 20.0, (series, 1)) + rng.normal(0.0, 3.0, (series, steps))
    half = np.abs(rng.normal(2.0, 1.0, centre.shape))
    actual = centre + rng.normal(0.0, 1.5, centre.shape)
    lower, upper, actual = (np.round(v * 64.0) / 64.0 for v in (centre - half, centre + half, actual))
    tie = rng.random(centre.shape)
    actual = np.where(tie < 0.03, lower, np.where(tie > 0.97, upper, actual))
    return {"lower": lower.astype(np.float32), "upper": upper.astype(np.float32), "actual": actual.astype(np.float32)}


def reference(inputs):
    lo, up, y = (inputs[k].astype(np.float64) for k in ("lower", "upper", "actual"))
    s = (up - lo) + 20.0 * np.maximum(lo - y, 0.0) + 20.0 * np.maximum(y - up, 0.0)
    return {
        "score": s.mean(axis=1).astype(np.float32),
        "covered": np.sum((y >= lo) & (y <= up), axis=1).astype(np.int32),
    }
