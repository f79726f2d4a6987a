import numpy as np


TOLERANCE = {"kept": (0, 0), "kept_count": (0, 0)}


def make_inputs(rng, n, values="normal"):
    samples = rng.normal(0.0, 1.0, n).astype(np.float32)
    if values == "runs":  # whole blocks of kept and of dropped samples, by the smallest difference
        edge = np.float32(0.25)
        near = np.array([np.nextafter(edge, np.float32(0)), edge, np.nextafter(edge, np.float32(1))])
        samples = np.where(np.arange(n) // 777 % 2 == 0, near[2], rng.choice(near[:2], n)).astype(np.float32)
    samples[::97] = 0.25  # not strictly greater: dropped
    return {"sizes": np.array([n], dtype=np.int32), "samples": samples}


def reference(inputs):
    samples = inputs["samples"]
    chosen = samples[samples > np.float32(0.25)]
    kept = np.zeros_like(samples)
    kept[: chosen.size] = chosen
    return {"kept": kept, "kept_count": np.array([chosen.size], dtype=np.int32)}
