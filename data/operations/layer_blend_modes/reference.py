import numpy as np


# A few float32 operations on values up to 1; overlay is continuous at 0.5.
TOLERANCE = {"blended": (1e-5, 1e-6)}


def make_inputs(rng, layers, pixels):
    def u():
        return rng.random((layers, pixels), dtype=np.float32)

    mode = rng.permutation(np.arange(layers) % 7)
    return {
        "base": u(),
        "top": u(),
        "mode": mode.astype(np.int32),
        "opacity": rng.uniform(0.3, 1.0, layers).astype(np.float32),
    }


MODES = (
    lambda b, t: b * t,
    lambda b, t: 1 - (1 - b) * (1 - t),
    lambda b, t: np.where(b < 0.5, 2 * b * t, 1 - 2 * (1 - b) * (1 - t)),
    lambda b, t: np.minimum(b, t),
    lambda b, t: np.maximum(b, t),
    lambda b, t: np.abs(b - t),
    lambda b, t: (1 - 2 * t) * b * b + 2 * t * b,
)


def reference(inputs):
    out = np.empty(inputs["base"].shape, np.float32)
    for k, mode in enumerate(inputs["mode"]):
        base, top = inputs["base"][k].astype(np.float64), inputs["top"][k].astype(np.float64)
        out[k] = base + float(inputs["opacity"][k]) * (MODES[mode](base, top) - base)
    return {"blended": out}
