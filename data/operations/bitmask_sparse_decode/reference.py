import numpy as np


# Values are copied: exact.
TOLERANCE = {"dense": (0, 0)}


def make_inputs(rng, rows, words, total):
    bits = np.zeros(rows * words * 32, np.uint8)
    bits[rng.permutation(bits.size)[:total]] = 1
    bits = bits.reshape(rows, words * 32)
    mask = np.packbits(bits, axis=1, bitorder="little").view("<u4").astype(np.uint32)
    offsets = np.concatenate(([0], np.cumsum(bits.sum(axis=1, dtype=np.int64))))
    return {"mask": mask, "offsets": offsets.astype(np.int32), "packed": rng.normal(1, 2, total).astype(np.float32)}


def reference(inputs):
    mask = np.ascontiguousarray(inputs["mask"])
    bits = np.unpackbits(mask.view(np.uint8), axis=1, bitorder="little").astype(bool)
    dense = np.zeros(bits.shape, np.float32)
    dense[bits] = inputs["packed"]
    return {"dense": dense}
