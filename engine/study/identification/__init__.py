"""Identification: the numbers of a robot from measured motions and forces."""
