import numpy as np


TOLERANCE = {"world": (1e-4, 2e-3), "outside": (0, 0)}


def make_inputs(rng, points, poses, pattern="drive"):
    gaps = rng.integers(200, 3000, poses)
    steps = rng.normal(0.0, 0.05, (poses, 3))
    if pattern == "turns":  # a standstill, turns of up to 170 degrees, points on and far off poses
        steps = rng.normal(0.0, 1.0, (poses, 3))
        steps *= rng.uniform(0.5, 1.48, (poses, 1)) / np.linalg.norm(steps, axis=1, keepdims=True)
        steps[: poses // 3] = 0.0
        gaps[::4] = 1
    pose_stamps = -20000 + np.cumsum(gaps)
    stamps = rng.integers(pose_stamps[0] - 400, pose_stamps[-1] + 400, points)
    if pattern == "turns":
        stamps[::3] = rng.choice(pose_stamps, len(stamps[::3]))
        stamps[::50] = rng.choice([-(2**31), 2**31 - 1], len(stamps[::50]))
    # Each rotation is the one before times a rotation by twice the length of the step; its sign is drawn.
    rotations = np.zeros((poses, 4))
    rotations[0] = [0.5, -0.5, 0.5, 0.5]
    for k in range(1, poses):
        half = np.linalg.norm(steps[k])
        w, v = np.cos(half), np.sinc(half / np.pi) * steps[k]
        a, b = rotations[k - 1, 0], rotations[k - 1, 1:]
        rotations[k] = [a * w - b @ v, *(a * v + w * b + np.cross(b, v))]
    rotations *= rng.choice([-1.0, 1.0], (poses, 1))
    return {
        "sizes": np.array([points, poses], dtype=np.int32),
        "cloud": rng.normal(0.0, 15.0, (points, 3)).astype(np.float32),
        "stamps": stamps.astype(np.int32),
        "pose_stamps": pose_stamps.astype(np.int32),
        "rotations": rotations.astype(np.float32),
        "shifts": np.cumsum(rng.normal(0.1, 0.1, (poses, 3)), axis=0).astype(np.float32),
    }


def reference(inputs):
    times, cloud = inputs["pose_stamps"].astype(np.int64), inputs["cloud"].astype(np.float64)
    stamps = inputs["stamps"].astype(np.int64)
    rotations, shifts = inputs["rotations"].astype(np.float64), inputs["shifts"].astype(np.float64)
    inside = np.clip(stamps, times[0], times[-1])
    k = np.clip(np.searchsorted(times, inside, side="right") - 1, 0, len(times) - 2)
    u = ((inside - times[k]) / (times[k + 1] - times[k]))[:, None]
    p, q = rotations[k], rotations[k + 1]
    dot = (p * q).sum(axis=1, keepdims=True)
    q = np.where(dot < 0, -q, q)
    angle = np.arccos(np.minimum(np.abs(dot), 1.0))
    plain = angle < 1e-6
    sine = np.where(plain, 1.0, np.sin(angle))
    a = np.where(plain, 1 - u, np.sin((1 - u) * angle) / sine)
    b = np.where(plain, u, np.sin(u * angle) / sine)
    r = a * p + b * q
    r /= np.linalg.norm(r, axis=1, keepdims=True)
    w, v = r[:, :1], r[:, 1:]
    twice = 2 * np.cross(v, cloud)
    world = cloud + w * twice + np.cross(v, twice) + (1 - u) * shifts[k] + u * shifts[k + 1]
    return {
        "world": world.astype(np.float32),
        "outside": np.array([np.count_nonzero(inside != stamps)], dtype=np.int32),
    }
