import numpy as np


TOLERANCE = {"y": (1e-4, 1e-4)}


def make_inputs(rng, mics, samples, beams, values="array"):
    delays = rng.integers(0, 200, (beams, mics))
    if values == "late":  # delays beyond the signal, which leave nothing
        delays = rng.integers(0, 4096, (beams, mics))
        delays[0] = 4095
    return {
        "sizes": np.array([mics, samples, beams], dtype=np.int32),
        "x": rng.normal(0.0, 1.0, (mics, samples)).astype(np.float32),
        "delays": delays.astype(np.int32),
        "gains": rng.uniform(-1.0, 1.0, mics).astype(np.float32),
    }


def reference(inputs):
    x = inputs["x"].astype(np.float64) * inputs["gains"].astype(np.float64)[:, None]
    samples = x.shape[1]
    y = np.zeros((len(inputs["delays"]), samples))
    for b, row in enumerate(inputs["delays"]):
        for signal, delay in zip(x, row, strict=True):
            if delay < samples:
                y[b, delay:] += signal[: samples - delay]
    return {"y": y.astype(np.float32)}
