import numpy as np


# Counts are exact, as pairs within 1e-4 of touching are moved apart; the depth is a difference of lengths near 2.
TOLERANCE = {"contacts": (0, 0), "deepest": (1e-4, 2e-5)}


def survey(s):
    s = s.astype(np.float64)
    count, deep = np.zeros(len(s), np.int32), np.zeros(len(s))
    unsure = np.zeros(len(s), bool)
    for start in range(0, len(s), 500):
        block = s[start : start + 500]
        d2 = ((block[:, None, :1] - s[None, :, :1]) ** 2)[..., 0]
        for k in (1, 2):
            d2 += (block[:, None, k] - s[None, :, k]) ** 2
        depth = block[:, None, 3] + s[None, :, 3] - np.sqrt(d2)
        depth[np.arange(len(block)), start + np.arange(len(block))] = -1.0
        count[start : start + 500] = (depth > 0).sum(axis=1)
        deep[start : start + 500] = np.maximum(depth.max(axis=1), 0.0)
        unsure[start : start + 500] = (np.abs(depth) < 2e-5).any(axis=1)
    return count, deep, unsure


def make_inputs(rng, n):
    side = 0.9 * n ** (1.0 / 3.0)
    spheres = np.concatenate([rng.uniform(0.0, side, (n, 3)), rng.uniform(0.1, 0.6, (n, 1))], axis=1)
    spheres = spheres.astype(np.float32)
    unsure = survey(spheres)[2]
    spheres[unsure, 0] += np.float32(2.0 * side) + 2 * np.arange(unsure.sum(), dtype=np.float32)
    return {"spheres": spheres}


def reference(inputs):
    count, deep, _ = survey(inputs["spheres"])
    return {"contacts": count, "deepest": deep.astype(np.float32)}
