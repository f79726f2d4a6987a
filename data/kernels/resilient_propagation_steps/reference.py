import numpy as np


TOLERANCE = {"final_weights": (1e-5, 1e-4), "final_step_size": (1e-5, 1e-9)}


def make_inputs(rng, weights, steps, pattern="noisy"):
    drift = rng.normal(0.0, 1.0, weights)
    gradients = drift + rng.normal(0.0, 1.0, (steps, weights))
    gradients[rng.random((steps, weights)) < 0.05] = 0.0
    if pattern == "limits":  # always the same sign, always changing, and products that underflow
        gradients[:, ::3] = 1e-30
        gradients[:, 1::3] = 1e-30 * (-1.0) ** np.arange(steps)[:, None]
    return {
        "sizes": np.array([weights, steps], dtype=np.int32),
        "start": rng.normal(0.0, 1.0, weights).astype(np.float32),
        "step_size": (2.0 ** rng.integers(-8, -2, weights)).astype(np.float32),
        "gradients": gradients.astype(np.float32),
    }


def reference(inputs):
    w, d = inputs["start"].astype(np.float64), inputs["step_size"].astype(np.float64)
    before = np.zeros(w.size)
    for gradient in inputs["gradients"]:
        now = np.sign(gradient)
        same = now * before
        d = np.where(same > 0, np.minimum(1.25 * d, 4.0), np.where(same < 0, np.maximum(0.5 * d, 2.0**-20), d))
        now = np.where(same < 0, 0.0, now)
        w -= now * d
        before = now
    return {"final_weights": w.astype(np.float32), "final_step_size": d.astype(np.float32)}
