"""Pairs of a right and a wrong program: making them, verifying them, and what a model makes of them.

Nothing is imported here, so that the commands' settings load without torch.
"""
