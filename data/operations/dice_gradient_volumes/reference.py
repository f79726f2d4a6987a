import numpy as np


# Sums of up to 200,000 float32 terms; the two parts of a gradient cancel only partly.
TOLERANCE = {"grad": (3e-4, 1e-9)}


def make_inputs(rng, volumes, voxels):
    mask = rng.random((volumes, voxels)) < rng.uniform(0.05, 0.5, (volumes, 1))
    prob = np.where(mask, rng.beta(4.0, 1.5, mask.shape), rng.beta(1.0, 5.0, mask.shape))
    return {"prob": prob.astype(np.float32), "mask": mask.astype(np.uint8)}


def reference(inputs):
    p, g = inputs["prob"].astype(np.float64), inputs["mask"].astype(np.float64)
    a = 2.0 * (p * g).sum(axis=1, keepdims=True) + 1.0
    d = (p * p).sum(axis=1, keepdims=True) + g.sum(axis=1, keepdims=True) + 1.0
    return {"grad": ((2.0 * p * a - 2.0 * g * d) / (d * d)).astype(np.float32)}
