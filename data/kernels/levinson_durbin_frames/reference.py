import numpy as np


TOLERANCE = {"a": (1e-8, 1e-9), "error": (1e-8, 1e-12)}


def make_inputs(rng, order, frames, values="speech"):
    # Autocorrelations of random spectra, with a noise floor that keeps the equations well conditioned.
    omega = np.linspace(0.0, np.pi, 64)
    peak = rng.uniform(0.1, 3.0, (2, frames, 1))
    spectrum = sum(1.0 / (0.05 + (omega - p) ** 2) for p in peak) + 0.5
    if values == "white":  # no prediction is possible: all coefficients vanish in half of the frames
        spectrum[::2] = 1.0
    lags = np.arange(order + 1)[:, None]
    r = np.cos(lags * omega) @ spectrum.T * rng.uniform(0.01, 10.0, frames)
    if values == "white":
        r[1:, ::2] = 0.0
    return {"sizes": np.array([order, frames], dtype=np.int32), "r": np.ascontiguousarray(r)}


def reference(inputs):
    r = inputs["r"]
    order = len(r) - 1
    lags = np.abs(np.arange(order)[:, None] - np.arange(order))
    matrix = np.moveaxis(r[lags], 2, 0)
    a = np.linalg.solve(matrix, r[1:].T[..., None])[..., 0].T
    return {"a": np.ascontiguousarray(a), "error": r[0] - (a * r[1:]).sum(axis=0)}
