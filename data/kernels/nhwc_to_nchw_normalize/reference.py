import numpy as np


TOLERANCE = {"planes": (1e-5, 1e-5)}


def make_inputs(rng):
    return {
        "images": rng.integers(0, 256, (4, 123, 157, 3), dtype=np.uint8),
        "mean": rng.uniform(0.3, 0.6, 3).astype(np.float32),
        "std": rng.uniform(0.15, 0.3, 3).astype(np.float32),
    }


def reference(inputs):
    scaled = (inputs["images"] / 255.0 - inputs["mean"].astype(np.float64)) / inputs["std"].astype(np.float64)
    return {"planes": np.ascontiguousarray(scaled.transpose(0, 3, 1, 2)).astype(np.float32)}
