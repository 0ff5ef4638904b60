"""Ranks of a simulation that are processes: forked from one interpreter that
has imported torch, with the simulation's clock and store.
"""
