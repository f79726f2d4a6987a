import numpy as np


# Differences of four float32 values near 3 with one halving: a few 1e-7, absolute after cancellation.
TOLERANCE = {"curl": (1e-5, 1e-5)}


def make_inputs(rng, depth, height, width):
    return {"field": rng.normal(0.0, 1.5, (3, depth, height, width)).astype(np.float32)}


def reference(inputs):
    fx, fy, fz = inputs["field"].astype(np.float64)
    m = slice(1, -1)

    def dx(a):
        return 0.5 * (a[m, m, 2:] - a[m, m, :-2])

    def dy(a):
        return 0.5 * (a[m, 2:, m] - a[m, :-2, m])

    def dz(a):
        return 0.5 * (a[2:, m, m] - a[:-2, m, m])

    out = np.zeros((3, *fx.shape))
    out[0, m, m, m] = dy(fz) - dz(fy)
    out[1, m, m, m] = dz(fx) - dx(fz)
    out[2, m, m, m] = dx(fy) - dy(fx)
    return {"curl": out.astype(np.float32)}
