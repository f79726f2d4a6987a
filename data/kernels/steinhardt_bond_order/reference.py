import numpy as np


TOLERANCE = {"q": (1e-5, 1e-5), "bonds": (0, 0)}


def make_inputs(rng, particles, neighbors, values="liquid"):
    side = max(int(np.ceil(particles ** (1.0 / 3.0))), 4)
    box = np.array([1.0, 1.125, 1.25]) * side * (1.0 if values == "crystal" else 1.0625)
    cell = np.stack(np.unravel_index(np.arange(particles), (side, side, side)), axis=1)
    shake = 0.0 if values == "crystal" else 0.15
    position = (cell + 0.5 + rng.normal(0.0, shake, cell.shape)) * box / side % box
    near = np.stack(np.meshgrid(*[[-1, 0, 1]] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    near = near[np.any(near != 0, axis=1)]
    picks = rng.random((particles, len(near))).argsort(axis=1)
    picks = np.pad(picks, ((0, 0), (0, max(neighbors - len(near), 0))), mode="wrap")[:, :neighbors]
    if values == "crystal":
        picks[:500, :6] = [4, 10, 12, 13, 15, 21]  # the six nearest
    site = (cell[:, None] + near[picks]) % side
    found = (site[..., 0] * side + site[..., 1]) * side + site[..., 2]
    found[(found >= particles) | (rng.random(found.shape) < 0.2)] = -1
    if values == "crystal":
        found[:500, 6:] = -1
        found[500:510] = -1
    return {
        "sizes": np.array([particles, neighbors], dtype=np.int32),
        "box": box,
        "position": position.astype(np.float32),
        "list": found.astype(np.int32),
    }


def reference(inputs):
    box, position, neighbors = inputs["box"], inputs["position"].astype(np.float64), inputs["list"]
    valid = neighbors >= 0
    apart = position[np.maximum(neighbors, 0)] - position[:, None]
    apart -= box * np.rint(apart / box)
    length = np.sqrt(np.sum(apart**2, axis=2))
    unit = apart * (valid / np.where(valid, length, 1.0))[..., None]
    cosine = unit @ unit.transpose(0, 2, 1)
    both = (valid[:, :, None] & valid[:, None, :]).astype(np.float64)
    square = cosine * cosine
    four = (35.0 * square - 30.0) * square + 3.0
    six = ((231.0 * square - 315.0) * square + 105.0) * square - 5.0
    bonds = valid.sum(axis=1)
    pairs = np.maximum(bonds, 1) ** 2
    sums = np.stack([np.sum(four * both, axis=(1, 2)) / 8.0, np.sum(six * both, axis=(1, 2)) / 16.0], axis=1)
    q = np.sqrt(np.maximum(sums / pairs[:, None], 0.0))
    return {"q": q.astype(np.float32), "bonds": bonds.astype(np.int32)}
