import numpy as np


TOLERANCE = {"q": (0, 0)}


def make_inputs(rng, rows, quads, values="normal"):
    scale = rng.uniform(0.002, 0.05, rows)
    x = rng.normal(0.0, 1.5, (rows, 4 * quads))
    if values == "ties":  # halves everywhere, and quotients far beyond the range of int32
        scale = 2.0 ** rng.integers(-6, 3, rows)
        x = rng.integers(-300, 301, (rows, 4 * quads)) * 0.5 * scale[:, None]
        x[::9] *= 1.0e20
    return {
        "sizes": np.array([rows, quads], dtype=np.int32),
        "x": x.astype(np.float32),
        "scale": scale.astype(np.float32),
        "zero_point": rng.integers(-128, 128, rows).astype(np.int8),
    }


def reference(inputs):
    # In float32, as the program computes it: the quotient decides which way a value near a half goes.
    steps = np.rint(inputs["x"] / inputs["scale"][:, None]) + inputs["zero_point"][:, None].astype(np.float32)
    return {"q": np.clip(steps, -128, 127).astype(np.int8)}
