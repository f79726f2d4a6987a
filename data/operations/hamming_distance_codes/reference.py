import numpy as np


# Bit counts are integers: exact.
TOLERANCE = {"distance": (0, 0)}


def make_inputs(rng, queries, codes, words):
    base = rng.integers(0, 2**32, (codes, words), dtype=np.uint32)
    query = rng.integers(0, 2**32, (queries, words), dtype=np.uint32)
    near = rng.random(queries) < 0.3
    query[near] = base[rng.integers(0, codes, near.sum())]
    query[near, 0] ^= np.uint32(5)
    return {"query_bits": query, "base_bits": base}


def reference(inputs):
    q, b = inputs["query_bits"], inputs["base_bits"]
    table = np.array([bin(i).count("1") for i in range(65536)], dtype=np.uint8)
    out = np.zeros((len(q), len(b)), dtype=np.int32)
    for w in range(q.shape[1]):
        x = q[:, w, None] ^ b[None, :, w]
        out += table[x >> 16]
        out += table[x & 0xFFFF]
    return {"distance": out}
