import numpy as np


TOLERANCE = {"orientation_out": (2e-3, 2e-3), "spin_out": (2e-3, 2e-3)}


def make_inputs(rng, bodies, steps, values="mixed"):
    inertia = rng.uniform(0.8, 2.0, (bodies, 3))
    if values == "symmetric":
        inertia[:] = inertia[:, :1]
    orientation = rng.normal(size=(bodies, 4))
    orientation /= np.linalg.norm(orientation, axis=1, keepdims=True)
    return {
        "sizes": np.array([bodies, steps], dtype=np.int32),
        "inertia": inertia.astype(np.float32),
        "momentum": rng.normal(size=(bodies, 3)).astype(np.float32),
        "orientation": orientation.astype(np.float32),
        "step_size": np.array([0.01], dtype=np.float32),
    }


def product(a, b):
    w = a[:, :1] * b[:, :1] - (a[:, 1:] * b[:, 1:]).sum(axis=1, keepdims=True)
    v = a[:, :1] * b[:, 1:] + b[:, :1] * a[:, 1:] + np.cross(a[:, 1:], b[:, 1:])
    return np.concatenate([w, v], axis=1)


def spin(q, momentum, inertia):
    conjugate = q * np.array([1.0, -1.0, -1.0, -1.0])
    zero = np.zeros((len(q), 1))
    inside = product(product(conjugate, np.concatenate([zero, momentum], axis=1)), q)[:, 1:]
    return inside / inertia


def reference(inputs):
    inertia, momentum = inputs["inertia"].astype(np.float64), inputs["momentum"].astype(np.float64)
    q = inputs["orientation"].astype(np.float64)
    h = float(inputs["step_size"][0])
    zero = np.zeros((len(q), 1))
    for _ in range(inputs["sizes"][1]):
        rate = 0.5 * product(q, np.concatenate([zero, spin(q, momentum, inertia)], axis=1))
        middle = q + 0.5 * h * rate
        middle /= np.linalg.norm(middle, axis=1, keepdims=True)
        rate = 0.5 * product(middle, np.concatenate([zero, spin(middle, momentum, inertia)], axis=1))
        q = q + h * rate
        q /= np.linalg.norm(q, axis=1, keepdims=True)
    return {"orientation_out": q.astype(np.float32), "spin_out": spin(q, momentum, inertia).astype(np.float32)}
