import numpy as np


TOLERANCE = {"y": (0, 0)}


def make_inputs(rng, channels, frames, n, values="noise"):
    x = rng.integers(-32768, 32768, (channels, frames, n))
    if values == "functions":  # single Walsh functions at full scale, whose transforms have one peak
        k = rng.integers(0, n, (channels, frames, 1))
        parity = sum((k & np.arange(n)) >> bit & 1 for bit in range(12)) % 2
        x = np.where(parity == 1, -32768, 32767)
    return {"sizes": np.array([channels, frames, n], dtype=np.int32), "x": x.astype(np.int16)}


def reference(inputs):
    y = inputs["x"].astype(np.int64)
    shape, step = y.shape, 1
    while step < shape[2]:
        pairs = y.reshape(*shape[:2], -1, 2, step)
        y = np.stack([pairs[..., 0, :] + pairs[..., 1, :], pairs[..., 0, :] - pairs[..., 1, :]], axis=3)
        y = y.reshape(shape)
        step *= 2
    return {"y": y.astype(np.int32)}
