import numpy as np


TOLERANCE = {"fates": (0, 0), "absorbed_in": (0, 0), "scatterings": (0, 0)}


def make_inputs(rng, photons, layers, values="hazy"):
    absorb = rng.integers(200, 9000, layers)
    if values == "clear":
        absorb[:] = 0
    return {
        "sizes": np.array([photons, layers], dtype=np.int32),
        "seeds": rng.integers(1, 2**32, photons, dtype=np.uint32),
        "absorb": absorb.astype(np.uint16),
    }


def reference(inputs):
    layers = int(inputs["sizes"][1])
    absorb = inputs["absorb"].astype(np.uint32)
    state = inputs["seeds"].copy()
    count = np.zeros(state.size, dtype=np.int16)
    place = np.zeros(state.size, dtype=np.int32)
    alive = np.arange(state.size)
    fates, absorbed_in = np.zeros(3, dtype=np.int64), np.zeros(layers, dtype=np.int64)
    for _ in range(500):
        if alive.size == 0:
            break
        x, at = state[alive], place[alive]
        for shift in (13, -17, 5):
            x = x ^ (x << np.uint32(shift) if shift > 0 else x >> np.uint32(-shift))
        dies = (x >> np.uint32(16)) < absorb[at]
        absorbed_in += np.bincount(at[dies], minlength=layers)
        fates[2] += np.count_nonzero(dies)
        alive, x, at = alive[~dies], x[~dies], at[~dies]
        count[alive] += 1
        at = at + np.where(x % np.uint32(8) < 5, 1, -1)
        fates[0] += np.count_nonzero(at < 0)
        fates[1] += np.count_nonzero(at >= layers)
        inside = (at >= 0) & (at < layers)
        alive = alive[inside]
        state[alive], place[alive] = x[inside], at[inside]
    return {"fates": fates, "absorbed_in": absorbed_in, "scatterings": count}
