import numpy as np


TOLERANCE = {"y": (1e-3, 1e-5)}


def make_inputs(rng, channels, samples, values="noise"):
    x = rng.normal(0.0, 0.5, (channels, samples))
    if values == "bursts":  # silence, then a loud part
        x *= 4.0 * (np.arange(samples) % 200 > 120)
    settings = [0.2, 0.01, 0.3, 4.0]  # attack, release, threshold, ratio
    return {
        "sizes": np.array([channels, samples], dtype=np.int32),
        "x": x.astype(np.float32),
        "settings": np.array(settings, dtype=np.float32),
    }


def reference(inputs):
    x = np.ascontiguousarray(inputs["x"].astype(np.float64).T)
    attack, release, threshold, ratio = inputs["settings"].astype(np.float64)
    level = np.zeros(x.shape[1])
    levels = np.empty(x.shape)
    for t, loudness in enumerate(np.abs(x)):
        level = level + np.where(loudness > level, attack, release) * (loudness - level)
        levels[t] = level
    gain = np.where(levels > threshold, (np.maximum(levels, 1e-30) / threshold) ** (1.0 / ratio - 1.0), 1.0)
    return {"y": np.ascontiguousarray((x * gain).T).astype(np.float32)}
