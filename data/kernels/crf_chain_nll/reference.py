import numpy as np


TOLERANCE = {"log_partition": (1e-5, 1e-3), "nll": (1e-4, 1e-3)}


def make_inputs(rng, sequences, steps, tags, pattern="normal"):
    lengths = rng.integers(1, steps + 1, sequences)
    lengths[0] = steps
    emissions = rng.normal(0.0, 1.5, (sequences, steps, tags))
    transitions = rng.normal(0.0, 1.0, (tags, tags))
    gold = rng.integers(0, tags, (sequences, steps))
    if pattern == "extreme":  # almost forbidden transitions, very sure emissions, sequences of one step
        transitions[rng.random((tags, tags)) < 0.4] = -20.0
        emissions[::3] = np.where(rng.random(emissions[::3].shape) < 0.5, 20.0, -20.0)
        lengths[::5] = 1
    gold[np.arange(steps) >= lengths[:, None]] = -1
    return {
        "sizes": np.array([sequences, steps, tags], dtype=np.int32),
        "lengths": lengths.astype(np.int32),
        "emissions": emissions.astype(np.float32),
        "transitions": transitions.astype(np.float32),
        "borders": rng.normal(0.0, 1.0, (2, tags)).astype(np.float32),
        "gold": gold.astype(np.int32),
    }


def log_sum_exp(values, axis):
    top = values.max(axis=axis, keepdims=True)
    return np.log(np.exp(values - top).sum(axis=axis)) + top.squeeze(axis)


def reference(inputs):
    lengths, gold = inputs["lengths"], inputs["gold"]
    emissions = inputs["emissions"].astype(np.float64)
    transitions = inputs["transitions"].astype(np.float64)
    begin, end = inputs["borders"].astype(np.float64)
    sequences, steps, _ = emissions.shape
    rows = np.arange(sequences)
    alpha = begin + emissions[:, 0]
    score = begin[gold[:, 0]] + emissions[rows, 0, gold[:, 0]]
    for t in range(1, steps):
        on = np.flatnonzero(lengths > t)
        alpha[on] = log_sum_exp(alpha[on][:, :, None] + transitions, 1) + emissions[on, t]
        score[on] += transitions[gold[on, t - 1], gold[on, t]] + emissions[on, t, gold[on, t]]
    score += end[gold[rows, lengths - 1]]
    partition = log_sum_exp(alpha + end, 1)
    return {"log_partition": partition.astype(np.float32), "nll": (partition - score).astype(np.float32)}
