import numpy as np


TOLERANCE = {"loss": (1e-4, 1e-6), "grad": (1e-5, 1e-9)}


def make_inputs(rng, samples, quantiles, pattern="normal"):
    # Values on a grid of 1/256, so that which side of the target a prediction is on does not hang on rounding.
    targets = np.round(rng.normal(10.0, 5.0, samples) * 256) / 256
    levels = np.sort(rng.uniform(0.02, 0.98, quantiles))
    spread = np.sort(rng.normal(0.0, 3.0, quantiles))
    predictions = np.round((targets[:, None] + spread + rng.normal(0.0, 2.0, (samples, quantiles))) * 256) / 256
    if pattern == "exact":  # every third prediction is the target
        predictions[::3] = targets[::3, None]
    return {
        "sizes": np.array([samples, quantiles], dtype=np.int32),
        "predictions": predictions.astype(np.float32),
        "targets": targets.astype(np.float32),
        "levels": levels.astype(np.float32),
    }


def reference(inputs):
    t = inputs["levels"].astype(np.float64)
    error = inputs["targets"].astype(np.float64)[:, None] - inputs["predictions"]
    slope = np.where(error > 0, -t, np.where(error < 0, 1.0 - t, 0.0))
    return {
        "loss": np.maximum(t * error, (t - 1.0) * error).mean(axis=0).astype(np.float32),
        "grad": (slope / error.shape[0]).astype(np.float32),
    }
