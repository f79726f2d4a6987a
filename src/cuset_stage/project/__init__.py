"""The parts of `cuset init`, which makes a folder that trains.

They find out a model's size and chat template and a data file's form, plan a training that fits into the GPUs' memory,
and write the files.
"""
