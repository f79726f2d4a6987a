import numpy as np


TOLERANCE = {"discounts": (1e-10, 1e-12), "forwards": (1e-8, 1e-10)}


def make_inputs(rng, curves, years, values="usual"):
    level = rng.uniform(0.005, 0.06, curves)
    slope = rng.uniform(-0.0004, 0.0005, curves)
    rates = level + slope * np.arange(years)[:, None] + rng.normal(0.0, 0.0005, (years, curves))
    if values == "negative":
        rates = rates - 0.03
    return {"sizes": np.array([curves, years], dtype=np.int32), "par_rates": rates}


def reference(inputs):
    rates = inputs["par_rates"]
    discounts = np.empty_like(rates)
    for year, rate in enumerate(rates):
        discounts[year] = (1.0 - rate * discounts[:year].sum(axis=0)) / (1.0 + rate)
    before = np.concatenate([np.ones_like(rates[:1]), discounts[:-1]])
    return {"discounts": discounts, "forwards": before / discounts - 1.0}
