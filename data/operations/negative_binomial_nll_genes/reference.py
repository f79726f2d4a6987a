import numpy as np


# lgammaf is good to about 1e-6 relative of values up to a few hundred, which then cancel; sums of up to 2000 terms.
TOLERANCE = {"nll": (1e-4, 1e-2)}


def lgamma(x):
    # Stirling's series at x + 7, less the logarithm of x (x + 1) ... (x + 6).
    product = x.copy()
    for k in range(1, 7):
        product *= x + k
    y = x + 7.0
    z = 1.0 / (y * y)
    series = (1.0 / 12 - z * (1.0 / 360 - z * (1.0 / 1260 - z / 1680))) / y
    return (y - 0.5) * np.log(y) - y + 0.5 * np.log(2 * np.pi) + series - np.log(product)


def make_inputs(rng, cells, genes):
    theta = rng.uniform(0.5, 8.0, genes)
    mean = np.exp(rng.normal(0.5, 1.2, (cells, genes)))
    k = rng.poisson(mean * rng.gamma(theta, 1.0 / theta, (cells, genes)))
    return {"counts": k.astype(np.int32), "mean": mean.astype(np.float32), "dispersion": theta.astype(np.float32)}


def reference(inputs):
    k, u = inputs["counts"].astype(np.float64), inputs["mean"].astype(np.float64)
    t = inputs["dispersion"].astype(np.float64)
    factorial = lgamma(np.arange(inputs["counts"].max() + 1) + 1.0)
    v = (
        lgamma(t)[None, :]
        + factorial[inputs["counts"]]
        - lgamma(k + t)
        + t * np.log((t + u) / t)
        + k * np.log((t + u) / u)
    )
    return {"nll": v.sum(axis=1).astype(np.float32)}
