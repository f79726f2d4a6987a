import numpy as np


# Integers: exact.
TOLERANCE = {"dates": (0, 0), "weekday": (0, 0)}


def make_inputs(rng, n):
    d = rng.integers(-719162, 2932897, n)
    near = rng.random(n) < 0.3
    years = rng.integers(1, 10000, n)
    start = (np.char.add(np.char.zfill(years[near].astype(str), 4), "-03-01")).astype("datetime64[D]").astype(np.int64)
    d[near] = start + rng.integers(-2, 2, near.sum())
    d[:4] = [-719162, 2932896, 0, -1]
    return {"days": d.astype(np.int32)}


def reference(inputs):
    d = inputs["days"].astype(np.int64)
    t = d.astype("datetime64[D]")
    months = t.astype("datetime64[M]")
    year = t.astype("datetime64[Y]").astype(np.int64) + 1970
    month = months.astype(np.int64) % 12 + 1
    day = (t - months.astype("datetime64[D]")).astype(np.int64) + 1
    return {"dates": np.stack([year, month, day], axis=1).astype(np.int32), "weekday": ((d + 3) % 7).astype(np.int32)}
