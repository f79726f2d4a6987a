import numpy as np


TOLERANCE = {"value_at_risk": (0, 0), "shortfall": (1e-10, 1e-10)}


def make_inputs(rng, portfolios, scenarios, rank, values="spread"):
    profits = rng.standard_t(3, (portfolios, scenarios)) * 1000.0 + 20.0
    if values == "ties":  # few different values, both signs of zero among them
        profits = rng.choice([-500.0, -2.5, -0.0, 0.0, 7.0, 1000.0], (portfolios, scenarios))
        profits[0] = 3.5
    return {
        "sizes": np.array([portfolios, scenarios, rank], dtype=np.int32),
        "profits": profits.astype(np.float32),
    }


def reference(inputs):
    rank = int(inputs["sizes"][2])
    worst = np.sort(inputs["profits"], axis=1)[:, :rank]
    return {
        "value_at_risk": -worst[:, rank - 1] + np.float32(0.0),
        "shortfall": -worst.astype(np.float64).mean(axis=1),
    }
