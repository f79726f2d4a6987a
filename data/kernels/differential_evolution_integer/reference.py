import numpy as np


TOLERANCE = {"survivors": (0, 0), "costs": (0, 0), "best": (0, 0)}


def make_inputs(rng, population, genes, pattern="normal"):
    bound = 32767 if pattern == "clamped" else 8000
    vectors = rng.integers(-bound, bound + 1, (population, genes))
    factor, rate = 180, 100
    dice = rng.integers(0, 256, (population, genes))
    picks = rng.integers(0, population, (population, 3))
    if pattern == "clamped":  # many trials on the bounds, trials equal to their parents, two equal best vectors
        factor, rate = 511, 200
        vectors[rng.random(vectors.shape) < 0.3] = bound
        picks[::4] = np.arange(population)[::4, None]
        vectors[[7, 300]] = 5
        picks[[7, 300]] = np.array([[7], [300]])
    return {
        "sizes": np.array([population, genes], dtype=np.int32),
        "settings": np.array([factor, rate, bound], dtype=np.int32),
        "vectors": vectors.astype(np.int16),
        "center": rng.integers(-bound // 4, bound // 4 + 1, genes).astype(np.int16),
        "picks": picks.astype(np.int32),
        "forced": rng.integers(0, genes, population).astype(np.int32),
        "dice": dice.astype(np.uint8),
    }


def cost(vectors, center):
    return ((vectors - center) ** 2 + 64 * np.abs(vectors - np.roll(vectors, -1, axis=1))).sum(axis=1)


def reference(inputs):
    factor, rate, bound = inputs["settings"].astype(np.int64)
    vectors, center = inputs["vectors"].astype(np.int64), inputs["center"].astype(np.int64)
    a, b, c = (vectors[pick] for pick in inputs["picks"].T)
    mutant = np.clip(a + ((factor * (b - c)) >> 8), -bound, bound)
    crossed = (inputs["dice"] < rate) | (np.arange(vectors.shape[1]) == inputs["forced"][:, None])
    trial = np.where(crossed, mutant, vectors)
    old, new = cost(vectors, center), cost(trial, center)
    survivors = np.where((new <= old)[:, None], trial, vectors)
    costs = np.minimum(old, new)
    return {
        "survivors": survivors.astype(np.int16),
        "costs": costs,
        "best": np.array([np.argmin(costs)], dtype=np.int32),
    }
