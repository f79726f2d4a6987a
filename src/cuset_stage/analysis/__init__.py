"""Pictures and statistics of what a model is sure of, token by token.

Uses the objective's equations and, for tokens and labels, the training's own preprocessing through `factory.inspect`; it does not
import llamafactory itself. Nothing is imported here, so that the page can be drawn without loading torch.
"""
