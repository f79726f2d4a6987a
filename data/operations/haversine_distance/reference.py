import numpy as np


# float32 angles: 1e-7 rad is about 1 m; a bearing over a short distance (0.02 rad or more) is good to 1e-3 degrees.
TOLERANCE = {"km": (2e-5, 5e-3), "bearing": (1e-5, 3e-3)}


def make_inputs(rng, n):
    lat, lon = rng.uniform(-60.0, 60.0, n), rng.uniform(-180.0, 180.0, n)
    far = rng.random(n) < 0.5
    dlat = np.where(far, rng.uniform(-20.0, 20.0, n), rng.uniform(1.5, 3.0, n) * rng.choice([-1.0, 1.0], n))
    dlon = np.where(far, rng.uniform(3.0, 100.0, n), rng.uniform(1.5, 5.0, n)) * rng.choice([-1.0, 1.0], n)
    return {
        "start": np.stack([lat, lon], axis=1).astype(np.float32),
        "goal": np.stack([lat + dlat, lon + dlon], axis=1).astype(np.float32),
    }


def reference(inputs):
    a, b = np.radians(inputs["start"].astype(np.float64)), np.radians(inputs["goal"].astype(np.float64))
    p1, p2, dp, dl = a[:, 0], b[:, 0], b[:, 0] - a[:, 0], b[:, 1] - a[:, 1]
    h = np.sin(dp / 2) ** 2 + np.cos(p1) * np.cos(p2) * np.sin(dl / 2) ** 2
    km = 2 * 6371.0 * np.arctan2(np.sqrt(h), np.sqrt(1 - h))
    bearing = np.degrees(
        np.arctan2(np.sin(dl) * np.cos(p2), np.cos(p1) * np.sin(p2) - np.sin(p1) * np.cos(p2) * np.cos(dl))
    )
    return {"km": km.astype(np.float32), "bearing": np.where(bearing < 0, bearing + 360.0, bearing).astype(np.float32)}
