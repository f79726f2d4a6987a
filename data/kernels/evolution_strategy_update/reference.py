import numpy as np


TOLERANCE = {"utilities": (1e-5, 1e-6), "new_theta": (1e-5, 1e-5)}


def make_inputs(rng, population, dims, pattern="distinct"):
    rewards = rng.normal(0.0, 10.0, population)
    if pattern == "ties":  # few different rewards: the numbers decide
        rewards = rng.choice([-1.0, 0.0, 2.5], population)
    return {
        "sizes": np.array([population, dims], dtype=np.int32),
        "rewards": rewards.astype(np.float32),
        "theta": rng.normal(0.0, 0.05, dims).astype(np.float32),
    }


def reference(inputs):
    population, dims = inputs["sizes"].tolist()
    rank = np.empty(population)
    rank[np.argsort(inputs["rewards"], kind="stable")] = np.arange(population)
    utilities = rank / (population - 1) - 0.5
    d = np.arange(1, dims + 1, dtype=np.uint32) * np.uint32(0x85EBCA6B)
    total = np.zeros(dims)
    for k in range(population):
        x = d ^ np.uint32((k + 1) * 0x9E3779B1 & 0xFFFFFFFF)
        x = (x ^ x >> np.uint32(16)) * np.uint32(0x7FEB352D)
        x = (x ^ x >> np.uint32(15)) * np.uint32(0x846CA68B)
        total += np.where(x >> np.uint32(31) == 1, -utilities[k], utilities[k])
    new_theta = inputs["theta"] + 0.5 / population * total
    return {"utilities": utilities.astype(np.float32), "new_theta": new_theta.astype(np.float32)}
