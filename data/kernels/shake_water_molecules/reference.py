import numpy as np


TOLERANCE = {"position": (1e-5, 1e-5), "multiplier": (1e-3, 1e-5)}
LENGTHS = {(0, 1): 0.9572, (0, 2): 0.9572, (1, 2): 1.5139}
MASSES = (15.9994, 1.008, 1.008)


def make_inputs(rng, molecules, rounds, values="thermal"):
    half = np.arcsin(0.5 * 1.5139 / 0.9572)
    arms = 0.9572 * np.array([[0.0, 0.0, 0.0], [np.sin(half), np.cos(half), 0.0], [-np.sin(half), np.cos(half), 0.0]])
    q = rng.normal(size=(molecules, 4))
    w, x, y, z = (q / np.linalg.norm(q, axis=1, keepdims=True)).T
    turn = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    before = np.einsum("abm,kb->mka", turn, arms) + rng.uniform(-12.0, 12.0, (molecules, 1, 3))
    moved = before + rng.normal(0.0, 0.08 if values == "strong" else 0.03, before.shape)
    return {
        "sizes": np.array([molecules, rounds], dtype=np.int32),
        "before": before.astype(np.float32),
        "moved": moved.astype(np.float32),
    }


def reference(inputs):
    rounds = int(inputs["sizes"][1])
    before, position = inputs["before"].astype(np.float64), inputs["moved"].astype(np.float64)
    multiplier = np.zeros((len(before), 3))
    for _ in range(rounds):
        for number, ((i, j), length) in enumerate(LENGTHS.items()):
            old, now = before[:, i] - before[:, j], position[:, i] - position[:, j]
            inverse = 1.0 / MASSES[i] + 1.0 / MASSES[j]
            g = (length**2 - np.sum(now * now, axis=1)) / (2.0 * inverse * np.sum(now * old, axis=1))
            position[:, i] += (g / MASSES[i])[:, None] * old
            position[:, j] -= (g / MASSES[j])[:, None] * old
            multiplier[:, number] += g
    return {"position": position.astype(np.float32), "multiplier": multiplier.astype(np.float32)}
