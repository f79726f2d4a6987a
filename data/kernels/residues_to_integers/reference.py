import math

import numpy as np


TOLERANCE = {"value": (0, 0)}


def make_inputs(rng, moduli, count, values="large"):
    chosen = []
    while len(chosen) < moduli:  # near 2^32, so that a sum of two residues needs 33 bits; one of them is small
        m = int(rng.integers(2**31, 2**32)) if len(chosen) != 1 else int(rng.integers(3, 1000))
        if all(math.gcd(m, other) == 1 for other in chosen):
            chosen.append(m)
    if values == "powers":
        chosen = [2**31, 3**20, 5**13, 7**11, 11, 2**32 - 2**20 + 1]
    modulus = np.array(chosen, dtype=np.uint32)
    residue = rng.integers(0, modulus[:, None].astype(np.int64), (moduli, count))
    residue[:, 1::7] = rng.integers(0, 2**32, residue[:, 1::7].shape[1]) % modulus[:, None]  # one word long
    residue[:, 3::11] = modulus[:, None] - 1  # the largest value of all
    residue[:, 0] = 0
    return {
        "sizes": np.array([moduli, count], dtype=np.int32),
        "modulus": modulus,
        "residue": residue.astype(np.uint32),
    }


def reference(inputs):
    # The textbook sum over residue * (product of the other moduli) * its inverse, in long integers.
    modulus = inputs["modulus"].tolist()
    product = math.prod(modulus)
    total = np.zeros(inputs["residue"].shape[1], dtype=object)
    for m, row in zip(modulus, inputs["residue"], strict=True):
        others = product // m
        total += row.astype(object) * (others * pow(others, -1, m) % product if m > 1 else 0)
    total %= product
    data = b"".join(x.to_bytes(4 * len(modulus), "little") for x in total)
    return {"value": np.frombuffer(data, dtype="<u4").reshape(-1, len(modulus)).copy()}
