"""Roll, pitch and yaw of a placement are those that it was made from."""

import numpy as np
import pytest

from denoc.robot.placement import placement_from_rpy, rpy_of_placement


@pytest.mark.parametrize("pitch", [0.0, 0.3, -1.2, 1.5707963267948966, -1.5707963267948966])
def test_there_and_back(pitch):
    for roll, yaw in ((0.0, 0.0), (0.4, -2.0), (-3.0, 1.0)):
        placed = placement_from_rpy((0.1, 0.2, 0.3), (roll, pitch, yaw))
        again = placement_from_rpy((0.1, 0.2, 0.3), rpy_of_placement(placed))
        np.testing.assert_allclose(again.matrix(), placed.matrix(), atol=1e-12)
        if abs(pitch) < 1.5:
            np.testing.assert_allclose(rpy_of_placement(placed), (roll, pitch, yaw), atol=1e-12)
