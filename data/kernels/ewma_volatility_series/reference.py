import numpy as np


TOLERANCE = {"volatility": (1e-4, 1e-6)}


def make_inputs(rng, series, days, values="lively"):
    scale = np.exp(rng.normal(-4.0, 0.8, (series, 1)))
    returns = scale * rng.standard_t(4, (series, days))
    if values == "still":
        returns[::2] = 0.0
    decay = rng.choice([0.5, 0.75, 0.90625, 0.9375, 0.96875, 0.0, 1.0], series)
    return {
        "sizes": np.array([series, days], dtype=np.int32),
        "returns": returns.astype(np.float32),
        "decay": decay.astype(np.float32),
    }


def reference(inputs):
    squares = inputs["returns"].astype(np.float64) ** 2
    decay = inputs["decay"].astype(np.float64)
    variance = np.empty_like(squares)
    variance[:, 0] = squares[:, 0]
    for day in range(1, squares.shape[1]):
        variance[:, day] = decay * variance[:, day - 1] + (1.0 - decay) * squares[:, day]
    return {"volatility": np.sqrt(252.0 * variance).astype(np.float32)}
