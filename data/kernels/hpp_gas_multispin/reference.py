import numpy as np


TOLERANCE = {"final": (0, 0), "flow": (0, 0)}


def pack(cells):
    return np.packbits(cells, axis=-1, bitorder="little").view("<u4").astype(np.uint32)


def make_inputs(rng, height, words, steps, values="wind"):
    shape = (height, 32 * words)
    wall = rng.random(shape) < 0.03
    wall[height // 3, : 8 * words] = True
    density = np.array([0.4, 0.2, 0.1, 0.2]) if values == "wind" else np.array([0.9, 0.8, 0.7, 0.8])
    gas = rng.random((4, *shape)) < density[:, None, None]
    return {
        "sizes": np.array([height, words, steps], dtype=np.int32),
        "wall": pack(wall),
        "gas": pack(gas),
    }


def unpack(words):
    return np.unpackbits(words.astype("<u4").view(np.uint8), axis=-1, bitorder="little").astype(bool)


def reference(inputs):
    steps = int(inputs["sizes"][2])
    wall = unpack(inputs["wall"])
    east, north, west, south = unpack(inputs["gas"])
    flow = np.empty(steps, dtype=np.int32)
    for step in range(steps):
        head_on = ~wall & ((east & west & ~north & ~south) | (north & south & ~east & ~west))
        east, north, west, south = (
            np.where(wall, west, east ^ head_on),
            np.where(wall, south, north ^ head_on),
            np.where(wall, east, west ^ head_on),
            np.where(wall, north, south ^ head_on),
        )
        east, west = np.roll(east, 1, axis=1), np.roll(west, -1, axis=1)
        north, south = np.roll(north, -1, axis=0), np.roll(south, 1, axis=0)
        flow[step] = int(east.sum()) - int(west.sum())
    return {"final": pack(np.stack([east, north, west, south])), "flow": flow}
