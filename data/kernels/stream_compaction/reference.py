import numpy as np


TOLERANCE = {"kept": (0, 0), "kept_count": (0, 0)}


def make_inputs(rng):
    samples = rng.normal(0.0, 1.0, 700001).astype(np.float32)
    samples[::97] = 0.25  # not strictly greater: dropped
    return {"samples": samples}


def reference(inputs):
    samples = inputs["samples"]
    chosen = samples[samples > np.float32(0.25)]
    kept = np.zeros_like(samples)
    kept[: chosen.size] = chosen
    return {"kept": kept, "kept_count": np.array([chosen.size], dtype=np.int32)}
