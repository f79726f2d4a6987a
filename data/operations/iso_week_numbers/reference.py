import numpy as np


# Integers: exact.
TOLERANCE = {"iso": (0, 0)}


def make_inputs(rng, n):
    low, high = np.array(["1600-01-01", "2401-01-01"], dtype="datetime64[D]").astype(np.int64)
    d = rng.integers(low, high, n)
    edge = rng.random(n) < 0.4
    years = rng.integers(1601, 2401, edge.sum()).astype(str)
    d[edge] = years.astype("datetime64[Y]").astype("datetime64[D]").astype(np.int64) + rng.integers(-7, 7, edge.sum())
    t = d.astype("datetime64[D]")
    month = t.astype("datetime64[M]")
    year = t.astype("datetime64[Y]").astype(np.int64) + 1970
    day = (t - month.astype("datetime64[D]")).astype(np.int64) + 1
    return {"dates": np.stack([year, month.astype(np.int64) % 12 + 1, day], axis=1).astype(np.int32)}


def reference(inputs):
    y, m, day = inputs["dates"].astype(np.int64).T
    d = ((y - 1970) * 12 + m - 1).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64) + day - 1
    weekday = (d + 3) % 7 + 1
    thursday = (d + 4 - weekday).astype("datetime64[D]")
    year = thursday.astype("datetime64[Y]")
    week = (thursday - year.astype("datetime64[D]")).astype(np.int64) // 7 + 1
    return {"iso": np.stack([year.astype(np.int64) + 1970, week, weekday], axis=1).astype(np.int32)}
