"""Pictures and statistics of a model's confidence, token by token, and of the labels of a data set.

This module imports nothing, so that the settings of the commands (`requests`) load without torch and LLaMA-Factory.
"""
