import numpy as np


# Integer arithmetic: exact.
TOLERANCE = {"crc": (0, 0), "intact": (0, 0)}


def checksums(frames):
    table = np.arange(256)
    for _ in range(8):
        table = np.where(table & 128, (table << 1) ^ 0x107, table << 1)
    c = np.zeros(len(frames), dtype=np.int64)
    for i in range(frames.shape[1]):
        c = table[c ^ frames[:, i]]
    return c.astype(np.uint8)


def make_inputs(rng, count, width):
    frames = rng.integers(0, 256, (count, width)).astype(np.uint8)
    stored = checksums(frames)
    damaged = rng.random(count) < 0.35
    stored[damaged] ^= (1 << rng.integers(0, 8, damaged.sum())).astype(np.uint8)
    return {"frames": frames, "stored": stored}


def reference(inputs):
    c = checksums(inputs["frames"])
    return {"crc": c, "intact": (c == inputs["stored"]).astype(np.uint8)}
