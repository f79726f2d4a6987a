import numpy as np


TOLERANCE = {"positions": (1e-5, 1e-5)}


def make_inputs(rng, bodies, epochs, values="planets"):
    eccentricity = rng.uniform(0.0, 0.8, bodies)
    if values == "extreme":
        eccentricity = rng.choice([0.0, 0.95, 0.99], bodies)
    axis = rng.uniform(0.5, 30.0, bodies)
    angles = [rng.uniform(0.0, limit, bodies) for limit in (np.pi, 2 * np.pi, 2 * np.pi, 2 * np.pi)]
    motion = axis**-1.5
    elements = np.stack([axis, eccentricity, *angles, motion])
    times = np.sort(rng.uniform(-500.0, 500.0, epochs))
    return {"sizes": np.array([bodies, epochs], dtype=np.int32), "elements": elements, "times": times}


def reference(inputs):
    axis, e, inclination, node, pericentre, anomaly, motion = inputs["elements"]
    mean = np.remainder(anomaly + motion * inputs["times"][:, None] + np.pi, 2 * np.pi) - np.pi
    low, high = mean - e, mean + e  # the root of E - e sin E = M lies between
    for _ in range(55):
        middle = 0.5 * (low + high)
        above = middle - e * np.sin(middle) > mean
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    big = 0.5 * (low + high)
    x = axis * (np.cos(big) - e)
    y = axis * np.sqrt(1.0 - e**2) * np.sin(big)
    ascending, across = (
        np.cos(pericentre) * x - np.sin(pericentre) * y,
        np.sin(pericentre) * x + np.cos(pericentre) * y,
    )
    px = np.cos(node) * ascending - np.sin(node) * np.cos(inclination) * across
    py = np.sin(node) * ascending + np.cos(node) * np.cos(inclination) * across
    pz = np.sin(inclination) * across
    return {"positions": np.stack([px, py, pz], axis=1).astype(np.float32)}
