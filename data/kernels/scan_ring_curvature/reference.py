import numpy as np


TOLERANCE = {"curvature": (2e-3, 1e-6)}


def make_inputs(rng, rings, columns, values="noise"):
    azimuth = np.linspace(0.0, 2.0 * np.pi, columns, endpoint=False)
    elevation = np.linspace(-0.4, 0.05, rings)[:, None]
    distance = 8.0 + 3.0 * np.sin(3.0 * azimuth + elevation) + rng.normal(0.0, 0.05, (rings, columns))
    if values == "steps":  # edges of objects
        distance += 6.0 * rng.integers(0, 3, (rings, columns // 9 + 1)).repeat(9, axis=1)[:, :columns]
    points = np.stack(
        [
            distance * np.cos(elevation) * np.cos(azimuth),
            distance * np.cos(elevation) * np.sin(azimuth),
            distance * np.sin(elevation),
        ],
        axis=2,
    )
    return {"sizes": np.array([rings, columns], dtype=np.int32), "points": points.astype(np.float32)}


def reference(inputs):
    points = inputs["points"].astype(np.float64)
    differences = sum(np.roll(points, -j, axis=1) - points for j in range(-5, 6) if j != 0)
    curvature = (differences**2).sum(axis=2) / (100.0 * (points**2).sum(axis=2))
    return {"curvature": curvature.astype(np.float32)}
