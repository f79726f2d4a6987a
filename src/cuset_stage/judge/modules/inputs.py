"""What a task's own module gives as the arguments of a call, as JSON and tensors: beside worker.py, which decodes it."""


def encode(value, place, tensors, torch):
    """JSON for an argument, {kind: value}; a tensor is collected, and stands as its place among them."""
    if isinstance(value, torch.Tensor):
        tensors.append(value)
        return {"tensor": len(tensors) - 1}
    if value is None or isinstance(value, bool | int | float | str):
        return {"value": value}
    if isinstance(value, torch.dtype):
        return {"dtype": str(value)}
    if isinstance(value, list | tuple):
        return {
            "list" if isinstance(value, list) else "tuple": [encode(item, place, tensors, torch) for item in value]
        }
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"dict": {key: encode(item, place, tensors, torch) for key, item in value.items()}}
    raise TypeError(
        f"{place}: a value of type {type(value).__name__}; expected tensors, numbers, text, lists or dicts"
    )
