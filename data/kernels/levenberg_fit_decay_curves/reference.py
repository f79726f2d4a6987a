import numpy as np


TOLERANCE = {"fitted": (1e-6, 1e-8), "residual": (1e-6, 1e-8)}


def make_inputs(rng, curves, points, pattern="noisy"):
    time = np.linspace(0.0, 4.0, points) + rng.uniform(0.0, 0.005, points)
    truth = np.stack([rng.uniform(2.0, 6.0, curves), rng.uniform(0.6, 1.6, curves), rng.uniform(-1.0, 1.0, curves)])
    a, b, c = truth[:, :, None]
    noise = 0.05 if pattern == "noisy" else 0.0005
    observed = a * np.exp(-b * time) + c + rng.normal(0.0, noise, (curves, points))
    start = truth.T * rng.uniform(0.85, 1.15, (curves, 3))
    return {
        "sizes": np.array([curves, points], dtype=np.int32),
        "time": time,
        "observed": observed,
        "start": start,
    }


def reference(inputs):
    time, observed = inputs["time"], inputs["observed"]
    fitted = inputs["start"].copy()
    for _ in range(8):
        a, b, c = fitted.T[:, :, None]
        decay = np.exp(-b * time)
        jacobian = np.stack([decay, -a * time * decay, np.ones_like(decay)], axis=1)
        system = jacobian @ jacobian.transpose(0, 2, 1)
        system += 0.001 * system * np.eye(3)
        gradient = jacobian @ (observed - a * decay - c)[:, :, None]
        fitted += np.linalg.solve(system, gradient)[:, :, 0]
    a, b, c = fitted.T[:, :, None]
    return {"fitted": fitted, "residual": ((observed - a * np.exp(-b * time) - c) ** 2).sum(axis=1)}
