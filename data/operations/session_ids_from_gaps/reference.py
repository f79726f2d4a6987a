import numpy as np


# Integers are exact.
TOLERANCE = {"session": (0, 0), "sessions": (0, 0)}


def make_inputs(rng, users, clicks):
    steps = rng.geometric(0.05, (users, clicks)) + (rng.random((users, clicks)) < 0.03) * rng.integers(
        0, 2000, (users, clicks)
    )
    gap = rng.integers(20, 90, users)
    return {"time": np.cumsum(steps, axis=1).astype(np.int32), "user_gap": gap.astype(np.int32)}


def reference(inputs):
    new = np.zeros(inputs["time"].shape, np.int64)
    new[:, 1:] = np.diff(inputs["time"], axis=1) > inputs["user_gap"][:, None]
    session = np.cumsum(new, axis=1)
    return {"session": session.astype(np.int32), "sessions": (session[:, -1] + 1).astype(np.int32)}
