import numpy as np


TOLERANCE = {"best": (0, 0), "beta": (1e-4, 1e-4)}


def loadings(decay, maturity):
    x = decay * maturity
    slope = -np.expm1(-x) / x
    return np.stack([np.ones_like(x), slope, slope - np.exp(-x)], axis=-1)


def make_inputs(rng, days, maturities, decays, values="inside"):
    maturity = np.sort(rng.choice(np.arange(1, 121), maturities, replace=False)) / 4.0
    decay = np.linspace(0.15, 1.5, decays) if decays > 1 else np.array([0.6])
    true = rng.uniform(0.05, 2.5, (days, 1)) if values == "ends" else rng.uniform(0.2, 1.4, (days, 1))
    beta = rng.normal([4.0, -2.0, 1.5], [1.0, 1.5, 2.0], (days, 3))
    curves = np.einsum("dmk,dk->dm", loadings(true, maturity), beta)
    return {
        "sizes": np.array([days, maturities, decays], dtype=np.int32),
        "maturity": maturity.astype(np.float32),
        "decay": decay.astype(np.float32),
        "yields": (curves + rng.normal(0.0, 0.05, curves.shape)).astype(np.float32),
    }


def reference(inputs):
    maturity, yields = inputs["maturity"].astype(np.float64), inputs["yields"].astype(np.float64)
    errors, betas = [], []
    for decay in inputs["decay"].astype(np.float64):
        columns = loadings(decay, maturity)
        solution = np.linalg.lstsq(columns, yields.T, rcond=None)[0]
        errors.append(np.sum((yields.T - columns @ solution) ** 2, axis=0))
        betas.append(solution)
    best = np.argmin(errors, axis=0)
    beta = np.stack(betas)[best, :, np.arange(len(best))]
    return {"best": best.astype(np.int32), "beta": beta.astype(np.float32)}
