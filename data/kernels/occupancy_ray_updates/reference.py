import numpy as np


TOLERANCE = {"new_belief": (0, 0), "seen": (0, 0)}


def make_inputs(rng, rays, nx, ny, nz, pattern="sweep"):
    # All rays of a case start near the middle; the ends lie on a few planes, so that hits pile up.
    side = np.array([nx, ny, nz])
    starts = np.clip(side // 2 + rng.integers(-2, 3, (rays, 3)), 0, side - 1)
    ends = rng.integers(0, side, (rays, 3))
    ends[::2, 0] = np.where(rng.random(len(ends[::2])) < 0.5, 0, nx - 1)
    returned = rng.random(rays) < 0.8
    rule = [85, 40, 2000]
    belief = rng.integers(-1500, 1501, (nz, ny, nx))
    if pattern == "flat":  # rays within one cell, rays in both directions, beliefs at the limits
        ends[::5] = starts[::5]
        starts[1::5], ends[1::5] = ends[::5].copy(), starts[1::5].copy()
        starts[2::5] = [0, 0, 0]
        ends[2::5] = [nx - 1, 0, nz - 1]
        rule = [3000, 1, 30000]
        belief = rng.choice([-30000, -29999, 0, 30000], (nz, ny, nx))
    return {
        "sizes": np.array([rays, nx, ny, nz], dtype=np.int32),
        "rule": np.array(rule, dtype=np.int32),
        "starts": starts.astype(np.int32),
        "ends": ends.astype(np.int32),
        "returned": returned.astype(np.uint8),
        "belief": belief.astype(np.int16),
    }


def reference(inputs):
    starts, ends = inputs["starts"].astype(np.int64), inputs["ends"].astype(np.int64)
    returned = inputs["returned"] != 0
    nz, ny, nx = inputs["belief"].shape
    gain, loss, limit = inputs["rule"].tolist()
    cells = nz * ny * nx
    delta = ends - starts
    steps = np.abs(delta).max(axis=1)
    hits = np.bincount((ends[returned] * [1, nx, nx * ny]).sum(axis=1), minlength=cells)
    misses = np.bincount((ends[~returned] * [1, nx, nx * ny]).sum(axis=1), minlength=cells)
    for k in range(int(steps.max())):
        on = steps > k
        n = steps[on, None]
        at = starts[on] + (2 * k * delta[on] + n) // (2 * n)
        misses += np.bincount((at * [1, nx, nx * ny]).sum(axis=1), minlength=cells)
    change = (gain * hits - loss * misses).reshape(nz, ny, nx)
    return {
        "new_belief": np.clip(inputs["belief"] + change, -limit, limit).astype(np.int16),
        "seen": np.array([np.count_nonzero(hits + misses), np.count_nonzero(hits)], dtype=np.int32),
    }
