import numpy as np


TOLERANCE = {"cipher": (0, 0)}


def make_inputs(rng, blocks, values="random"):
    key, nonce = rng.integers(0, 2**32, 8, dtype=np.uint32), rng.integers(0, 2**32, 3, dtype=np.uint32)
    text = rng.integers(0, 2**32, (blocks, 16), dtype=np.uint32)
    counter = np.array([1], dtype=np.uint32)
    if (
        values == "wrap"
    ):  # the counter passes 2^32 - 1 on the way; an empty key, and a text of zeros shows the stream itself
        counter[:], key[:], text[:] = 2**32 - 2000, 0, 0
    return {
        "sizes": np.array([blocks], dtype=np.int32),
        "key": key,
        "nonce": nonce,
        "counter": counter,
        "text": text,
    }


def quarter(x, a, b, c, d):
    for left, right, target, bits in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        x[left] += x[right]
        x[target] ^= x[left]
        x[target] = x[target] << np.uint32(bits) | x[target] >> np.uint32(32 - bits)


def reference(inputs):
    blocks = len(inputs["text"])
    words = np.concatenate([np.frombuffer(b"expand 32-byte k", dtype="<u4"), inputs["key"], [0], inputs["nonce"]])
    start = np.repeat(words.astype(np.uint32)[:, None], blocks, axis=1)
    start[12] = inputs["counter"] + np.arange(blocks, dtype=np.uint32)
    x = start.copy()
    for _ in range(10):
        for i in range(4):
            quarter(x, i, 4 + i, 8 + i, 12 + i)
        for i in range(4):
            quarter(x, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    return {"cipher": inputs["text"] ^ (x + start).T}
