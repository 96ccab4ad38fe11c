"""A four-bar two of whose joints reach their stops at once, in one position."""

import denoc
import yamls

WIDTHS = {"A0": 0.01, "B0": 1.0}  # of the joints' ranges, and with them the distances from which stops are touched


def beside_stops(away):
    """The robot at rest so far from the position of the stops, towards which its weight pulls it."""
    document = yamls.load(denoc.load("four-bar").document.text)
    joints = {link["joint"]["name"]: link["joint"] for link in document["links"]}
    document["assembly"]["A0"] = 0.5
    robot = denoc.loads(yamls.dump(document))
    stops, start, ahead = (denoc.assemble(robot, [0.5 + x, *robot.q0[1:]]) for x in (0.0, away, 0.01))
    for name, width in WIDTHS.items():
        k = robot.joints.index(name)
        at = float(stops[k])
        joints[name]["limits"] = [at, at + width] if ahead[k] > at else [at - width, at]
    document["assembly"] = dict(zip(robot.joints, start.tolist()))
    return denoc.loads(yamls.dump(document))
