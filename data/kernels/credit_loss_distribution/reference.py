import numpy as np


TOLERANCE = {"distribution": (1e-10, 1e-14), "expected_tail": (1e-10, 1e-14)}


def make_inputs(rng, portfolios, obligors, units, values="usual"):
    probabilities = rng.beta(1.0, 12.0, (portfolios, obligors))
    losses = rng.integers(0, max(2, units // 8), (portfolios, obligors))
    if values == "certain":  # defaults that are certain or impossible, losses beyond the last unit
        probabilities = rng.choice([0.0, 1.0, 0.5], (portfolios, obligors), p=[0.6, 0.1, 0.3])
        losses[:, ::5] = units + 7
    return {
        "sizes": np.array([portfolios, obligors, units], dtype=np.int32),
        "probabilities": probabilities.astype(np.float32),
        "losses": losses.astype(np.int32),
    }


def reference(inputs):
    portfolios, obligors, units = inputs["sizes"]
    distribution = np.zeros((portfolios, units + 1))
    distribution[:, 0] = 1.0
    level = np.arange(units + 1)
    for k in range(obligors):
        p = inputs["probabilities"][:, k : k + 1].astype(np.float64)
        loss = np.minimum(inputs["losses"][:, k : k + 1], units).astype(np.int64)
        source = level - loss
        shifted = np.where(source >= 0, np.take_along_axis(distribution, np.maximum(source, 0), axis=1), 0.0)
        # Everything that would go beyond the last unit stays on it.
        beyond = np.where((level + loss > units), distribution, 0.0).sum(axis=1)
        shifted[:, -1] += beyond
        distribution = (1.0 - p) * distribution + p * shifted
    weight = np.maximum(level - units // 2, 0)
    return {"distribution": distribution, "expected_tail": distribution @ weight}
