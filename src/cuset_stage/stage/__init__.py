"""CuSeT inside LLaMA-Factory: arguments, patches, dataset, collator, trainer and workflow.

The only room that imports llamafactory. Nothing is imported here, so that the start-up hook can load `patches` alone.
"""
