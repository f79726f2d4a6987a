import math

import numpy as np


TOLERANCE = {"volatility": (1e-6, 1e-8), "status": (0, 0)}


def cdf(x):
    return np.array([0.5 * math.erfc(-value / math.sqrt(2.0)) for value in x])


def call_price(spot, strike, rate, years, volatility):
    s = volatility * np.sqrt(years)
    d1 = (np.log(spot / strike) + rate * years) / s + 0.5 * s
    return spot * cdf(d1) - strike * np.exp(-rate * years) * cdf(d1 - s)


def make_inputs(rng, quotes, values="good"):
    spot = rng.uniform(80.0, 120.0, quotes)
    years = rng.uniform(0.25, 2.0, quotes)
    rate = rng.uniform(0.0, 0.05, quotes)
    volatility = rng.uniform(0.1, 0.9, quotes)
    strike = spot * np.exp(rng.uniform(-1.0, 1.0, quotes) * volatility * np.sqrt(years))
    price = call_price(spot, strike, rate, years, volatility)
    # Some quotes lie outside what any volatility can explain.
    share = 2 if values == "unusable" else 10
    price[::share] = spot[::share] * 1.01
    price[1::share] = np.maximum(spot - strike * np.exp(-rate * years), 0.0)[1::share] * 0.99 - 0.01
    return {"sizes": np.array([quotes], dtype=np.int32), "quotes": np.stack([spot, strike, rate, years, price])}


def reference(inputs):
    spot, strike, rate, years, price = inputs["quotes"]
    low, high = np.full(price.size, 0.001), np.full(price.size, 4.0)
    status = np.zeros(price.size, dtype=np.uint8)
    status[price <= call_price(spot, strike, rate, years, low)] = 1
    status[price >= call_price(spot, strike, rate, years, high)] = 2
    index = np.flatnonzero(status == 0)
    spot, strike, rate, years, price = inputs["quotes"][:, index]
    low, high = low[index], high[index]
    for _ in range(12):  # halve first, then Newton from within 0.001 of the root
        middle = 0.5 * (low + high)
        above = call_price(spot, strike, rate, years, middle) > price
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    x = 0.5 * (low + high)
    for _ in range(4):
        s = x * np.sqrt(years)
        d1 = (np.log(spot / strike) + rate * years) / s + 0.5 * s
        vega = spot * np.sqrt(years) * np.exp(-0.5 * d1**2) / math.sqrt(2.0 * math.pi)
        x = np.clip(x - (call_price(spot, strike, rate, years, x) - price) / vega, low, high)
    volatility = np.zeros(status.size)
    volatility[index] = x
    return {"volatility": volatility, "status": status}
