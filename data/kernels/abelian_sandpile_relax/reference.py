import numpy as np


TOLERANCE = {"stable": (0, 0), "topplings": (0, 0)}


def make_inputs(rng, height, width, values="scattered"):
    grains = rng.integers(0, 5, (height, width), dtype=np.int32)
    for _ in range(3):
        grains[rng.integers(height), rng.integers(width)] += 40 + height
    if values == "tower":
        grains[:] = 0
        grains[height // 2, width // 2] = 200
    return {"sizes": np.array([height, width], dtype=np.int32), "grains": grains}


def reference(inputs):
    grains = np.pad(inputs["grains"], 1)
    topplings = np.zeros_like(grains)
    while True:
        falls = np.zeros_like(grains)
        falls[1:-1, 1:-1] = grains[1:-1, 1:-1] // 4
        if not falls.any():
            break
        topplings += falls
        grains -= 4 * falls
        grains[1:] += falls[:-1]
        grains[:-1] += falls[1:]
        grains[:, 1:] += falls[:, :-1]
        grains[:, :-1] += falls[:, 1:]
        grains[0] = grains[-1] = grains[:, 0] = grains[:, -1] = 0
    return {"stable": grains[1:-1, 1:-1].copy(), "topplings": topplings[1:-1, 1:-1].copy()}
