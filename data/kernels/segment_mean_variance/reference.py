import numpy as np


TOLERANCE = {"mean": (1e-3, 1e-5), "variance": (1e-3, 1e-5)}


def make_inputs(rng, segments, n, values="shifted"):
    # A tenth of the borders coincide, which makes empty segments; one long segment comes from a gap in the borders.
    borders = rng.integers(0, n + 1, segments - 1)
    borders[: segments // 10] = rng.choice([0, n // 4, n // 2, n], segments // 10)
    borders[(borders > n // 2) & (borders < n // 2 + n // 20)] = n // 2
    offsets = np.concatenate([[0], np.sort(borders), [n]]).astype(np.int32)
    owner = np.repeat(np.arange(segments), np.diff(offsets))
    center = rng.uniform(-3000.0, 3000.0, segments)
    center[np.abs(center) < 100.0] = 100.0
    spread = rng.uniform(0.5, 3.0, segments)
    if values == "constant":  # variance 0 around large means, between segments that do vary
        spread[::2] = 0.0
    return {
        "sizes": np.array([segments, n], dtype=np.int32),
        "offsets": offsets,
        "values": (center[owner] + spread[owner] * rng.normal(0.0, 1.0, n)).astype(np.float32),
    }


def reference(inputs):
    offsets, values = inputs["offsets"], inputs["values"].astype(np.float64)
    lengths = np.diff(offsets)
    owner = np.repeat(np.arange(lengths.size), lengths)
    divisor = np.maximum(lengths, 1)
    mean = np.bincount(owner, weights=values, minlength=lengths.size) / divisor
    variance = np.bincount(owner, weights=(values - mean[owner]) ** 2, minlength=lengths.size) / divisor
    return {"mean": mean.astype(np.float32), "variance": variance.astype(np.float32)}
