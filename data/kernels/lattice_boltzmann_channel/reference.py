import numpy as np


TOLERANCE = {"density": (1e-4, 1e-5), "velocity": (1e-3, 1e-5)}
DX = [0, 1, 0, -1, 0, 1, -1, -1, 1]
DY = [0, 0, 1, 0, -1, 1, 1, -1, -1]
WEIGHT = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)
OPPOSITE = [0, 3, 4, 1, 2, 7, 8, 5, 6]


def make_inputs(rng, height, width, steps, values="rocks"):
    solid = (rng.random((height, width)) < 0.12).astype(np.uint8)
    if values == "empty":
        solid[:] = 0
        solid[0, 3] = 7  # any value but 0 is solid
    solid[0, 0] = 0
    drive = np.array([4e-4, 0.8], dtype=np.float32)
    return {"sizes": np.array([height, width, steps], dtype=np.int32), "solid": solid, "drive": drive}


def reference(inputs):
    height, width, steps = (int(size) for size in inputs["sizes"])
    fluid = inputs["solid"] == 0
    force, tau = inputs["drive"].astype(np.float64)
    f = np.tile(WEIGHT[:, None, None], (1, height, width))

    def moments(f):
        density = f.sum(axis=0)
        ux = sum(DX[k] * f[k] for k in range(9)) / density
        uy = sum(DY[k] * f[k] for k in range(9)) / density
        return density, ux, uy

    for _ in range(steps):
        pulled = np.empty_like(f)
        for k in range(9):
            shift = (DY[k], DX[k])
            arriving = np.roll(f[k], shift, axis=(0, 1))
            source_fluid = np.roll(fluid, shift, axis=(0, 1))
            pulled[k] = np.where(source_fluid, arriving, f[OPPOSITE[k]])
        density, ux, uy = moments(pulled)
        ux = ux + tau * force
        square = 1.5 * (ux**2 + uy**2)
        for k in range(9):
            along = 3.0 * (DX[k] * ux + DY[k] * uy)
            equilibrium = WEIGHT[k] * density * (1.0 + along + 0.5 * along**2 - square)
            f[k] = np.where(fluid, pulled[k] + (equilibrium - pulled[k]) / tau, f[k])
    density, ux, uy = moments(f)
    velocity = np.stack([np.where(fluid, ux, 0.0), np.where(fluid, uy, 0.0)])
    return {"density": np.where(fluid, density, 0.0).astype(np.float32), "velocity": velocity.astype(np.float32)}
