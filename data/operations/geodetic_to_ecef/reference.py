import numpy as np


# Angles rounded to float32 radians (1.2e-7 * 6.4e6 m) and products of that size: some metres absolutely.
TOLERANCE = {"ecef": (1e-6, 8.0)}


def make_inputs(rng, n):
    return {
        "lat": rng.uniform(-90.0, 90.0, n).astype(np.float32),
        "lon": rng.uniform(-180.0, 180.0, n).astype(np.float32),
        "height": np.where(rng.random(n) < 0.3, rng.uniform(1e5, 2e7, n), rng.uniform(-400.0, 9000.0, n)).astype(
            np.float32
        ),
    }


def reference(inputs):
    lat, lon = np.radians(inputs["lat"].astype(np.float64)), np.radians(inputs["lon"].astype(np.float64))
    h, e2 = inputs["height"].astype(np.float64), 0.00669438
    big = 6378137.0 / np.sqrt(1.0 - e2 * np.sin(lat) ** 2)
    rows = [
        (big + h) * np.cos(lat) * np.cos(lon),
        (big + h) * np.cos(lat) * np.sin(lon),
        (big * (1.0 - e2) + h) * np.sin(lat),
    ]
    return {"ecef": np.stack(rows, axis=1).astype(np.float32)}
