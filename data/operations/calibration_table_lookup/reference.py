import numpy as np


# The fraction within an interval is good to about 1e-5 (nodes at least 0.05 apart, size below 100); slopes up to 60.
TOLERANCE = {"corrected": (1e-5, 3e-4)}


def make_inputs(rng, n, nodes):
    node = np.cumsum(rng.uniform(0.05, 0.6, nodes))
    node -= node.mean()
    span = node[-1] - node[0]
    return {
        "raw": rng.uniform(node[0] - 0.05 * span, node[-1] + 0.05 * span, n).astype(np.float32),
        "node": node.astype(np.float32),
        "value": rng.normal(0.0, 1.0, nodes).astype(np.float32),
    }


def reference(inputs):
    raw, node, value = (inputs[k].astype(np.float64) for k in ("raw", "node", "value"))
    return {"corrected": np.interp(raw, node, value).astype(np.float32)}
