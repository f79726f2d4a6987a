import numpy as np


# Sums of up to 2048 terms of mixed sign, the nearest of size 100, in any order.
TOLERANCE = {"field": (2e-4, 2e-3)}


def make_inputs(rng, points, dipoles):
    size = dipoles ** (1 / 3)
    return {
        "point": rng.uniform(0, size, (points, 3)).astype(np.float32),
        "place": rng.uniform(0, size, (dipoles, 3)).astype(np.float32),
        "moment": rng.normal(0.2, 1, (dipoles, 3)).astype(np.float32),
    }


def reference(inputs):
    point, moment = inputs["point"].astype(np.float64), inputs["moment"].astype(np.float64)
    px, py, pz = point.T
    field = np.zeros((3, len(point)))
    for place, m in zip(inputs["place"].astype(np.float64), moment, strict=False):
        dx, dy, dz = px - place[0], py - place[1], pz - place[2]
        r2 = dx * dx + dy * dy + dz * dz + 0.04
        r3 = 1 / (r2 * np.sqrt(r2))
        k = 3 * (m[0] * dx + m[1] * dy + m[2] * dz) * r3 / r2
        field[0] += k * dx - m[0] * r3
        field[1] += k * dy - m[1] * r3
        field[2] += k * dz - m[2] * r3
    return {"field": np.ascontiguousarray(field.T).astype(np.float32)}
