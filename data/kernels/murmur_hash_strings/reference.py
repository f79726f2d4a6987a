import itertools

import numpy as np


TOLERANCE = {"hashes": (0, 0), "occupancy": (0, 0)}
MASK = 0xFFFFFFFF


def make_inputs(rng, strings, bytes, buckets, values="any"):
    inner = np.sort(rng.integers(0, bytes + 1, strings - 1))
    if values == "tails":
        inner = np.minimum(np.cumsum(np.arange(strings - 1) % 4), bytes)
    return {
        "sizes": np.array([strings, bytes, buckets], dtype=np.int32),
        "offsets": np.concatenate([[0], inner, [bytes]]).astype(np.int32),
        "text": rng.integers(0, 256, bytes, dtype=np.uint8),
        "seed": rng.integers(0, 2**32, 1, dtype=np.uint32),
    }


def scramble(k):
    k = k * 0xCC9E2D51 & MASK
    k = (k << 15 | k >> 17) & MASK
    return k * 0x1B873593 & MASK


def murmur(data, h):
    whole = len(data) // 4 * 4
    for at in range(0, whole, 4):
        h ^= scramble(int.from_bytes(data[at : at + 4], "little"))
        h = (h << 13 | h >> 19) & MASK
        h = (h * 5 + 0xE6546B64) & MASK
    h ^= scramble(int.from_bytes(data[whole:], "little"))
    h ^= len(data)
    h = (h ^ h >> 16) * 0x85EBCA6B & MASK
    h = (h ^ h >> 13) * 0xC2B2AE35 & MASK
    return h ^ h >> 16


def reference(inputs):
    text, offsets, seed = inputs["text"].tobytes(), inputs["offsets"].tolist(), int(inputs["seed"][0])
    spans = itertools.pairwise(offsets)
    hashes = np.array([murmur(text[begin:end], seed) for begin, end in spans], dtype=np.uint32)
    buckets = int(inputs["sizes"][2])
    return {
        "hashes": hashes,
        "occupancy": np.bincount(hashes % np.uint32(buckets), minlength=buckets).astype(np.int32),
    }
