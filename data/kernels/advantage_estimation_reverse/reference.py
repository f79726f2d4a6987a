import numpy as np


TOLERANCE = {"advantages": (1e-4, 1e-4), "returns": (1e-4, 1e-4)}


def make_inputs(rng, envs, steps, pattern="episodes"):
    done = rng.random((envs, steps)) < 0.02
    rewards = rng.normal(0.1, 1.0, (envs, steps))
    if pattern == "endless":  # nothing ends, but one row ends at every step
        done[:] = False
        done[0] = True
    return {
        "sizes": np.array([envs, steps], dtype=np.int32),
        "rewards": rewards.astype(np.float32),
        "values": rng.normal(1.0, 2.0, (envs, steps + 1)).astype(np.float32),
        "done": done.astype(np.uint8),
    }


def reference(inputs):
    values = inputs["values"].astype(np.float64)
    goes_on = 1.0 - inputs["done"]
    delta = inputs["rewards"] + 0.99 * goes_on * values[:, 1:] - values[:, :-1]
    advantages = np.zeros_like(delta)
    later = np.zeros(delta.shape[0])
    for t in range(delta.shape[1] - 1, -1, -1):
        later = delta[:, t] + 0.99 * 0.95 * goes_on[:, t] * later
        advantages[:, t] = later
    return {"advantages": advantages.astype(np.float32), "returns": (advantages + values[:, :-1]).astype(np.float32)}
