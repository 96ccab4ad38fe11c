"""Quantities of mechanisms, and the forces of actuators and cuts."""
