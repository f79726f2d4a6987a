import numpy as np


# The phase is exact, its fraction of 22 bits fits float32; three roundings of values below about 3.
TOLERANCE = {"sound": (1e-5, 1e-6)}


def make_inputs(rng, voices, samples):
    k = np.arange(1024)
    table = np.sin(2 * np.pi * k / 1024) + 0.4 * np.sin(6 * np.pi * k / 1024 + 1) + rng.normal(0, 0.05, 1024)
    return {
        "table": table.astype(np.float32),
        "start": rng.integers(0, 2**32, voices, dtype=np.uint32),
        "step": rng.integers(1 << 16, 1 << 29, voices).astype(np.uint32),
        "volume": rng.uniform(0.1, 1.5, voices).astype(np.float32),
        "ticks": np.cumsum(rng.integers(0, 3, samples)).astype(np.uint32),
    }


def reference(inputs):
    phase = inputs["start"][:, None] + inputs["ticks"][None, :] * inputs["step"][:, None]
    table = inputs["table"].astype(np.float64)
    i = (phase >> np.uint32(22)).astype(np.int64)
    q = (phase & np.uint32(0x3FFFFF)) / 2.0**22
    y = table[i] + q * (np.roll(table, -1) - table)[i]
    return {"sound": (inputs["volume"].astype(np.float64)[:, None] * y).astype(np.float32)}
