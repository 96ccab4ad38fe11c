"""Scenarios run by legs and compared with the undistributed run: messages, times, and when distribution pays."""
