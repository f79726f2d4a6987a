import numpy as np


# Double precision throughout; some hundred roundings, and a little cancellation near the end of a loan.
TOLERANCE = {"balance": (1e-9, 1e-5), "interest_paid": (1e-9, 1e-5), "payoff_month": (0, 0)}


def make_inputs(rng, loans, months):
    principal = np.round(rng.uniform(5e3, 4e5, loans), 2)
    payment = np.round(principal / (months * rng.uniform(0.4, 1.6, loans)) + principal * 0.0015, 2)
    walk = 0.035 + np.cumsum(rng.normal(0, 0.0015, (months, loans)), axis=0)
    return {"principal": principal, "payment": payment, "annual_rate": np.clip(walk, 0.0, 0.12).astype(np.float32)}


def reference(inputs):
    b, pay = inputs["principal"].copy(), inputs["payment"]
    rates = inputs["annual_rate"].astype(np.float64)
    balance, total, month = np.empty(rates.shape), np.zeros(len(b)), np.zeros(len(b), np.int32)
    for t, rate in enumerate(rates):
        interest = b * rate / 12
        total += interest
        owed = b + interest
        done = owed <= pay
        month[done & (b > 0)] = t + 1
        b = np.where(done, 0.0, owed - pay)
        balance[t] = b
    return {"balance": balance, "interest_paid": total, "payoff_month": month}
