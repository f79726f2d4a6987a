import numpy as np


TOLERANCE = {"skinned": (1e-4, 1e-4)}


def product(a, b):
    """Products of quaternions (w, x, y, z) in the last dimension."""
    aw, av, bw, bv = a[..., :1], a[..., 1:], b[..., :1], b[..., 1:]
    vector = aw * bv + bw * av + np.cross(av, bv)
    return np.concatenate([aw * bw - (av * bv).sum(axis=-1, keepdims=True), vector], axis=-1)


def make_inputs(rng, vertices, joints, values="body"):
    # Turns of less than one radian about any axis: two of them are never near opposite, but for the sign, drawn at random.
    axis = rng.normal(size=(joints, 3))
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    half = rng.uniform(0.0, 0.5, (joints, 1))
    real = np.concatenate([np.cos(half), axis * np.sin(half)], axis=1)
    shift = np.concatenate([np.zeros((joints, 1)), rng.uniform(-2.0, 2.0, (joints, 3))], axis=1)
    motion = np.concatenate([real, 0.5 * product(shift, real)], axis=1) * rng.choice([-1.0, 1.0], (joints, 1))
    cuts = np.sort(rng.integers(0, 256, (vertices, 3)), axis=1)
    if values == "extremes":  # one joint alone, or the same joint four times
        cuts[::2] = 0
        cuts[1::4] = 255
    weight = np.diff(cuts, axis=1, prepend=0, append=255)
    joint = rng.integers(0, joints, (vertices, 4))
    if values == "extremes":
        joint[::3] = joint[::3, :1]
    return {
        "sizes": np.array([vertices, joints], dtype=np.int32),
        "position": rng.uniform(-3.0, 3.0, (vertices, 3)).astype(np.float32),
        "joint": joint.astype(np.uint8),
        "weight": weight.astype(np.uint8),
        "motion": motion.astype(np.float32),
    }


def reference(inputs):
    motion = inputs["motion"].astype(np.float64)[inputs["joint"]]
    weight = inputs["weight"].astype(np.float64) / 255.0
    dot = (motion[:, :, :4] * motion[:, :1, :4]).sum(axis=-1)
    blended = (np.where(dot < 0, -weight, weight)[..., None] * motion).sum(axis=1)
    blended /= np.linalg.norm(blended[:, :4], axis=1, keepdims=True)
    real, dual = blended[:, :4], blended[:, 4:]
    conjugate = real * np.array([1.0, -1.0, -1.0, -1.0])
    point = np.concatenate([np.zeros((len(real), 1)), inputs["position"].astype(np.float64)], axis=1)
    turned = product(product(real, point), conjugate)[:, 1:]
    moved = 2 * product(dual, conjugate)[:, 1:]
    return {"skinned": (turned + moved).astype(np.float32)}
