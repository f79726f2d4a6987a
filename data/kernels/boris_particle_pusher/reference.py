import numpy as np


TOLERANCE = {"final_state": (2e-3, 2e-3), "energy": (2e-3, 1e-4)}


def make_inputs(rng, particles, steps, values="both"):
    state = np.concatenate([rng.uniform(-2, 2, (particles, 3)), rng.normal(0, 0.7, (particles, 3))], axis=1)
    # ex, ey, ez, bx, by, bz at the origin, growth of bz along x, time step
    fields = np.array([0.05, -0.02, 0.03, 0.1, -0.2, 1.0, 0.05, 0.02])
    if values == "magnetic":  # speeds must not change
        fields = np.array([0.0, 0.0, 0.0, 0.3, 0.0, 1.0, 0.0, 0.01])
    return {
        "sizes": np.array([particles, steps], dtype=np.int32),
        "state": state.astype(np.float32),
        "ratio": rng.choice([-1.0, 0.5, 1.0, 2.0], particles).astype(np.float32),
        "fields": fields.astype(np.float32),
    }


def reference(inputs):
    state = inputs["state"].astype(np.float64)
    x, v = state[:, :3].copy(), state[:, 3:].copy()
    fields = inputs["fields"].astype(np.float64)
    half = 0.5 * fields[7] * inputs["ratio"].astype(np.float64)[:, None]
    for _ in range(inputs["sizes"][1]):
        v += half * fields[:3]
        b = np.tile(fields[3:6], (len(x), 1))
        b[:, 2] += fields[6] * x[:, 0]
        t = half * b
        s = 2.0 * t / (1.0 + (t**2).sum(axis=1, keepdims=True))
        turned = v + np.cross(v, t)
        v += np.cross(turned, s)
        v += half * fields[:3]
        x += fields[7] * v
    energy = 0.5 * (v**2).sum(axis=1)
    return {"final_state": np.concatenate([x, v], axis=1).astype(np.float32), "energy": energy.astype(np.float32)}
