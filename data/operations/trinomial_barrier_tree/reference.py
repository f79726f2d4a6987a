import numpy as np


# Sixty steps of rounding on values up to 40; barriers lie between levels, away from every node.
TOLERANCE = {"price": (1e-4, 1e-4)}


def make_inputs(rng, options):
    spot, vol = rng.uniform(40, 160, options), rng.uniform(0.15, 0.5, options)
    level = rng.integers(5, 30, options) + rng.uniform(0.3, 0.7, options)
    return {
        "spot": spot.astype(np.float32),
        "strike": (spot * rng.uniform(0.75, 1.02, options)).astype(np.float32),
        "volatility": vol.astype(np.float32),
        "barrier": (spot * np.exp(level * vol * np.sqrt(3 * 0.5 / 60))).astype(np.float32),
    }


def reference(inputs):
    S, K, s, B = (inputs[k].astype(np.float64)[:, None] for k in ("spot", "strike", "volatility", "barrier"))
    dt = 0.5 / 60
    node = S * np.exp(np.arange(-60, 61) * s * np.sqrt(3 * dt))
    pu = 1 / 6 + (0.03 - s * s / 2) * np.sqrt(dt / (12 * s * s))
    alive = node < B
    v = np.where(alive, np.maximum(node - K, 0), 0)
    for n in range(59, -1, -1):
        v = np.exp(-0.03 * dt) * (pu * v[:, 2:] + 2 / 3 * v[:, 1:-1] + (1 / 3 - pu) * v[:, :-2])
        v = np.where(alive[:, 60 - n : 61 + n], v, 0)
    return {"price": v[:, 0].astype(np.float32)}
