import numpy as np


# The variance is kept well above the rounding of its two terms; then some float32 roundings a value.
TOLERANCE = {
    "weight_out": (1e-5, 1e-5),
    "square_avg_out": (1e-5, 1e-8),
    "grad_avg_out": (1e-5, 1e-7),
    "velocity_out": (2e-4, 1e-4),
}


def make_inputs(rng, n):
    scale = rng.choice([0.05, 1.0, 5.0], n)
    mean = 0.5 * scale * rng.standard_normal(n)
    out = {
        "weight": rng.standard_normal(n),
        "grad": mean + scale * rng.standard_normal(n),
        "square_avg": mean**2 + scale**2 * rng.uniform(0.3, 2.0, n),
        "grad_avg": mean,
        "velocity": rng.normal(0.0, 3.0, n),
    }
    return {k: v.astype(np.float32) for k, v in out.items()}


def reference(inputs):
    w, g, s, a, v = (inputs[k].astype(np.float64) for k in ("weight", "grad", "square_avg", "grad_avg", "velocity"))
    s = 0.99 * s + 0.01 * g * g
    a = 0.99 * a + 0.01 * g
    v = 0.9 * v + g / (np.sqrt(np.maximum(s - a * a, 0.0)) + 1e-3)
    out = {"weight_out": w - 0.01 * v, "square_avg_out": s, "grad_avg_out": a, "velocity_out": v}
    return {k: x.astype(np.float32) for k, x in out.items()}
