"""Integrators: their steps in Python, with dense output, and events within a step.

stepper                         what all steppers have
tableau, dormand_prince_8       Butcher tableaux
runge_kutta                     explicit steps
implicit_steps, radau, ndf      implicit steps: Radau IIA, and numerical differentiation formulas
scipy_stepper                   scipy's LSODA
integrate                       the table of integrators
events                          where a function of time and state stops being positive
"""
