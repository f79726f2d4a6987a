import numpy as np


TOLERANCE = {"cooled": (1e-4, 1e-4)}


def make_inputs(rng, height, width, steps, values="smooth"):
    y, x = np.mgrid[:height, :width]
    plate = 20.0 + 30.0 * ((x // 7 + y // 5) % 3) + rng.normal(0.0, 5.0, x.shape)
    ratio = 0.2
    if values == "hot spots":  # at the largest stable ratio, with spots on the edges
        plate = np.where(rng.random(x.shape) < 0.05, 1000.0, 0.0)
        plate[0, 0] = plate[-1, -1] = -500.0
        ratio = 0.25
    return {
        "sizes": np.array([height, width, steps], dtype=np.int32),
        "temperature": plate.astype(np.float32),
        "ratio": np.array([ratio], dtype=np.float32),
    }


def reference(inputs):
    u = inputs["temperature"].astype(np.float64)
    ratio = float(inputs["ratio"][0])
    for _ in range(inputs["sizes"][2]):
        p = np.pad(u, 1, mode="edge")
        u = u + ratio * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4.0 * u)
    return {"cooled": u.astype(np.float32)}
