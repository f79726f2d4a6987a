import numpy as np


# Bits are set or not: exact.
TOLERANCE = {"filter": (0, 0), "found": (0, 0)}


def positions(x, bits):
    h = x ^ (x >> np.uint32(16))
    h = h * np.uint32(0x85EBCA6B)
    h ^= h >> np.uint32(13)
    h = h * np.uint32(0xC2B2AE35)
    h ^= h >> np.uint32(16)
    g = (x * np.uint32(0x9E3779B1)) | np.uint32(1)
    return [(h + np.uint32(j) * g) % np.uint32(bits) for j in range(4)]


def make_inputs(rng, keys, queries, words):
    members = rng.integers(0, 2**32, keys, dtype=np.uint32)
    probes = rng.integers(0, 2**32, queries, dtype=np.uint32)
    known = rng.random(queries) < 0.4
    probes[known] = members[rng.integers(0, keys, known.sum())]
    before = np.where(rng.random(words) < 0.3, 1 << rng.integers(0, 32, words), 0).astype(np.uint32)
    return {"before": before, "members": members, "probes": probes}


def reference(inputs):
    words = len(inputs["before"])
    bits = np.unpackbits(inputs["before"].view(np.uint8), bitorder="little").astype(bool)
    for p in positions(inputs["members"], words * 32):
        bits[p] = True
    found = np.ones(len(inputs["probes"]), dtype=bool)
    for p in positions(inputs["probes"], words * 32):
        found &= bits[p]
    packed = np.packbits(bits.reshape(words, 32), axis=1, bitorder="little").view("<u4")[:, 0]
    return {"filter": packed.astype(np.uint32), "found": found.astype(np.uint8)}
