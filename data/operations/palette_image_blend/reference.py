import numpy as np


# A blend of two values in 0..1 in float32.
TOLERANCE = {"rgb": (1e-5, 1e-6)}


def make_inputs(rng, frames, height, width):
    codes = rng.integers(0, 256, (frames, height, width))
    codes[rng.random(codes.shape) < 0.15] = 0
    palette = rng.random((frames, 256, 4))
    palette[:, 200:, 3] = 1.0
    return {
        "codes": codes.astype(np.uint8),
        "palette": palette.astype(np.float32),
        "background": rng.random((3, height, width)).astype(np.float32),
    }


def reference(inputs):
    codes, back = inputs["codes"], inputs["background"].astype(np.float64)
    out = np.empty((len(codes), *back.shape), np.float32)
    for f, frame in enumerate(codes):
        color = inputs["palette"][f].astype(np.float64)[frame].transpose(2, 0, 1)
        a = np.where(frame == 0, 0.0, color[3])
        out[f] = a * color[:3] + (1 - a) * back
    return {"rgb": out}
