import numpy as np


TOLERANCE = {"weights": (1e-7, 1e-9), "objective": (1e-7, 1e-9)}


def make_inputs(rng, problems, features, sweeps, pattern="normal"):
    rows = 2 * features + 3
    design = rng.normal(0.0, 1.0, (problems, rows, features)) + rng.normal(0.0, 0.5, (problems, rows, 1))
    if pattern == "collinear":  # equal columns, columns of very different length
        design[:, :, 1::4] = design[:, :, ::4][:, :, : design[:, :, 1::4].shape[2]]
        design[:, :, 2::4] *= 100.0
    truth = rng.normal(0.0, 1.0, (problems, features)) * (rng.random((problems, features)) < 0.3)
    response = np.einsum("prf,pf->pr", design, truth) + rng.normal(0.0, 0.5, (problems, rows))
    gram = np.matmul(design.transpose(0, 2, 1), design) / rows
    moment = np.einsum("prf,pr->pf", design, response) / rows
    penalty = rng.uniform(0.02, 0.6, problems)
    if pattern == "collinear":  # no penalty at all, and one above which every weight is 0
        penalty[::4] = 0.0
        penalty[1::4] = np.abs(moment[1::4]).max(axis=1) * 1.5
    return {
        "sizes": np.array([problems, features, sweeps], dtype=np.int32),
        "gram": (gram + gram.transpose(0, 2, 1)) / 2,
        "moment": moment,
        "penalty": penalty,
    }


def reference(inputs):
    gram, moment, penalty = inputs["gram"], inputs["moment"], inputs["penalty"]
    weights = np.zeros_like(moment)
    for _ in range(int(inputs["sizes"][2])):
        for k in range(moment.shape[1]):
            diagonal = gram[:, k, k]
            rest = moment[:, k] - (gram[:, k] * weights).sum(axis=1) + diagonal * weights[:, k]
            weights[:, k] = np.sign(rest) * np.maximum(np.abs(rest) - penalty, 0.0) / diagonal
    fit = np.einsum("pi,pij,pj->p", weights, gram, weights, optimize=True) / 2 - (moment * weights).sum(axis=1)
    return {"weights": weights, "objective": fit + penalty * np.abs(weights).sum(axis=1)}
