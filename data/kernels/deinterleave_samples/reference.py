import numpy as np


TOLERANCE = {"planes": (0, 0)}


def make_inputs(rng, frames, channels, values="normal"):
    if values == "extremes":
        samples = rng.choice([-32768, -32767, -1, 0, 1, 32767], (frames, channels))
    else:
        samples = rng.integers(-32768, 32768, (frames, channels))
    return {"sizes": np.array([frames, channels], dtype=np.int32), "samples": samples.astype(np.int16)}


def reference(inputs):
    return {"planes": np.ascontiguousarray(inputs["samples"].T) / np.float32(32768.0)}
