import numpy as np


TOLERANCE = {"profit": (0, 0), "trades": (0, 0)}


def make_inputs(rng, days, fast, slow, values="walk"):
    prices = np.maximum(20000 + np.cumsum(rng.integers(-120, 121, days)), 100)
    if values == "flat":  # averages are often equal
        prices = 5000 + 10 * (np.arange(days) // 50 % 3 == 0)
    limit = max(days // 4, 3)
    return {
        "sizes": np.array([days, fast, slow], dtype=np.int32),
        "prices": prices.astype(np.int32),
        "fast_windows": rng.integers(1, limit // 2 + 1, fast).astype(np.int32),
        "slow_windows": rng.integers(2, limit + 1, slow).astype(np.int32),
    }


def reference(inputs):
    prices = inputs["prices"].astype(np.int64)
    sums = np.concatenate([[0], np.cumsum(prices)])
    moves = np.diff(prices)
    shape = inputs["fast_windows"].size, inputs["slow_windows"].size
    profit, trades = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int32)
    for f, a in enumerate(inputs["fast_windows"].tolist()):
        for s, b in enumerate(inputs["slow_windows"].tolist()):
            first = max(a, b) - 1
            day = np.arange(first, prices.size - 1)
            long = (sums[day + 1] - sums[day + 1 - a]) * b > (sums[day + 1] - sums[day + 1 - b]) * a
            profit[f, s] = moves[day][long].sum()
            trades[f, s] = np.count_nonzero(np.diff(np.concatenate([[False], long]).astype(np.int8)))
    return {"profit": profit, "trades": trades}
