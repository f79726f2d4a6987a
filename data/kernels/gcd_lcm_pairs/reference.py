import numpy as np


TOLERANCE = {"gcd": (0, 0), "lcm": (0, 0)}


def make_inputs(rng, n, values="common"):
    # Products of small primes and a random rest: many pairs have a large common divisor.
    pairs = np.ones((n, 2), dtype=np.uint64)
    for prime in (2, 2, 3, 3, 5, 7, 11, 13):
        pairs *= np.where(rng.random((n, 2)) < 0.5, prime, 1).astype(np.uint64)
    pairs *= rng.integers(1, 17850, (n, 2), dtype=np.uint64)
    if values == "edges":  # zeros on either side or both, equal numbers, neighbours in Fibonacci's sequence
        chosen = [0, 1, 2, 2**31, 2**32 - 1, 2**32 - 2, 2971215073, 1836311903, 65536, 65537]
        pairs = rng.choice(np.array(chosen, dtype=np.uint64), (n, 2))
    return {"sizes": np.array([n], dtype=np.int32), "pairs": pairs.astype(np.uint32)}


def reference(inputs):
    a, b = inputs["pairs"].astype(np.uint64).T
    divisor = np.gcd(a, b)
    return {"gcd": divisor.astype(np.uint32), "lcm": a // np.maximum(divisor, 1) * b}
