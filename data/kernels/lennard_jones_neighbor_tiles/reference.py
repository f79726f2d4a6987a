import itertools

import numpy as np


TOLERANCE = {"force": (1e-3, 1e-3), "energy": (1e-3, 1e-3)}
CUTOFF = 2.5


def make_inputs(rng, n, slots, values="liquid"):
    # A jittered cubic lattice, numbered in random order; coordinates are multiples of 1/1024, so differences are exact.
    side = max(4, int(np.ceil(np.cbrt(n))))
    place = rng.permutation(side**3)[:n]
    owner = np.full(side**3, -1)
    owner[place] = np.arange(n)
    lattice = np.stack([place // side**2, place // side % side, place % side], axis=1)
    jitter = rng.integers(-100, 101, (n, 3)) / 1024.0
    if values == "cutoff":  # no jitter: many distances are exactly the cutoff, twice the lattice constant
        jitter = np.zeros((n, 3))
    sigma = rng.uniform(0.9, 1.1, (n, 1))

    offsets = [o for o in itertools.product(range(-2, 3), repeat=3) if o != (0, 0, 0)]
    offsets = np.array(sorted(offsets, key=lambda o: (sum(abs(c) for c in o) > 2, sum(c * c for c in o))))[:slots]
    around = (lattice[:, None] + offsets) % side
    found = owner[(around[..., 0] * side + around[..., 1]) * side + around[..., 2]]
    neighbors = np.full((n, slots), -1)
    neighbors[:, : len(offsets)] = found
    neighbors = rng.permuted(neighbors, axis=1)
    return {
        "sizes": np.array([n, slots], dtype=np.int32),
        "particles": np.concatenate([1.25 * lattice + jitter, sigma], axis=1).astype(np.float32),
        "neighbors": neighbors.astype(np.int32),
        "box": np.array([1.25 * side], dtype=np.float32),
    }


def lennard_jones(sigma, r):
    s6 = (sigma / r) ** 6
    return 4.0 * (s6 * s6 - s6), 24.0 * (2.0 * s6 * s6 - s6) / r


def reference(inputs):
    particles, box = inputs["particles"].astype(np.float64), float(inputs["box"][0])
    i, slot = np.nonzero(inputs["neighbors"] >= 0)
    j = inputs["neighbors"][i, slot]
    d = particles[i, :3] - particles[j, :3]
    d -= box * np.rint(d / box)
    r = np.sqrt((d * d).sum(axis=1))
    sigma = 0.5 * (particles[i, 3] + particles[j, 3])
    near = r < CUTOFF
    i, d, r, sigma = i[near], d[near], r[near], sigma[near]
    (energy, force), (edge_energy, edge_force) = lennard_jones(sigma, r), lennard_jones(sigma, CUTOFF)
    scale = (force - edge_force) / r
    n = len(particles)
    total = [np.bincount(i, weights=scale * d[:, axis], minlength=n) for axis in range(3)]
    half = 0.5 * (energy - edge_energy + (r - CUTOFF) * edge_force)
    return {
        "force": np.stack(total, axis=1).astype(np.float32),
        "energy": np.bincount(i, weights=half, minlength=n).astype(np.float32),
    }
