import numpy as np


TOLERANCE = {"totals": (0, 0)}


def make_inputs(rng, n, bins, values="normal"):
    # A third of the entries shares a few keys; most weights have more than 16 fractional bits.
    keys = rng.integers(0, bins, n)
    keys[: n // 3] %= max(1, bins // 32)
    weights = rng.normal(0.0, 20.0, n)
    if values == "extremes":  # sums beyond 32 bits, 2^31 as a single term, exact halves, and nothing at all
        weights[::2] = rng.choice([32768.0, -32768.0, 32767.5], n // 2 + n % 2, p=[0.6, 0.2, 0.2])
        weights[1::8] = (rng.integers(-50, 51, weights[1::8].size) + 0.5) / 65536.0
        weights[3::8] = 0.0
    return {
        "sizes": np.array([n, bins], dtype=np.int32),
        "keys": rng.permutation(keys).astype(np.uint16),
        "weights": weights.astype(np.float32),
    }


def reference(inputs):
    fixed = np.rint(inputs["weights"].astype(np.float64) * 65536.0).astype(np.int64)
    totals = np.zeros(int(inputs["sizes"][1]), dtype=np.int64)
    np.add.at(totals, inputs["keys"], fixed)
    return {"totals": totals}
