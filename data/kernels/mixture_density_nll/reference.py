import numpy as np


TOLERANCE = {"loss": (1e-4, 1e-3)}


def make_inputs(rng, samples, components, width, pattern="near"):
    means = rng.normal(0.0, 2.0, (samples, components, width))
    owner = rng.integers(0, components, samples)
    noise = 0.7 if pattern == "near" else 900.0  # far: every density underflows
    targets = means[np.arange(samples), owner] + rng.normal(0.0, noise, (samples, width))
    return {
        "sizes": np.array([samples, components, width], dtype=np.int32),
        "logits": rng.normal(0.0, 3.0, (samples, components)).astype(np.float32),
        "means": means.astype(np.float32),
        "log_scales": rng.uniform(-1.0, 0.5, (samples, components)).astype(np.float32),
        "targets": targets.astype(np.float32),
    }


def log_sum_exp(values):
    top = values.max(axis=1, keepdims=True)
    return top[:, 0] + np.log(np.exp(values - top).sum(axis=1))


def reference(inputs):
    logits, log_scales = inputs["logits"].astype(np.float64), inputs["log_scales"].astype(np.float64)
    width = inputs["targets"].shape[1]
    distance = ((inputs["targets"].astype(np.float64)[:, None] - inputs["means"]) ** 2).sum(axis=2)
    density = -distance / (2 * np.exp(2 * log_scales)) - width * (log_scales + 0.5 * np.log(2 * np.pi))
    return {"loss": (log_sum_exp(logits) - log_sum_exp(logits + density)).astype(np.float32)}
