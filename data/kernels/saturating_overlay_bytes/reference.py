import numpy as np


TOLERANCE = {"blended": (0, 0)}


def make_inputs(rng, height, width, strength):
    base = rng.integers(0, 256, (height, width), dtype=np.uint8)
    overlay = rng.integers(0, 256, (height, width), dtype=np.uint8)
    overlay[rng.random((height, width)) < 0.1] = 255
    return {
        "sizes": np.array([height, width], dtype=np.int32),
        "strength": np.array([strength], dtype=np.int32),
        "base": base,
        "overlay": overlay,
    }


def reference(inputs):
    added = (inputs["overlay"].astype(np.int32) * inputs["strength"][0] + 128) >> 8
    return {"blended": np.minimum(inputs["base"] + added, 255).astype(np.uint8)}
