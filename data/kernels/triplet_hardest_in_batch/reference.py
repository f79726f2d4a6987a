import numpy as np


TOLERANCE = {"loss": (1e-4, 1e-4)}


def make_inputs(rng, items, width, pattern="clusters"):
    classes = max(items // 12, 2)
    labels = rng.integers(-3, classes - 3, items) * 1000
    centres = rng.normal(0.0, 0.2, (classes, width))
    embeddings = centres[labels // 1000 + 3] + rng.normal(0.0, 0.6, (items, width))
    if pattern == "lonely":  # half of the labels occur once, and some items are equal
        labels[::2] = 10**6 + np.arange(labels[::2].size)
        embeddings[1::4] = embeddings[1]
    return {
        "sizes": np.array([items, width], dtype=np.int32),
        "embeddings": embeddings.astype(np.float32),
        "labels": labels.astype(np.int32),
    }


def reference(inputs):
    rows, labels = inputs["embeddings"].astype(np.float64), inputs["labels"]
    loss = np.zeros(labels.size)
    for i in range(labels.size):
        distance = np.sqrt(((rows - rows[i]) ** 2).sum(axis=1))
        same = labels == labels[i]
        other = ~same
        same[i] = False
        if same.any() and other.any():
            loss[i] = max(0.0, distance[same].max() - distance[other].min() + 0.5)
    return {"loss": loss.astype(np.float32)}
