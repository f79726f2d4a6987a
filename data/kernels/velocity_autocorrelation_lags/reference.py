import numpy as np


TOLERANCE = {"correlation": (1e-9, 1e-9)}


def make_inputs(rng, frames, particles, lags, values="brownian"):
    velocities = np.empty((frames, particles, 3))
    velocities[0] = rng.normal(size=(particles, 3))
    for t in range(1, frames):
        velocities[t] = 0.9 * velocities[t - 1] + 0.4 * rng.normal(size=(particles, 3))
    if values == "ballistic":  # nobody ever changes speed
        velocities[:] = velocities[0]
    return {
        "sizes": np.array([frames, particles, lags], dtype=np.int32),
        "velocities": velocities.astype(np.float32),
    }


def reference(inputs):
    frames, particles, lags = (int(size) for size in inputs["sizes"])
    v = inputs["velocities"].astype(np.float64).reshape(frames, -1)
    sums = [np.vdot(v[: frames - lag], v[lag:]) / ((frames - lag) * particles) for lag in range(lags)]
    return {"correlation": np.array(sums)}
