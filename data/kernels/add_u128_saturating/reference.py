import numpy as np


TOLERANCE = {"sum": (0, 0), "saturated": (0, 0)}


def make_inputs(rng, n, values="random"):
    a = rng.integers(0, 2**32, (n, 4), dtype=np.uint32)
    b = rng.integers(0, 2**32, (n, 4), dtype=np.uint32)
    # In half of the pairs the middle words add up to all ones, so that a carry runs through them.
    through = rng.random(n) < 0.5
    a[through, 1:3] = ~b[through, 1:3]
    if values == "long carries":
        a = ~b
        a[::2, 0] += np.uint32(1)  # 2^128 exactly, unless the low word of a was all ones
        b[::5] = 0
        a[::5] = 2**32 - 1
    return {"sizes": np.array([n], dtype=np.int32), "a": a, "b": b}


def reference(inputs):
    a, b = inputs["a"].astype(np.uint64), inputs["b"].astype(np.uint64)
    words = np.empty_like(a)
    carry = np.zeros(len(a), dtype=np.uint64)
    for word in range(4):
        total = a[:, word] + b[:, word] + carry
        words[:, word] = total & np.uint64(0xFFFFFFFF)
        carry = total >> np.uint64(32)
    words[carry == 1] = 0xFFFFFFFF
    return {"sum": words.astype(np.uint32), "saturated": np.array([carry.sum()], dtype=np.int32)}
