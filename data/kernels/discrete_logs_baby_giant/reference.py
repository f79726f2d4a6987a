import numpy as np


TOLERANCE = {"exponent": (0, 0)}


def make_inputs(rng, problems, largest, values="random"):
    sieve = np.ones(largest + 1, dtype=bool)
    sieve[:3] = False
    for p in range(2, int(largest**0.5) + 1):
        sieve[p * p :: p] = False
    primes = np.flatnonzero(sieve)
    groups = rng.choice(primes, 8)
    if values == "extremes":  # the smallest primes and the largest one
        groups[:4], groups[4:6] = [3, 5, 7, 11], primes[-1]
    bases = rng.integers(2, groups)
    # Half of the bases have a small order: a power of theirs is their own inverse, or nearly.
    orders = [(g - 1) // k for g, k in zip(groups.tolist(), rng.integers(2, 6, 8).tolist(), strict=True)]
    for k in range(0, 8, 2):
        bases[k] = pow(int(bases[k]), max(orders[k], 1), int(groups[k]))
    if values == "extremes":
        bases[4], bases[6] = 1, groups[6] - 1
    which = rng.integers(0, 8, problems)
    prime, base = groups[which], bases[which]
    target = rng.integers(1, prime)
    for row in np.flatnonzero(rng.random(problems) < 0.6):
        target[row] = pow(int(base[row]), int(rng.integers(0, prime[row])), int(prime[row]))
    return {
        "sizes": np.array([problems], dtype=np.int32),
        "prime": prime.astype(np.int32),
        "base": base.astype(np.int32),
        "target": target.astype(np.int32),
    }


def reference(inputs):
    # For each pair of prime and base, all powers by doubling, and a table of the exponent of every remainder.
    prime, base, target = (inputs[name].astype(np.int64) for name in ("prime", "base", "target"))
    exponent = np.full(prime.size, -1, dtype=np.int32)
    for p, b in np.unique(np.stack([prime, base]), axis=1).T.tolist():
        powers, factor = np.ones(1, dtype=np.int64), b
        while powers.size < p - 1 and not (powers[1:] == 1).any():
            powers = np.concatenate([powers, powers * factor % p])
            factor = factor * factor % p
        again = np.flatnonzero(powers[1:] == 1)
        order = again[0] + 1 if again.size else p - 1
        place = np.full(p, -1, dtype=np.int32)
        place[powers[:order]] = np.arange(order)
        rows = (prime == p) & (base == b)
        exponent[rows] = place[target[rows]]
    return {"exponent": exponent}
