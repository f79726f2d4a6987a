import numpy as np


TOLERANCE = {"side": (0, 0), "largest": (0, 0)}


def make_inputs(rng, masks, height, width, values="holes"):
    mask = rng.integers(1, 256, (masks, height, width))  # any value but zero is set
    share = 10.0 ** rng.uniform(-3.3, -0.5, (masks, 1, 1))
    mask[rng.random(mask.shape) < share] = 0
    if values == "full":  # nothing set, everything set, one cell, a full part beside an empty one
        mask[::2] = 0
        mask[1] = 255
        mask[2, height // 2, width // 2] = 1
        mask[4, 20:, width // 2 :] = 2
    return {
        "sizes": np.array([masks, height, width], dtype=np.int32),
        "mask": mask.astype(np.uint8),
    }


def reference(inputs):
    # corners[k] says where a square of side k + 1 ends: four overlapping squares of one side make one of the next.
    corners = inputs["mask"] != 0
    side = corners.astype(np.uint16)
    while corners.any():
        larger = np.zeros_like(corners)
        larger[:, 1:, 1:] = corners[:, 1:, 1:] & corners[:, :-1, 1:] & corners[:, 1:, :-1] & corners[:, :-1, :-1]
        corners = larger
        side += corners
    flat = side.reshape(len(side), -1)
    place = flat.argmax(axis=1)
    most = flat.max(axis=1).astype(np.int64)
    row, column = np.divmod(place, side.shape[2])
    largest = np.stack([most, np.where(most > 0, row, -1), np.where(most > 0, column, -1)], axis=1)
    return {"side": side, "largest": largest.astype(np.int32)}
