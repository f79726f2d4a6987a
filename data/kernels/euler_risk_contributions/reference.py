import numpy as np


TOLERANCE = {"volatility": (1e-10, 1e-12), "contributions": (1e-9, 1e-11)}


def make_inputs(rng, portfolios, assets, values="invested"):
    factors = rng.normal(size=(assets, 3)) * 0.15
    covariance = factors @ factors.T + np.diag(rng.uniform(0.01, 0.09, assets))
    weights = rng.dirichlet(np.ones(assets), portfolios) * rng.choice([-1.0, 1.0, 2.0], (portfolios, assets))
    if values == "cash":  # portfolios that hold nothing
        weights[::2] = 0.0
        weights[1::2] = rng.uniform(-2.0, 2.0, weights[1::2].shape)
    return {"sizes": np.array([portfolios, assets], dtype=np.int32), "covariance": covariance, "weights": weights}


def reference(inputs):
    weights = inputs["weights"]
    products = weights * (weights @ inputs["covariance"])
    volatility = np.sqrt(np.maximum(products.sum(axis=1), 0.0))
    divisor = np.where(volatility > 0.0, volatility, 1.0)
    return {"volatility": volatility, "contributions": products / divisor[:, None]}
