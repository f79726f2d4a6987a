import numpy as np


# Prices up to 100 in float32: about 3e-5 of absolute rounding. No gap lies within 0.01 of the cost.
TOLERANCE = {"gap": (1e-5, 2e-4), "side": (0, 0), "profit": (1e-5, 2e-4)}


def make_inputs(rng, strikes, expiries):
    k, t = np.linspace(40, 170, strikes).astype(np.float32), np.cumsum(rng.uniform(0.2, 1.8, expiries))
    t = (t * 4 / t[-1]).astype(np.float32)
    forward = 100 * np.exp(-0.01 * t.astype(np.float64))[None, :] - np.outer(k, np.exp(-0.03 * t.astype(np.float64)))
    gap = np.where(
        rng.random(forward.shape) < 0.5,
        rng.uniform(-0.24, 0.24, forward.shape),
        rng.choice([-1.0, 1.0], forward.shape) * rng.uniform(0.26, 1.5, forward.shape),
    )
    put = np.maximum(0, -forward) + rng.uniform(2, 12, forward.shape)
    return {"call": (put + forward + gap).astype(np.float32), "put": put.astype(np.float32), "strike": k, "expiry": t}


def reference(inputs):
    t = inputs["expiry"].astype(np.float64)
    forward = 100 * np.exp(-0.01 * t) - np.outer(inputs["strike"].astype(np.float64), np.exp(-0.03 * t))
    gap = inputs["call"].astype(np.float64) - inputs["put"] - forward
    side = np.where(gap > 0.25, 1, np.where(gap < -0.25, -1, 0))
    return {
        "gap": gap.astype(np.float32),
        "side": side.astype(np.int32),
        "profit": np.where(side != 0, np.abs(gap) - 0.25, 0).astype(np.float32),
    }
