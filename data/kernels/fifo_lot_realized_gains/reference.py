from collections import deque

import numpy as np


TOLERANCE = {"gain": (0, 0), "open_cost": (0, 0)}


def make_inputs(rng, accounts, trades, values="usual"):
    most = 1000000 if values == "huge" else 5000
    wish = rng.integers(-most, most, (accounts, trades), endpoint=True)
    wish[:, ::17] = 0
    quantity = np.zeros((accounts, trades), dtype=np.int64)
    held = np.zeros(accounts, dtype=np.int64)
    for t in range(trades):
        quantity[:, t] = np.maximum(wish[:, t], -held)
        if t % 11 == 10:
            quantity[:, t] = -held  # everything is sold
        quantity[:, t] = np.clip(quantity[:, t], -1000000, 1000000)
        held += quantity[:, t]
    price = rng.integers(1, 1000000 if values == "huge" else 20000, (accounts, trades), endpoint=True)
    return {
        "sizes": np.array([accounts, trades], dtype=np.int32),
        "quantity": quantity.astype(np.int32),
        "price": price.astype(np.int32),
    }


def reference(inputs):
    quantity, price = inputs["quantity"].tolist(), inputs["price"].tolist()
    gain = np.zeros(inputs["quantity"].shape, dtype=np.int64)
    open_cost = np.zeros(len(quantity), dtype=np.int64)
    for account, (amounts, prices) in enumerate(zip(quantity, price, strict=True)):
        lots = deque()
        for t, (amount, value) in enumerate(zip(amounts, prices, strict=True)):
            if amount > 0:
                lots.append([amount, value])
            profit = 0
            while amount < 0:
                part = min(-amount, lots[0][0])
                profit += part * (value - lots[0][1])
                amount += part
                lots[0][0] -= part
                if lots[0][0] == 0:
                    lots.popleft()
            gain[account, t] = profit
        open_cost[account] = sum(left * paid for left, paid in lots)
    return {"gain": gain, "open_cost": open_cost}
