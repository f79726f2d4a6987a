import numpy as np


TOLERANCE = {"reachable": (0, 0), "closest": (0, 0)}


def make_inputs(rng, sets, items, target, values="mixed"):
    # Some sets reach little, others nearly everything; weights beyond the target never fit.
    scale = target * 2.0 ** rng.uniform(-5.0, 0.3, (sets, 1))
    weights = 1 + rng.uniform(0.0, 1.0, (sets, items)) * scale
    if values == "edges":  # whole words, the target itself, one more, ones, and nothing that fits
        weights = rng.choice([1, 31, 32, 33, 64, 96, 128, target, target + 1, 2147483647], (sets, items))
        weights[::4] = 32
        weights[1::4] = target + 1
        weights[3::4] = rng.integers(60, 200, weights[3::4].shape)
    return {
        "sizes": np.array([sets, items, target], dtype=np.int32),
        "weights": np.maximum(weights, 1).astype(np.int32),
    }


def reference(inputs):
    sets, _, target = inputs["sizes"].tolist()
    words = target // 32 + 1
    everything = (1 << (target + 1)) - 1
    reachable = np.zeros((sets, words), dtype=np.uint32)
    closest = np.zeros(sets, dtype=np.int32)
    for row, weights in enumerate(inputs["weights"].tolist()):
        bits = 1  # one long number: bit s says whether s can be reached
        for weight in weights:
            if weight <= target:
                bits |= bits << weight & everything
        reachable[row] = np.frombuffer(bits.to_bytes(4 * words, "little"), dtype="<u4")
        closest[row] = bits.bit_length() - 1
    return {"reachable": reachable, "closest": closest}
