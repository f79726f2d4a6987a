import numpy as np


# Positions and counts: exact.
TOLERANCE = {"position": (0, 0), "copies": (0, 0)}


def make_inputs(rng, entries, n):
    table = np.sort(rng.integers(-entries, entries, entries))
    table[entries // 3 : entries // 3 + entries // 10] = table[entries // 3]
    keys = rng.integers(-entries - 3, entries + 3, n)
    keys[rng.random(n) < 0.2] = table[entries // 3]
    return {"table": np.sort(table).astype(np.int32), "keys": keys.astype(np.int32)}


def reference(inputs):
    low = np.searchsorted(inputs["table"], inputs["keys"], side="left")
    high = np.searchsorted(inputs["table"], inputs["keys"], side="right")
    return {"position": low.astype(np.int32), "copies": (high - low).astype(np.int32)}
