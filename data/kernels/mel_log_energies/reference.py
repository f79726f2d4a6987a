import numpy as np


TOLERANCE = {"energy": (1e-4, 1e-4)}


def make_inputs(rng, frames, bins, mels, entries, values="noise"):
    # A filter is a run of neighbouring bins; lengths add up to entries, none is longer than bins, some are empty.
    lengths = np.zeros(mels, dtype=np.int64)
    share = rng.uniform(0.2, 1.0, mels)
    share[rng.random(mels) < 0.1] = 0.0
    share[-1] = 1.0
    lengths = np.minimum((entries * share / share.sum()).astype(np.int64), bins)
    while lengths.sum() < entries:
        short = np.flatnonzero((lengths < bins) & (share > 0.0))
        lengths[short[: entries - lengths.sum()]] += 1
    starts = (rng.random(mels) * (bins - lengths + 1)).astype(np.int64)
    power = rng.gamma(0.5, 40.0, (frames, bins))
    if values == "silence":  # sums below the floor
        power[::2] = 0.0
        power[1::4] *= 1e-14
    return {
        "sizes": np.array([frames, bins, mels, entries], dtype=np.int32),
        "power": power.astype(np.float32),
        "starts": starts.astype(np.int32),
        "offsets": np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32),
        "weights": rng.uniform(0.01, 1.0, entries).astype(np.float32),
    }


def reference(inputs):
    power, offsets = inputs["power"].astype(np.float64), inputs["offsets"]
    energy = np.empty((len(power), len(inputs["starts"])))
    for m, start in enumerate(inputs["starts"]):
        weights = inputs["weights"][offsets[m] : offsets[m + 1]].astype(np.float64)
        energy[:, m] = power[:, start : start + len(weights)] @ weights
    return {"energy": np.log(np.maximum(energy, 1e-10)).astype(np.float32)}
