import numpy as np


TOLERANCE = {"shrunk": (1e-6, 1e-7), "kept": (0, 0)}


def make_inputs(rng, rows, base, levels, values="noise"):
    w = rng.standard_t(3, (rows, base * 256))
    thresholds = rng.uniform(0.2, 2.0, (rows, 8))
    if values == "ties":  # coefficients at the threshold, and a threshold of 0
        w = rng.choice([-1.5, -0.5, 0.0, 0.5, 1.5], (rows, base * 256))
        thresholds = rng.choice([0.0, 0.5, 1.5], (rows, 8))
    return {
        "sizes": np.array([rows, base, levels], dtype=np.int32),
        "w": w.astype(np.float32),
        "thresholds": thresholds.astype(np.float32),
    }


def reference(inputs):
    levels = int(inputs["sizes"][2])
    w = inputs["w"].astype(np.float64)
    shrunk, kept = w.copy(), np.zeros((len(w), 8), dtype=np.int32)
    for level in range(1, levels + 1):
        end = w.shape[1] >> (level - 1)
        band = w[:, end // 2 : end]
        limit = inputs["thresholds"][:, level - 1 : level].astype(np.float64)
        shrunk[:, end // 2 : end] = np.sign(band) * np.maximum(np.abs(band) - limit, 0.0)
        kept[:, level - 1] = np.count_nonzero(np.abs(band) > limit, axis=1)
    return {"shrunk": shrunk.astype(np.float32), "kept": kept}
