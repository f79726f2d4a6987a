import numpy as np


TOLERANCE = {"rounded": (0, 0)}


def make_inputs(rng, n, values="normal"):
    x = rng.normal(0.0, 10.0, n).astype(np.float32)
    if values == "edges":  # exact bfloat16 values never move; others sit one bit away, or at the ends of the range
        bits = rng.integers(0, 0x7F80, n).astype(np.uint32) << np.uint32(16)
        bits[1::4] |= np.uint32(1)
        bits[2::4] |= np.uint32(0xFFFF)
        bits[3::8] = 0x7F7FFFFF
        bits[rng.random(n) < 0.5] |= np.uint32(0x80000000)
        x = bits.view(np.float32)
    return {
        "sizes": np.array([n], dtype=np.int32),
        "seed": rng.integers(0, 2**32, 1, dtype=np.uint32),
        "x": x,
    }


def reference(inputs):
    h = np.arange(inputs["x"].size, dtype=np.uint32) * np.uint32(0x9E3779B9) + inputs["seed"][0]
    h = (h ^ (h >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    h = (h ^ (h >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    h = h ^ (h >> np.uint32(16))
    # A finite pattern plus 16 bits never leaves the 31 bits below the sign.
    return {"rounded": ((inputs["x"].view(np.uint32) + (h & np.uint32(0xFFFF))) >> np.uint32(16)).astype(np.uint16)}
