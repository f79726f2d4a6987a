import numpy as np


# Bits are exact.
TOLERANCE = {"checksum": (0, 0)}


def make_inputs(rng, n, segments):
    cuts = np.sort(rng.integers(0, n + 1, segments - 1))
    cuts[rng.random(segments - 1) < 0.1] = 0
    offsets = np.concatenate([[0], np.sort(cuts), [n]]).astype(np.int32)
    return {"words": rng.integers(0, 2**32, n, dtype=np.uint32), "offsets": offsets}


def reference(inputs):
    words, offsets = inputs["words"], inputs["offsets"]
    length = np.diff(offsets)
    turn = ((np.arange(len(words)) - np.repeat(offsets[:-1], length)) % 32).astype(np.uint32)
    turned = (words << turn) | (words >> ((32 - turn) % 32).astype(np.uint32))
    turned = np.where(turn == 0, words, turned).astype(np.uint32)
    prefix = np.concatenate([np.zeros(1, np.uint32), np.bitwise_xor.accumulate(turned)])
    return {"checksum": (prefix[offsets[1:]] ^ prefix[offsets[:-1]]).astype(np.uint32)}
