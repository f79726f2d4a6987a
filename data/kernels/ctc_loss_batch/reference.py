import numpy as np


TOLERANCE = {"loss": (1e-4, 1e-3)}


def make_inputs(rng, frames, batch, classes, labels, pattern="random"):
    logits = rng.normal(0.0, 2.0, (frames, batch, classes))
    log_probs = logits - np.log(np.exp(logits).sum(axis=2, keepdims=True))
    targets = rng.integers(1, classes, (batch, labels))
    if pattern == "repeats":  # every label is the same as the one before
        targets[:] = 1
    repeats = np.concatenate([np.zeros((batch, 1), int), np.cumsum(targets[:, 1:] == targets[:, :-1], axis=1)], axis=1)
    needed = np.arange(1, labels + 1) + repeats  # frames that 1, 2, ... labels need
    frame_count = rng.integers((frames + 1) // 2, frames + 1, batch)
    possible = (needed <= frame_count[:, None]).sum(axis=1)
    label_count = rng.integers(possible // 2, possible + 1)
    label_count[0] = 0
    label_count[-1] = possible[-1]
    return {
        "sizes": np.array([frames, batch, classes, labels], dtype=np.int32),
        "log_probs": log_probs.astype(np.float32),
        "targets": targets.astype(np.int32),
        "frame_count": frame_count.astype(np.int32),
        "label_count": label_count.astype(np.int32),
    }


def reference(inputs):
    log_probs, targets = inputs["log_probs"].astype(np.float64), inputs["targets"]
    frames, batch, _ = log_probs.shape
    states = 2 * targets.shape[1] + 1
    classes = np.zeros((batch, states), dtype=np.int64)
    classes[:, 1::2] = targets
    skip = np.zeros((batch, states), dtype=bool)
    skip[:, 3::2] = targets[:, 1:] != targets[:, :-1]
    emitted = np.take_along_axis(log_probs, classes[None], axis=2)
    alpha = np.full((batch, states), -np.inf)
    alpha[:, :2] = emitted[0, :, :2]
    rows, last = np.arange(batch), 2 * inputs["label_count"]
    loss = np.zeros(batch)
    for t in range(frames):
        if t > 0:
            back1 = np.concatenate([np.full((batch, 1), -np.inf), alpha[:, :-1]], axis=1)
            back2 = np.concatenate([np.full((batch, 2), -np.inf), alpha[:, :-2]], axis=1)
            back2[~skip] = -np.inf
            alpha = emitted[t] + np.logaddexp(np.logaddexp(alpha, back1), back2)
        ends = np.where(last > 0, alpha[rows, last - 1], -np.inf)
        total = np.logaddexp(alpha[rows, last], ends)
        loss = np.where(inputs["frame_count"] == t + 1, -total, loss)
    return {"loss": loss.astype(np.float32)}
