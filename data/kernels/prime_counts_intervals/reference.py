import numpy as np


TOLERANCE = {"counts": (0, 0), "smallest": (0, 0)}

LARGEST = 16777216 + 32768


def make_inputs(rng, intervals, width, values="anywhere"):
    starts = rng.integers(0, 16777217, intervals)
    if (
        values == "edges"
    ):  # from 0 on, at squares of primes, in the widest gap between primes below the limit, at the end
        starts = rng.choice(
            [0, 1, 2, 3, 4, 25, 4093**2, 4093**2 - 149, 15 * 10**6 + 685703, 17051708 - 274493, 16777216], intervals
        )
    return {
        "sizes": np.array([intervals, width], dtype=np.int32),
        "starts": np.minimum(starts, 16777216).astype(np.int32),
    }


def reference(inputs):
    width = int(inputs["sizes"][1])
    is_prime = np.ones(LARGEST, dtype=bool)
    is_prime[:2] = False
    for factor in range(2, int(LARGEST**0.5) + 1):
        if is_prime[factor]:
            is_prime[factor * factor :: factor] = False
    pieces = [is_prime[start : start + width] for start in inputs["starts"].tolist()]
    counts = [piece.sum() for piece in pieces]
    first = [
        start + piece.argmax() if piece.any() else 0 for start, piece in zip(inputs["starts"], pieces, strict=True)
    ]
    return {"counts": np.array(counts, dtype=np.int32), "smallest": np.array(first, dtype=np.int32)}
