import numpy as np


# Integer arithmetic on bit patterns: exact.
TOLERANCE = {"ulps": (0, 0)}


def make_inputs(rng, n):
    a = rng.normal(0.0, 1.0, n).astype(np.float32)
    near = (a.view(np.int32) + rng.integers(-40, 41, n)).astype(np.int32).view(np.float32)
    b = np.where(
        rng.random(n) < 0.6, near, (rng.normal(0.0, 1.0, n) * np.exp2(rng.uniform(-40, 40, n))).astype(np.float32)
    )
    tiny = rng.random(n) < 0.05
    a[tiny] = (rng.integers(0, 50, n).astype(np.int32).view(np.float32) * rng.choice(np.float32([-1, 1]), n))[tiny]
    b[tiny] = (rng.integers(0, 50, n).astype(np.int32).view(np.float32) * rng.choice(np.float32([-1, 1]), n))[tiny]
    return {"a": a, "b": b.astype(np.float32)}


def reference(inputs):
    def key(v):
        u = v.view(np.uint32).astype(np.int64)
        return np.where(u >> 31 == 1, -(u & 0x7FFFFFFF), u)

    return {"ulps": np.abs(key(inputs["a"]) - key(inputs["b"]))}
