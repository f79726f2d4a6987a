import numpy as np


TOLERANCE = {"products": (0, 0)}


def make_inputs(rng, n, modulus, values="random"):
    # The moduli are prime and the factors not zero, so that no product loses what came before.
    factors = rng.integers(1, modulus, n)
    if values == "ones and a zero":  # every product behind the zero is 0; the largest residue squares to 1
        factors = np.where(rng.random(n) < 0.7, 1, modulus - 1)
        factors[n // 2 :: 97] = rng.integers(1, modulus, factors[n // 2 :: 97].size)
        factors[n - n // 5] = 0
    return {
        "sizes": np.array([n], dtype=np.int32),
        "modulus": np.array([modulus], dtype=np.uint32),
        "factors": factors.astype(np.uint32),
    }


def reference(inputs):
    # Columns of a table side by side: the loop goes down the rows of about the square root of n.
    modulus, n = np.uint64(inputs["modulus"][0]), inputs["factors"].size
    length = int(np.ceil(np.sqrt(n)))
    table = np.ones(length * length, dtype=np.uint64)
    table[:n] = inputs["factors"]
    table = table.reshape(length, length)
    for k in range(1, length):
        table[:, k] = table[:, k - 1] * table[:, k] % modulus
    for row in range(1, length):
        table[row] = table[row - 1, -1] * table[row] % modulus
    return {"products": table.ravel()[:n].astype(np.uint32)}
