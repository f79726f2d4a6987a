import numpy as np


TOLERANCE = {"spins_out": (0, 0), "magnetization": (0, 0)}


def make_inputs(rng, half_height, half_width, sweeps, values="critical"):
    shape = (2 * half_height, 2 * half_width)
    spins = rng.choice(np.array([-1, 1], dtype=np.int8), shape)
    random = rng.integers(0, 2**32, (sweeps, *shape), dtype=np.uint32)
    thresholds = np.minimum(2.0**32 - 1, 2.0**32 * np.exp(-2.0 * 0.44 * np.array([-4, -2, 0, 2, 4])))
    if values == "ties":  # numbers equal to a threshold do not flip; one class of sites never does
        thresholds = np.array([2**32 - 1, 2**31, 2**30, 1, 0])
        random = rng.choice(np.array([0, 1, 2**30, 2**31, 2**32 - 1], dtype=np.uint32), random.shape)
    return {
        "sizes": np.array([half_height, half_width, sweeps], dtype=np.int32),
        "spins": spins,
        "random": random,
        "thresholds": thresholds.astype(np.uint32),
    }


def reference(inputs):
    spins, thresholds = inputs["spins"].astype(np.int64), inputs["thresholds"]
    y, x = np.indices(spins.shape)
    magnetization = []
    for random in inputs["random"]:
        for colour in range(2):
            around = sum(np.roll(spins, shift, axis) for shift in (1, -1) for axis in (0, 1))
            flips = ((y + x) % 2 == colour) & (random < thresholds[(spins * around + 4) // 2])
            spins = np.where(flips, -spins, spins)
        magnetization.append(spins.sum())
    return {"spins_out": spins.astype(np.int8), "magnetization": np.array(magnetization, dtype=np.int32)}
