"""Pictures and statistics of what a model is sure of, token by token, and of what a data set's labels hold.

Nothing is imported here, so that the commands' settings (`requests`) load without torch or LLaMA-Factory.
"""
