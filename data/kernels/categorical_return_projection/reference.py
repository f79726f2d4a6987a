import numpy as np


TOLERANCE = {"loss": (1e-4, 1e-4), "grad": (1e-3, 1e-5)}


def make_inputs(rng, samples, atoms, pattern="normal"):
    # One sample in eight is the end of an episode: discount 0.
    support = np.array([-10.0, 10.0])
    rewards = np.round(rng.normal(0.0, 4.0, samples) * 8) / 8
    discounts = np.where(rng.random(samples) < 0.125, 0.0, 0.96875)
    probs = rng.gamma(0.5, 1.0, (samples, atoms)) + 1e-6
    logits = rng.normal(0.0, 2.0, (samples, atoms))
    if pattern == "edges":  # returns on atoms, on both ends and beyond them
        rewards = rng.choice([-40.0, -10.0, 0.0, 10.0, 40.0], samples)
        discounts = rng.choice([0.0, 0.5, 1.0], samples)
        logits *= 20.0
    return {
        "sizes": np.array([samples, atoms], dtype=np.int32),
        "support": support.astype(np.float32),
        "rewards": rewards.astype(np.float32),
        "discounts": discounts.astype(np.float32),
        "next_probs": (probs / probs.sum(axis=1, keepdims=True)).astype(np.float32),
        "logits": logits.astype(np.float32),
    }


def reference(inputs):
    low, high = inputs["support"].astype(np.float64)
    probs = inputs["next_probs"].astype(np.float64)
    samples, atoms = probs.shape
    returns = inputs["rewards"].astype(np.float64)[:, None] + inputs["discounts"].astype(np.float64)[
        :, None
    ] * np.linspace(low, high, atoms)
    place = (np.clip(returns, low, high) - low) / (high - low) * (atoms - 1)
    left = np.minimum(np.floor(place).astype(np.int64), atoms - 2)
    share = place - left
    at = np.arange(samples)[:, None] * atoms + left
    target = np.bincount(at.ravel(), (probs * (1 - share)).ravel(), samples * atoms)
    target += np.bincount(at.ravel() + 1, (probs * share).ravel(), samples * atoms)
    target = target.reshape(samples, atoms)
    shifted = inputs["logits"].astype(np.float64)
    shifted -= shifted.max(axis=1, keepdims=True)
    log_probs = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    loss = -(target * log_probs).sum(axis=1)
    grad = np.exp(log_probs) * target.sum(axis=1, keepdims=True) - target
    return {"loss": loss.astype(np.float32), "grad": grad.astype(np.float32)}
