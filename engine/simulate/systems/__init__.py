"""What a run integrates: a robot with the motions, forces and laws that act on it.

system                                  the robot and all that acts on it
inputs, reference, state_force, called  motions and forces in time, what they refer to, forces by the state, by callers
driven_joints, discrete                 given motions in the loops; which coordinates and rows there are for a time
delayed_state, memory                   states of the past, for dead times
signals                                 what equations are given at an instant
acting, prescribed                      forces at many instants, where the motion is known
"""
