import numpy as np


# Float32 dot products of up to 64 terms of unit size, scaled by a value of unit size.
TOLERANCE = {"product": (1e-4, 1e-4)}


def make_inputs(rng, rows, cols, rank, entries):
    return {
        "left": rng.normal(0, 1, (rows, rank)).astype(np.float32),
        "right": rng.normal(0, 1, (cols, rank)).astype(np.float32),
        "row": np.sort(rng.integers(0, rows, entries)).astype(np.int32),
        "col": rng.integers(0, cols, entries).astype(np.int32),
        "value": rng.normal(0, 1, entries).astype(np.float32),
    }


def reference(inputs):
    dots = np.zeros(len(inputs["row"]))
    for j in range(inputs["left"].shape[1]):
        dots += inputs["left"][inputs["row"], j].astype(np.float64) * inputs["right"][inputs["col"], j]
    return {"product": (inputs["value"] * dots).astype(np.float32)}
