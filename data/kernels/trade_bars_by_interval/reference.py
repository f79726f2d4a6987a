import itertools

import numpy as np


TOLERANCE = {"ohlc": (0, 0), "volume": (0, 0), "vwap": (1e-12, 1e-12)}


def make_inputs(rng, trades, bars, values="busy"):
    start, length = 1_700_000_000_000, 60_000
    span = bars * length
    times = start + rng.integers(-span // 20, span + span // 20, trades)
    if values == "sparse":  # many empty bars; trades exactly on bounds
        times = start + rng.integers(0, bars // 3 + 1, trades) * length
    steps = rng.integers(-3, 4, trades)
    return {
        "sizes": np.array([trades, bars], dtype=np.int32),
        "times": np.sort(times).astype(np.int64),
        "prices": np.maximum(100000 + np.cumsum(steps), 1).astype(np.int32),
        "volumes": rng.integers(1, 100000, trades).astype(np.int32),
        "clock": np.array([start, length], dtype=np.int64),
    }


def reference(inputs):
    bars = int(inputs["sizes"][1])
    start, length = inputs["clock"].tolist()
    bounds = np.searchsorted(inputs["times"], start + length * np.arange(bars + 1))
    prices, volumes = inputs["prices"], inputs["volumes"].astype(np.int64)
    ohlc, volume, vwap = np.zeros((bars, 4), dtype=np.int32), np.zeros(bars, dtype=np.int64), np.zeros(bars)
    last = 0
    for bar, (begin, end) in enumerate(itertools.pairwise(bounds)):
        if begin == end:  # nothing traded: the last close, if there is one
            ohlc[bar] = vwap[bar] = last
            continue
        part, weight = prices[begin:end], volumes[begin:end]
        last = int(part[-1])
        ohlc[bar] = part[0], part.max(), part.min(), last
        volume[bar] = weight.sum()
        vwap[bar] = (part.astype(np.int64) * weight).sum() / weight.sum()
    return {"ohlc": ohlc, "volume": volume, "vwap": vwap}
