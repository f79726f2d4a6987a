import numpy as np


TOLERANCE = {"power": (1e-7, 1e-9)}


def make_inputs(rng, n, frequencies, values="uneven"):
    time = np.sort(rng.uniform(0.0, 100.0, n))
    if values == "gaps":  # observations in short nights, far from time 0
        time = 5000.0 + 10.0 * rng.integers(0, 8, n) + rng.uniform(0.0, 1.5, n)
    y = np.sin(2.3 * time + 0.4) + 0.5 * np.cos(0.7 * time) + rng.normal(0.0, 0.5, n)
    return {
        "sizes": np.array([n, frequencies], dtype=np.int32),
        "time": time,
        "y": y - y.mean(),
        "omega": rng.uniform(0.1, 8.0, frequencies),
    }


def reference(inputs):
    time, y = inputs["time"], inputs["y"]
    power = np.empty(len(inputs["omega"]))
    for k, omega in enumerate(inputs["omega"]):
        phase = omega * time
        offset = 0.5 * np.arctan2(np.sin(2.0 * phase).sum(), np.cos(2.0 * phase).sum())
        cosine, sine = np.cos(phase - offset), np.sin(phase - offset)
        power[k] = 0.5 * ((y @ cosine) ** 2 / (cosine @ cosine) + (y @ sine) ** 2 / (sine @ sine))
    return {"power": power}
