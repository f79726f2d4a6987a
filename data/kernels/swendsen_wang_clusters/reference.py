import numpy as np


TOLERANCE = {"labels": (0, 0), "spins_out": (0, 0), "clusters": (0, 0)}


def make_inputs(rng, height, width, values="critical"):
    spins = rng.choice(np.array([-1, 1], dtype=np.int8), (height, width))
    threshold = int(0.83 * 2**32)
    if values == "ordered":
        spins[:] = 1
        threshold = int(0.97 * 2**32)
    return {
        "sizes": np.array([height, width], dtype=np.int32),
        "spins": spins,
        "bond_random": rng.integers(0, 2**32, (2, height, width), dtype=np.uint32),
        "flip_random": rng.integers(0, 2, (height, width), dtype=np.uint8),
        "threshold": np.array([threshold], dtype=np.uint32),
    }


def reference(inputs):
    spins = inputs["spins"]
    height, width = spins.shape
    site = np.arange(height * width).reshape(height, width)
    pairs = []
    for axis, random in zip((1, 0), inputs["bond_random"], strict=True):  # to the right, then down
        joined = (spins == np.roll(spins, -1, axis)) & (random < inputs["threshold"][0])
        pairs.append(np.stack([site[joined], np.roll(site, -1, axis)[joined]], axis=1))
    a, b = np.concatenate(pairs).T
    root = site.ravel().copy()
    while True:  # the smaller root takes over, and pointers are shortened, until all bonds agree
        low, high = np.minimum(root[a], root[b]), np.maximum(root[a], root[b])
        if np.array_equal(low, high):
            break
        np.minimum.at(root, high, low)
        while not np.array_equal(root, root[root]):
            root = root[root]
    labels = root.reshape(height, width)
    flips = inputs["flip_random"].ravel()[root].reshape(height, width)
    return {
        "labels": labels.astype(np.int32),
        "spins_out": np.where(flips == 1, -spins, spins).astype(np.int8),
        "clusters": np.array([np.count_nonzero(labels == site)], dtype=np.int32),
    }
