import numpy as np


TOLERANCE = {"correlation": (0, 0)}


def make_inputs(rng, n, reach, values="echo"):
    a = rng.integers(-9000, 9001, n)
    b = np.roll(a, -(reach // 2)) + rng.integers(-5000, 5001, n)
    if values == "full scale":  # products that sum to more than 32 bits, and lags beyond the signals
        a = rng.choice([-32768, 32767], n)
        b = np.full(n, -32768)
    return {
        "sizes": np.array([n, reach], dtype=np.int32),
        "a": a.astype(np.int16),
        "b": b.astype(np.int16),
    }


def reference(inputs):
    n, reach = map(int, inputs["sizes"])
    a, b = inputs["a"].astype(np.float64), inputs["b"].astype(np.float64)  # sums below 2^53 are exact
    correlation = np.zeros(2 * reach + 1, dtype=np.int64)
    for lag in range(-min(reach, n - 1), min(reach, n - 1) + 1):
        first = max(0, -lag)
        last = min(n, n - lag)
        correlation[reach + lag] = int(a[first + lag : last + lag] @ b[first:last])
    return {"correlation": correlation}
