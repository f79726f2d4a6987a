import numpy as np


TOLERANCE = {"net": (0, 0), "exposure": (0, 0)}


def make_inputs(rng, trades, banks, values="even"):
    pairs = rng.integers(0, banks, (trades, 2))
    if values == "one":  # nearly everything between the same two banks, some trades of a bank with itself
        pairs[:] = [5, 2]
        pairs[::50] = rng.integers(0, banks, (len(pairs[::50]), 2))
        pairs[::40, 1] = pairs[::40, 0]
    return {
        "sizes": np.array([trades, banks], dtype=np.int32),
        "pairs": pairs.astype(np.uint16),
        "amounts": rng.integers(-(2**31), 2**31, trades).astype(np.int32),
    }


def reference(inputs):
    banks = int(inputs["sizes"][1])
    payer, payee = inputs["pairs"].astype(np.int64).T
    owed = np.zeros((banks, banks), dtype=np.int64)
    np.add.at(owed, (payer, payee), inputs["amounts"].astype(np.int64))
    net = owed.T - owed
    return {"net": net, "exposure": np.maximum(net, 0).sum(axis=1)}
