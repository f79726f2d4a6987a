import numpy as np


TOLERANCE = {"expected": (1e-6, 1e-6), "potential": (1e-6, 1e-6)}


def make_inputs(rng, dates, paths, trades, rank, values="spread"):
    cents = rng.integers(-2000, 2100, (dates, trades, paths))
    if values == "flat":
        cents[:] = rng.choice([-8, 0, 8], (dates, trades, 1))
    agreement = (np.arange(trades) % 3 != 2).astype(np.uint8)
    return {
        "sizes": np.array([dates, paths, trades, rank], dtype=np.int32),
        "values": (cents * 0.125).astype(np.float32),  # eighths: sums are exact
        "agreement": agreement,
    }


def reference(inputs):
    values, netted = inputs["values"].astype(np.float64), inputs["agreement"] != 0
    together = values[:, netted].sum(axis=1)
    alone = values[:, ~netted]
    exposure = np.maximum(together, 0.0) + np.maximum(alone, 0.0).sum(axis=1)
    owed = np.maximum(-together, 0.0) + np.maximum(-alone, 0.0).sum(axis=1)
    potential = np.sort(exposure, axis=1)[:, int(inputs["sizes"][3]) - 1]
    expected = np.stack([exposure.mean(axis=1), owed.mean(axis=1)], axis=1)
    return {"expected": expected, "potential": potential.astype(np.float32)}
