import numpy as np


TOLERANCE = {"power": (0, 0)}


def make_inputs(rng, n, values="random"):
    base, exponent, modulus = rng.integers(0, 2**64, (3, n), dtype=np.uint64)
    if values == "edges":  # smallest and largest moduli, exponents 0 and 1, bases above the modulus
        modulus = rng.choice(np.array([3, 2**64 - 1, 2**63 + 1, 2**32 + 1, 2**61 - 1], dtype=np.uint64), n)
        exponent = rng.choice(np.array([0, 1, 2, 2**64 - 1, 2**63, 2**61 - 2], dtype=np.uint64), n)
        base[::3] = modulus[::3] - np.uint64(1)
        base[1::3] = 0
    return {
        "sizes": np.array([n], dtype=np.int32),
        "base": base,
        "exponent": exponent,
        "modulus": np.maximum(modulus | np.uint64(1), 3),
    }


def reference(inputs):
    columns = (inputs[name].tolist() for name in ("base", "exponent", "modulus"))
    return {"power": np.array([pow(b, e, m) for b, e, m in zip(*columns, strict=True)], dtype=np.uint64)}
