import numpy as np


TOLERANCE = {"loss": (1e-4, 1e-4)}


def make_inputs(rng, samples, pattern="normal"):
    time = rng.exponential(400.0, samples).astype(np.int64)
    score = rng.normal(0.0, 1.5, samples)
    if pattern == "ties":  # ten times in all, and scores whose exponentials overflow or vanish
        time = rng.integers(0, 10, samples)
        score = rng.choice([-180.0, -20.0, 0.0, 150.0, 180.0], samples) + 5.0 * time
        score = np.clip(score, -200.0, 200.0)
    return {
        "sizes": np.array([samples], dtype=np.int32),
        "time": time.astype(np.int32),
        "event": (rng.random(samples) < 0.6).astype(np.uint8),
        "score": score.astype(np.float32),
    }


def reference(inputs):
    time, score = inputs["time"], inputs["score"].astype(np.float64)
    order = np.argsort(-time.astype(np.int64), kind="stable")
    prefix = np.logaddexp.accumulate(score[order])
    ends = np.searchsorted(-time[order].astype(np.int64), -time.astype(np.int64), side="right") - 1
    return {"loss": np.where(inputs["event"] == 1, prefix[ends] - score, 0.0).astype(np.float32)}
