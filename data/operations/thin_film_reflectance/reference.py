import numpy as np


# The phase reaches 40 and is rounded to 4e-6; the numerator may cancel nearly to zero for matched films.
TOLERANCE = {"reflectance": (1e-4, 2e-6)}


def make_inputs(rng, films, waves):
    return {
        "thickness": rng.uniform(20.0, 600.0, films).astype(np.float32),
        "index_film": rng.uniform(1.2, 2.6, films).astype(np.float32),
        "wavelength": np.sort(rng.uniform(380.0, 780.0, waves)).astype(np.float32),
    }


def reference(inputs):
    d, n = (inputs[k].astype(np.float64)[:, None] for k in ("thickness", "index_film"))
    a, b = (1.0 - n) / (1.0 + n), (n - 1.52) / (n + 1.52)
    mix = 2.0 * a * b * np.cos(4.0 * np.pi * n * d / inputs["wavelength"].astype(np.float64)[None])
    return {"reflectance": ((a * a + b * b + mix) / (1.0 + a * a * b * b + mix)).astype(np.float32)}
