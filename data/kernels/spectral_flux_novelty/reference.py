import numpy as np


TOLERANCE = {"flux": (1e-4, 1e-4), "novelty": (1e-4, 2e-3)}


def make_inputs(rng, tracks, frames, bins, reach):
    decay = np.full((tracks, 1, bins), 1.0)
    spectrum = np.empty((tracks, frames, bins))
    for t in range(frames):
        struck = (rng.random((tracks, 1, 1)) < 0.08) * rng.exponential(2.0, (tracks, 1, bins))
        decay = 0.9 * decay + struck
        spectrum[:, t : t + 1] = decay
    spectrum *= rng.uniform(0.95, 1.05, spectrum.shape)
    sizes = np.array([tracks, frames, bins, reach], dtype=np.int32)
    return {"sizes": sizes, "spectrum": spectrum.astype(np.float16)}


def reference(inputs):
    reach = int(inputs["sizes"][3])
    spectrum = inputs["spectrum"].astype(np.float64)
    tracks, frames, _ = spectrum.shape
    flux = np.zeros((tracks, frames))
    flux[:, 1:] = np.maximum(spectrum[:, 1:] - spectrum[:, :-1], 0.0).sum(axis=2)
    mean = np.stack([flux[:, max(t - reach, 0) : t + reach + 1].mean(axis=1) for t in range(frames)], axis=1)
    novelty = np.maximum(flux - mean, 0.0)
    return {"flux": flux.astype(np.float32), "novelty": novelty.astype(np.float32)}
