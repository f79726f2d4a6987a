import numpy as np


# Integers are exact.
TOLERANCE = {"low": (0, 0), "high": (0, 0)}


def make_inputs(rng, n, groups):
    label = np.minimum(rng.gamma(1.5, groups / 5.0, n).astype(np.int64), groups - 1)
    value = rng.normal(0.0, 1.0, n) * 150000 + 2000 * (label % 50)
    return {
        "value": np.clip(np.round(value), -1000000, 1000000).astype(np.int32),
        "label": label.astype(np.int32),
        "sign": rng.choice([-1, 1], groups).astype(np.int32),
    }


def reference(inputs):
    label, sign = inputs["label"], inputs["sign"].astype(np.int64)
    v = inputs["value"] * sign[label]
    low = np.full(len(sign), 2147483647, np.int64)
    high = np.full(len(sign), -2147483648, np.int64)
    np.minimum.at(low, label, v)
    np.maximum.at(high, label, v)
    return {"low": low.astype(np.int32), "high": high.astype(np.int32)}
