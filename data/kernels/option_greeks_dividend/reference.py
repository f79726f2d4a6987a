import math

import numpy as np


TOLERANCE = {"prices": (1e-4, 2e-3), "greeks": (1e-3, 1e-3)}


def make_inputs(rng, options, values="alive"):
    spot = rng.uniform(20.0, 200.0, options)
    strike = spot * rng.uniform(0.6, 1.6, options)
    maturity = rng.uniform(0.1, 3.0, options)
    if values == "expired":  # a third has no time left, none of them at the money
        maturity[::3] = 0.0
        strike[::6] = spot[::6] - 7.0
        strike[3::6] = spot[3::6] + 9.0
    rate, dividend = rng.uniform(-0.01, 0.08, options), rng.uniform(0.0, 0.05, options)
    volatility = rng.uniform(0.1, 0.7, options)
    rows = [spot, strike, rate, dividend, volatility, maturity]
    return {"sizes": np.array([options], dtype=np.int32), "contracts": np.stack(rows).astype(np.float32)}


def normal_cdf(x):
    return np.array([0.5 * math.erfc(-value / math.sqrt(2.0)) for value in x])


def reference(inputs):
    spot, strike, rate, dividend, volatility, maturity = inputs["contracts"].astype(np.float64)
    alive = maturity > 0.0
    years = np.where(alive, maturity, 1.0)
    deviation = volatility * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate - dividend) * years) / deviation + 0.5 * deviation
    cdf1, cdf2 = normal_cdf(d1), normal_cdf(d1 - deviation)
    carried, paid = spot * np.exp(-dividend * years), strike * np.exp(-rate * years)
    density = np.exp(-0.5 * d1**2) / math.sqrt(2.0 * math.pi)
    decay = np.exp(-dividend * years)
    call = np.where(alive, carried * cdf1 - paid * cdf2, np.maximum(spot - strike, 0.0))
    put = np.where(alive, paid * (1.0 - cdf2) - carried * (1.0 - cdf1), np.maximum(strike - spot, 0.0))
    delta = np.where(alive, decay * cdf1, spot > strike)
    gamma = np.where(alive, decay * density / (spot * deviation), 0.0)
    vega = np.where(alive, carried * density * np.sqrt(years), 0.0)
    return {
        "prices": np.stack([call, put]).astype(np.float32),
        "greeks": np.stack([delta, gamma, vega]).astype(np.float32),
    }
