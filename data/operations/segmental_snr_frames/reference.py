import numpy as np


# Sums of 160 positive float32 terms: about 1e-5 relative, or 1e-4 dB; the mean of up to 500 values below 35.
TOLERANCE = {"snr": (1e-5, 1e-3), "mean_snr": (1e-4, 1e-3)}


def make_inputs(rng, clips, frames):
    shape = (clips, frames, 160)
    clean = rng.normal(0, 1, shape) * 10.0 ** rng.uniform(-2, 0, (clips, frames, 1))
    clean[rng.random((clips, frames)) < 0.05] = 0.0
    noise = rng.normal(0, 1, shape) * 10.0 ** rng.uniform(-2.6, 0, (clips, frames, 1))
    noise[rng.random((clips, frames)) < 0.05] = 0.0
    clean = clean.astype(np.float32)
    return {"clean": clean, "degraded": clean + noise.astype(np.float32)}


def reference(inputs):
    c = inputs["clean"].astype(np.float64)
    n = c - inputs["degraded"].astype(np.float64)
    snr = 10 * np.log10(((c * c).sum(axis=2) + 1e-6) / ((n * n).sum(axis=2) + 1e-6))
    snr = np.clip(snr, -10, 35)
    return {"snr": snr.astype(np.float32), "mean_snr": snr.mean(axis=1).astype(np.float32)}
