import numpy as np


# Both sides do the same float32 operations (multiplying by 0.5 is exact, so fused or not does not matter): exact,
# but for the potential a rounding is allowed.
TOLERANCE = {"spikes": (0, 0), "count": (0, 0), "potential": (0, 1e-6)}


def make_inputs(rng, steps, neurons):
    current = rng.integers(-40, 161, (steps, neurons)) / 64.0
    return {
        "current": current.astype(np.float32),
        "threshold": (rng.integers(32, 160, neurons) / 64.0).astype(np.float32),
    }


def reference(inputs):
    current, threshold = inputs["current"], inputs["threshold"]
    v = np.zeros(current.shape[1], dtype=np.float32)
    spikes = np.zeros(current.shape, dtype=np.uint8)
    for t in range(len(current)):
        v = np.float32(0.5) * v + current[t]
        fire = v >= threshold
        spikes[t] = fire
        v = np.where(fire, v - threshold, v)
    return {"spikes": spikes, "count": spikes.sum(axis=0, dtype=np.int32), "potential": v}
