import numpy as np


# Float32 sums of some ten thousand terms in any order, divided by their number.
TOLERANCE = {"means": (2e-4, 2e-4), "counts": (0, 0)}


def make_inputs(rng, n, dims, groups):
    label = np.minimum(rng.gamma(1.0, groups / 4.0, n).astype(np.int64), groups) - 1
    label[label == groups // 2] = -1
    label[label == 3] = 4
    x = rng.standard_normal((n, dims)) + np.sin(label[:, None] * 1.7 + np.arange(dims)) * 2.0
    x[label < 0] += 50.0
    old = rng.standard_normal((groups, dims)) * 3.0
    return {"x": x.astype(np.float32), "label": label.astype(np.int32), "old": old.astype(np.float32)}


def reference(inputs):
    x, label = inputs["x"].astype(np.float64), inputs["label"]
    groups = len(inputs["old"])
    keep = label >= 0
    counts = np.bincount(label[keep], minlength=groups)
    sums = np.stack(
        [np.bincount(label[keep], weights=x[keep, d], minlength=groups) for d in range(x.shape[1])], axis=1
    )
    means = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], inputs["old"])
    return {"means": means.astype(np.float32), "counts": counts.astype(np.int32)}
