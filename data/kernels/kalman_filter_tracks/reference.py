import numpy as np


TOLERANCE = {"states": (1e-4, 1e-4), "variances": (1e-4, 1e-4)}


def make_inputs(rng, steps, tracks, values="moving"):
    dt = 0.5
    F = np.eye(4)
    F[0, 2] = F[1, 3] = dt
    Q = np.diag([0.01, 0.02, 0.05, 0.08])
    P0 = np.diag([4.0, 3.0, 2.0, 1.0])
    R = np.array([[0.5, 0.0], [0.0, 0.8]])
    seen = rng.random((steps, tracks)) < 0.85
    if values == "gaps":  # turning tracks, correlated noise, long runs without a measurement, tracks never seen
        F[2:, 2:] = [[0.96, -0.28], [0.28, 0.96]]
        P0[0, 3] = P0[3, 0] = 0.75
        R = np.array([[0.5, -0.3], [-0.3, 0.4]])
        seen[steps // 4 : steps // 2] = False
        seen[:, ::7] = False
        seen[:, 1::7] = True
    start = rng.normal(0.0, 2.0, (4, tracks))
    true = start + np.sqrt(np.diag(P0))[:, None] * rng.normal(size=(4, tracks))
    measured = np.empty((steps, 2, tracks))
    for z in measured:
        true = F @ true + np.sqrt(np.diag(Q))[:, None] * rng.normal(size=(4, tracks))
        z[...] = true[:2] + np.sqrt(np.diag(R))[:, None] * rng.normal(size=(2, tracks))
    measured = np.where(seen[:, None, :], measured, 1.0e6)
    # seen counts as true with every value but 0
    marks = np.where(seen, rng.choice(np.array([1, 2, 128, 255]), seen.shape), 0)
    return {
        "sizes": np.array([steps, tracks], dtype=np.int32),
        "model": np.concatenate([F.ravel(), Q.ravel(), P0.ravel(), R.ravel()]).astype(np.float32),
        "start": start.astype(np.float32),
        "measured": measured.astype(np.float32),
        "seen": marks.astype(np.uint8),
    }


def reference(inputs):
    model = inputs["model"].astype(np.float64)
    F, Q, P0 = model[:48].reshape(3, 4, 4)
    R = model[48:].reshape(2, 2)
    x = inputs["start"].astype(np.float64)
    tracks = x.shape[1]
    P = np.repeat(P0[:, :, None], tracks, axis=2)  # [4, 4, tracks]
    through = np.kron(F, F)  # F P F^T as one product, P by rows
    states = np.empty((len(inputs["seen"]), 4, tracks), dtype=np.float32)
    for step, seen in enumerate(inputs["seen"] != 0):
        x = F @ x
        P = (through @ P.reshape(16, tracks)).reshape(4, 4, tracks) + Q[:, :, None]
        (a, b), (c, d) = P[:2, :2] + R[:, :, None]
        adjugate = np.array([[d, -b], [-c, a]]) / (a * d - b * c)
        gain = P[:, 0, None] * adjugate[0] + P[:, 1, None] * adjugate[1]  # [4, 2, tracks]
        gain *= seen
        innovation = inputs["measured"][step] - x[:2]
        x = x + gain[:, 0] * innovation[0] + gain[:, 1] * innovation[1]
        P = P - gain[:, 0, None] * P[0] - gain[:, 1, None] * P[1]
        states[step] = x
    return {"states": states, "variances": np.einsum("iit->it", P).astype(np.float32)}
