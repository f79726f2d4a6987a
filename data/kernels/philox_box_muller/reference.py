import numpy as np


TOLERANCE = {"bits": (0, 0), "normals": (1e-4, 1e-5)}


def philox4x32(counters, key):
    """Philox4x32-10 of counters [n, 4] with one key, in 64-bit arithmetic."""
    mask, shift = np.uint64(0xFFFFFFFF), np.uint64(32)
    c0, c1, c2, c3 = counters.astype(np.uint64).T
    k0, k1 = (int(word) for word in key)
    for _ in range(10):
        product0 = np.uint64(0xD2511F53) * c0
        product1 = np.uint64(0xCD9E8D57) * c2
        c0, c1, c2, c3 = (
            (product1 >> shift) ^ c1 ^ np.uint64(k0),
            product1 & mask,
            (product0 >> shift) ^ c3 ^ np.uint64(k1),
            product0 & mask,
        )
        k0, k1 = (k0 + 0x9E3779B9) % 2**32, (k1 + 0xBB67AE85) % 2**32
    return np.stack([c0, c1, c2, c3], axis=1).astype(np.uint32)


def make_inputs(rng, n, key="random"):
    words = rng.integers(0, 2**32, 2, dtype=np.uint32)
    return {"sizes": np.array([n], dtype=np.int32), "key": np.zeros_like(words) if key == "zero" else words}


def reference(inputs):
    n = int(inputs["sizes"][0])
    counters = np.zeros((n, 4), dtype=np.uint32)
    counters[:, 0] = np.arange(n)
    bits = philox4x32(counters, inputs["key"])
    u = ((bits[:, 0::2] >> np.uint32(8)).astype(np.float64) + 1.0) / 2**24
    angle = 2.0 * np.pi * (bits[:, 1::2] >> np.uint32(8)).astype(np.float64) / 2**24
    rho = np.sqrt(-2.0 * np.log(u))
    normals = np.stack([rho * np.cos(angle), rho * np.sin(angle)], axis=2).reshape(n, 4)
    return {"bits": bits, "normals": normals.astype(np.float32)}
