import numpy as np


TOLERANCE = {"score": (0, 0), "path": (0, 0)}


def make_inputs(rng, sequences, steps, states, symbols, values="random"):
    limit = 4 if values == "ties" else 10000  # few different scores: predecessors are often equally good
    return {
        "sizes": np.array([sequences, steps, states, symbols], dtype=np.int32),
        "start": rng.integers(-limit, 1, states).astype(np.int32),
        "transition": rng.integers(-limit, 1, (states, states)).astype(np.int32),
        "emission": rng.integers(-limit, 1, (states, symbols)).astype(np.int32),
        "observed": rng.integers(0, symbols, (sequences, steps)).astype(np.uint8),
    }


def reference(inputs):
    transition = inputs["transition"].astype(np.int64)
    emitted = inputs["emission"].astype(np.int64).T[inputs["observed"]]  # [sequence, step, state]
    sequences, steps, _ = emitted.shape
    best = inputs["start"] + emitted[:, 0]
    back = []
    for t in range(1, steps):
        reached = best[:, :, None] + transition
        back.append(reached.argmax(axis=1))  # the first of equals
        best = reached.max(axis=1) + emitted[:, t]
    path = np.zeros((sequences, steps), dtype=np.uint8)
    state = best.argmax(axis=1)
    path[:, -1] = state
    for t in range(steps - 1, 0, -1):
        state = np.take_along_axis(back[t - 1], state[:, None], axis=1)[:, 0]
        path[:, t - 1] = state
    return {"score": best.max(axis=1).astype(np.int32), "path": path}
