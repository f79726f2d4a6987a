import numpy as np


TOLERANCE = {"points": (1e-4, 1e-4), "area": (1e-3, 1e-3)}


def make_inputs(rng, patches, samples, values="hills"):
    grid = np.stack(np.meshgrid(np.arange(4.0), np.arange(4.0), indexing="ij"), axis=-1)
    control = np.zeros((patches, 4, 4, 3))
    control[..., :2] = 2.0 * grid + rng.normal(0.0, 0.3, (patches, 4, 4, 2)) + rng.normal(0.0, 5.0, (patches, 1, 1, 2))
    control[..., 2] = rng.normal(0.0, 1.5, (patches, 4, 4))
    if values == "flat":  # planes, of which some shrink to a line or a point: the area vanishes there
        control[..., 2] = control[..., 0]
        control[::4, :, :, 1] = 1.0
        control[1::4] = control[1::4, :1, :1]
    return {"sizes": np.array([patches, samples], dtype=np.int32), "control": control.astype(np.float32)}


def reference(inputs):
    _, samples = (int(size) for size in inputs["sizes"])
    t = np.arange(samples) / (samples - 1)
    s = 1.0 - t
    basis = np.stack([s**3, 3 * s**2 * t, 3 * s * t**2, t**3])
    slope = np.stack([-3 * s**2, 3 * s**2 - 6 * s * t, 6 * s * t - 3 * t**2, 3 * t**2])
    control = inputs["control"].astype(np.float64)
    points, along_u, along_v = (
        np.einsum("iu,jv,pijc->puvc", first, second, control, optimize=True)
        for first, second in ((basis, basis), (slope, basis), (basis, slope))
    )
    area = np.linalg.norm(np.cross(along_u, along_v), axis=-1)
    return {"points": points.astype(np.float32), "area": area.astype(np.float32)}
