import numpy as np


TOLERANCE = {"spread": (0, 0)}


def make_inputs(rng, n, radius, values="walk"):
    signal = np.cumsum(rng.integers(-1000, 1001, n)) + rng.integers(-5000, 5001, n)
    if values == "plateaus":  # the full range of values, long constant stretches, extremes at both ends
        levels = rng.choice([-(10**9), -5, 0, 7, 10**9], n // 60 + 1, p=[0.02, 0.3, 0.3, 0.36, 0.02])
        signal = np.repeat(levels, 60)[:n]
        signal[0], signal[-1] = -(10**9), 10**9
    return {"sizes": np.array([n, radius], dtype=np.int32), "signal": signal.astype(np.int32)}


def sliding(combine, padded, window, n):
    covered = 1
    while 2 * covered <= window:
        padded = combine(padded[:-covered], padded[covered:])
        covered *= 2
    start = window - covered
    return combine(padded[:n], padded[start : start + n])


def reference(inputs):
    signal, radius = inputs["signal"].astype(np.int64), int(inputs["sizes"][1])
    n, window = signal.size, 2 * radius + 1
    largest = sliding(np.maximum, np.pad(signal, radius, constant_values=-(2**40)), window, n)
    smallest = sliding(np.minimum, np.pad(signal, radius, constant_values=2**40), window, n)
    return {"spread": (largest - smallest).astype(np.int32)}
