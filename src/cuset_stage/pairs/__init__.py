"""Pairs of a right and a wrong program: read them, and measure whether a model prefers the right one.

Nothing is imported here, so the commands' settings can be loaded without torch.
"""
