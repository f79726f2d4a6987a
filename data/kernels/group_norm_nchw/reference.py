import numpy as np


TOLERANCE = {"y": (1e-4, 1e-4)}


def make_inputs(rng, batch, groups, width, plane, values="normal"):
    channels = groups * width
    # Every group has a mean and a spread of its own, so statistics of a whole image are wrong.
    shift = np.repeat(rng.uniform(-6.0, 6.0, (batch, groups)), width, axis=1)[:, :, None]
    spread = np.repeat(rng.uniform(0.5, 3.0, (batch, groups)), width, axis=1)[:, :, None]
    x = rng.normal(0.0, 1.0, (batch, channels, plane)) * spread + shift
    if values == "constant_groups":  # no variance: only beta is left; the values are exact in float
        x[:, ::3] = rng.integers(-20, 21, x[:, ::3, :1].shape)
    return {
        "sizes": np.array([batch, groups, width, plane], dtype=np.int32),
        "x": x.astype(np.float32),
        "gamma": rng.uniform(-2.0, 2.0, channels).astype(np.float32),
        "beta": rng.normal(0.0, 1.0, channels).astype(np.float32),
    }


def reference(inputs):
    batch, groups, width, plane = map(int, inputs["sizes"])
    x = inputs["x"].astype(np.float64).reshape(batch, groups, width * plane)
    centred = x - x.mean(axis=2, keepdims=True)
    variance = np.square(centred).mean(axis=2, keepdims=True)
    normal = (centred / np.sqrt(variance + 1e-5)).reshape(batch, groups * width, plane)
    y = normal * inputs["gamma"].astype(np.float64)[:, None] + inputs["beta"].astype(np.float64)[:, None]
    return {"y": y.astype(np.float32)}
