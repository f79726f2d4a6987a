import numpy as np


TOLERANCE = {"totient": (0, 0), "primes": (0, 0)}


def make_inputs(rng, count, low=1, high=2000000000):
    start = rng.integers(low, high, endpoint=True)
    return {
        "sizes": np.array([count], dtype=np.int32),
        "start": np.array([start], dtype=np.uint32),
    }


def reference(inputs):
    # A sieve over the range: each prime goes to its multiples, each power of it once more.
    first, count = int(inputs["start"][0]), int(inputs["sizes"][0])
    numbers = first + np.arange(count, dtype=np.int64)
    root = int(numbers[-1] ** 0.5) + 1
    sieve = np.ones(root + 1, dtype=bool)
    sieve[:2] = False
    for p in range(2, int(root**0.5) + 1):
        if sieve[p]:
            sieve[p * p :: p] = False
    totient, rest = numbers.copy(), numbers.copy()
    primes = np.zeros(count, dtype=np.uint8)
    for p in np.flatnonzero(sieve).tolist():
        multiples = slice(-first % p, None, p)
        totient[multiples] -= totient[multiples] // p
        primes[multiples] += 1
        power = p
        while power <= numbers[-1]:
            rest[-first % power :: power] //= p
            power *= p
    large = rest > 1
    totient[large] -= totient[large] // rest[large]
    primes += large
    return {"totient": totient.astype(np.uint32), "primes": primes}
