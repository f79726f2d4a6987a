import numpy as np


# Bit manipulation and an exact difference: exact.
TOLERANCE = {"rounded": (0, 0), "error": (0, 0)}


def make_inputs(rng, rows, cols):
    x = (rng.normal(0.0, 1.0, (rows, cols)) * np.exp2(rng.integers(-20, 20, (rows, cols)))).astype(np.float32)
    u = x.view(np.uint32)
    tie = rng.random((rows, cols)) < 0.1
    u[tie] = (u[tie] & np.uint32(0xFFFFE000)) | np.uint32(0x1000)
    full = rng.random((rows, cols)) < 0.05
    u[full] |= np.uint32(0x007FF000)
    x[rng.random((rows, cols)) < 0.01] = 0.0
    return {"x": x}


def reference(inputs):
    u = inputs["x"].view(np.uint32)
    u = (u + np.uint32(0xFFF) + ((u >> np.uint32(13)) & np.uint32(1))) & np.uint32(0xFFFFE000)
    rounded = u.view(np.float32)
    return {"rounded": rounded, "error": inputs["x"] - rounded}
