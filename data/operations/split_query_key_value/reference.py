import numpy as np


# One addition and one multiplication in float32.
TOLERANCE = {"query": (1e-5, 1e-6), "key": (1e-5, 1e-6), "value": (1e-5, 1e-6)}


def make_inputs(rng, batch, tokens, heads, head_dim):
    return {
        "fused": rng.normal(0, 1, (batch, tokens, 3, heads, head_dim)).astype(np.float32),
        "bias": rng.normal(0, 0.5, (3, heads, head_dim)).astype(np.float32),
    }


def reference(inputs):
    parts = (inputs["fused"].astype(np.float64) + inputs["bias"]).transpose(2, 0, 3, 1, 4)
    q = parts[0] / np.sqrt(parts.shape[-1])
    return {"query": q.astype(np.float32), "key": parts[1].astype(np.float32), "value": parts[2].astype(np.float32)}
