"""CuSeT inside LLaMA-Factory: arguments, patches, dataset, collator, trainer and workflow.

Its `__init__` imports nothing, so that the start-up hook can load `patches` alone.
"""
