import numpy as np


TOLERANCE = {"spectrum": (1e-5, 1e-9)}


def make_inputs(rng, lines, points, values="dense"):
    first, step = 2000.0, 0.01
    span = points * step
    centers = rng.uniform(first - 2.0, first + span + 2.0, lines)
    if values == "gap":  # nothing in the middle; some lines exactly on grid points
        centers = np.where(rng.random(lines) < 0.5, first + 0.02 * np.arange(lines), first + span - 0.5)
    return {
        "sizes": np.array([lines, points], dtype=np.int32),
        "centers": np.sort(centers),
        "strengths": rng.lognormal(0.0, 2.0, lines).astype(np.float32),
        "widths": rng.uniform(0.01, 0.1, lines).astype(np.float32),
        "grid": np.array([first, step, 1.2345]),
    }


def reference(inputs):
    centers, strengths, widths = (inputs[key].astype(np.float64) for key in ("centers", "strengths", "widths"))
    first, step, cutoff = inputs["grid"]
    x = first + step * np.arange(inputs["sizes"][1])
    spectrum = np.zeros(x.size)
    for center, strength, width in zip(centers, strengths, widths, strict=True):
        near = slice(*np.searchsorted(x, [center - cutoff - step, center + cutoff + step]))
        distance = x[near] - center
        shape = strength * width / np.pi / (distance**2 + width**2)
        spectrum[near] += np.where(np.abs(distance) <= cutoff, shape, 0.0)
    return {"spectrum": spectrum.astype(np.float32)}
