import numpy as np


TOLERANCE = {"section": (1e-6, 1e-6), "energy": (1e-6, 1e-6)}


def make_inputs(rng, starts, periods, values="driven"):
    start = rng.uniform(-1.5, 1.5, (starts, 2))
    # damping, linear stiffness, cubic stiffness, amplitude of the drive (frequency 1)
    drive = np.array([0.3, 1.0, 0.4, 0.35])
    if values == "damped":
        drive = np.array([0.02, 1.0, 0.2, 0.0])
    return {"sizes": np.array([starts, periods], dtype=np.int32), "start": start, "drive": drive}


def reference(inputs):
    damping, linear, cubic, amplitude = inputs["drive"]
    h = 2.0 * np.pi / 64

    def force(x, v, t):
        return amplitude * np.cos(t) - damping * v - linear * x - cubic * x**3

    x, v = inputs["start"].T.copy()
    for step in range(64 * int(inputs["sizes"][1])):
        t = h * (step % 64)
        kx1, kv1 = v, force(x, v, t)
        kx2, kv2 = v + 0.5 * h * kv1, force(x + 0.5 * h * kx1, v + 0.5 * h * kv1, t + 0.5 * h)
        kx3, kv3 = v + 0.5 * h * kv2, force(x + 0.5 * h * kx2, v + 0.5 * h * kv2, t + 0.5 * h)
        kx4, kv4 = v + h * kv3, force(x + h * kx3, v + h * kv3, t + h)
        x = x + h / 6.0 * (kx1 + 2 * kx2 + 2 * kx3 + kx4)
        v = v + h / 6.0 * (kv1 + 2 * kv2 + 2 * kv3 + kv4)
    energy = 0.5 * v**2 + 0.5 * linear * x**2 + 0.25 * cubic * x**4
    return {"section": np.stack([x, v], axis=1), "energy": energy}
