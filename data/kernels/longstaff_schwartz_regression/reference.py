import numpy as np


TOLERANCE = {"coefficients": (1e-6, 1e-7), "cashflows": (1e-9, 1e-9), "value": (1e-9, 1e-9)}


def make_inputs(rng, paths, dates, values="around"):
    strike, rate, dt = 100.0, 0.06, 1.0 / dates
    logs = np.cumsum((rate - 0.02) * dt + 0.2 * np.sqrt(dt) * rng.normal(size=(dates, paths)), axis=0)
    prices = (60.0 if values == "deep" else 98.0) * np.exp(logs)
    if values == "around":  # one date on which nobody can exercise
        prices[dates // 2] += 200.0
    return {
        "sizes": np.array([paths, dates], dtype=np.int32),
        "prices": prices.astype(np.float32),
        "terms": np.array([strike, rate, dt]),
    }


def reference(inputs):
    prices = inputs["prices"].astype(np.float64)
    strike, rate, dt = inputs["terms"]
    dates = len(prices)
    discount = np.exp(-rate * dt)
    cash = np.maximum(strike - prices[-1], 0.0)
    coefficients = np.zeros((dates - 1, 3))
    for date in range(dates - 2, -1, -1):
        cash = cash * discount
        inside = prices[date] < strike
        if np.count_nonzero(inside) < 3:
            continue
        x = prices[date, inside] / strike - 1.0
        basis = np.stack([np.ones_like(x), x, x**2], axis=1)
        solution = np.linalg.solve(basis.T @ basis, basis.T @ cash[inside])
        coefficients[date] = solution
        exercise = strike - prices[date, inside]
        cash[inside] = np.where(exercise > basis @ solution, exercise, cash[inside])
    return {"coefficients": coefficients, "cashflows": cash, "value": np.array([cash.mean() * discount])}
