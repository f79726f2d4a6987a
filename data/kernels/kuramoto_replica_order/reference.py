import numpy as np


TOLERANCE = {"order": (1e-8, 1e-8), "final": (1e-8, 1e-8)}
STEP = 0.03125


def make_inputs(rng, replicas, oscillators, steps, values="spread"):
    omega = rng.normal(0.5, 0.8, oscillators)
    coupling = rng.uniform(0.0, 5.0, replicas)
    theta = rng.uniform(-np.pi, np.pi, (replicas, oscillators))
    if values == "ends":
        coupling[: replicas // 2] = 0.0
        theta[0] = 0.25  # all alike
        theta[1:3] = 2.0 * np.pi * np.arange(oscillators) / oscillators
    sizes = np.array([replicas, oscillators, steps], dtype=np.int32)
    return {"sizes": sizes, "omega": omega, "coupling": coupling, "theta": theta}


def reference(inputs):
    steps = int(inputs["sizes"][2])
    omega, coupling, theta = inputs["omega"], inputs["coupling"][:, None], inputs["theta"]

    def speed(angle):
        unit = np.exp(1j * angle)
        return omega + coupling * np.imag(unit.mean(axis=1, keepdims=True) * unit.conj())

    order = np.empty((len(theta), steps))
    for step in range(steps):
        k1 = speed(theta)
        k2 = speed(theta + 0.5 * STEP * k1)
        k3 = speed(theta + 0.5 * STEP * k2)
        k4 = speed(theta + STEP * k3)
        theta = theta + STEP / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        order[:, step] = np.abs(np.exp(1j * theta).mean(axis=1))
    return {"order": order, "final": theta}
