import numpy as np


# Integers are exact.
TOLERANCE = {"alarm": (0, 0), "alarms": (0, 0)}


def make_inputs(rng, rows, cols):
    target = rng.integers(-200, 201, rows)
    x = target[:, None] + rng.normal(0.0, 16.0, (rows, cols)) + rng.uniform(-12.0, 12.0, (rows, 1))
    x += rng.choice([-1.0, 0.0, 1.0], (rows, 1)) * 20.0 * (np.arange(cols) % 50 > 30)
    return {"x": np.round(x).astype(np.int32), "target": target.astype(np.int32)}


def reference(inputs):
    d = np.ascontiguousarray((inputs["x"] - inputs["target"][:, None]).T)
    up = np.zeros(d.shape[1], np.int64)
    down = up.copy()
    alarm = np.zeros(d.shape, np.uint8)
    for c in range(len(d)):
        up = np.maximum(0, up + d[c] - 4)
        down = np.maximum(0, down - d[c] - 4)
        alarm[c] = (up > 40) + 2 * (down > 40)
        up[alarm[c] > 0] = 0
        down[alarm[c] > 0] = 0
    return {"alarm": np.ascontiguousarray(alarm.T), "alarms": (alarm > 0).sum(axis=0).astype(np.int32)}
