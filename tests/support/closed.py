"""The closed chains of tests/reference as robot files, and their samples as arrays in the robots' order."""

import numpy as np

import references
import yamls

FORMAT = "denoc-closed-chain-reference/1"
PLANAR = ("five_bar", "four_bar", "three_rrr", "carpet_scraper")
ENTRIES = {"xx": (0, 0), "yy": (1, 1), "zz": (2, 2), "xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}


def file(name):
    found = references.case(name)
    assert found["schema"] == FORMAT
    return found


def one_case(name, case):
    """The file and one of its cases, by name."""
    whole = file(name)
    return whole, next(one for one in whole["cases"] if one["name"] == case)


def names(kind, mechanisms=PLANAR):
    """(mechanism, case) of all cases of a kind."""
    return [(name, one["name"]) for name in mechanisms for one in file(name)["cases"] if one["kind"] == kind]


def _text(name, gravity, links, loops, assembly=None):
    robot = {"name": name, "convention": "frames", "gravity": gravity, "links": links, "loops": loops}
    return yamls.dump(robot | ({"assembly": assembly} if assembly else {}))


# ---- planar mechanisms


def planar_text(whole, case):
    """Joints turn about Z; links come in an order in which parents are first."""
    bodies = {body["name"]: body for body in whole["bodies"]}
    left, placed, links = [joint for joint in whole["joints"] if not joint["cut"]], {None}, []
    while left:
        joint = next(one for one in left if one["parent"] in placed)
        left.remove(joint)
        placed.add(joint["child"])
        body = bodies[joint["child"]]
        links.append(
            {
                "name": joint["child"],
                "parent": joint["parent"] or "base",
                "joint": {
                    "name": joint["name"],
                    "type": joint["type"],
                    "xyz": [*joint["point_in_parent"], 0.0],
                    "actuated": joint["actuated"],
                },
                "mass": body["mass"],
                "com": [*body["com"], 0.0],
                "inertia": {"xx": 0.0, "yy": body["inertia_com"], "zz": body["inertia_com"]},
            }
        )
    loops = [
        {
            "name": joint["name"],
            "joint": joint["type"],
            "between": [joint["parent"] or "base", joint["child"]],
            "first": {"at": [*joint["point_in_parent"], 0.0]},
            "second": {"at": [*joint["point_in_child"], 0.0]},
        }
        for joint in whole["joints"]
        if joint["cut"]
    ]
    guess = {link["joint"]["name"]: case["q"][link["joint"]["name"]][0] for link in links}
    return _text(whole["mechanism"].replace("_", "-"), case["gravity"], links, loops, guess)


def of_joints(robot, values):
    """Joint → samples, as one array in the robot's order."""
    return np.array([values[name] for name in robot.joints]).T


# ---- the RSSR linkage


def rssr_text(whole, case):
    frames = [
        {"xyz": whole["geometry"]["O_A"], "rpy": [whole["geometry"]["alpha"], 0.0, 0.0]},
        {"xyz": [whole["geometry"]["l1"], 0.0, 0.0]},
        {},
    ]
    types = ["revolute", "spherical", "revolute"]
    about_origin = "about_mass_centre" not in case["name"]
    links = []
    for body, frame, kind, parent, joint in zip(
        whole["links"], frames, types, ["base", "1", "base"], ["joint1", "joint2", "joint4"]
    ):
        I = np.array(body["inertia_com" if about_origin else "inertia_about_link_origin"], dtype=float)
        links.append(
            {
                "name": body["name"],
                "parent": parent,
                "joint": {"name": joint, "type": kind, "actuated": joint == "joint1", **frame},
                "mass": body["mass"],
                "com": body["com"],
                "inertia": {key: float(I[at]) for key, at in ENTRIES.items()},
            }
        )
    loop = {"name": "joint3", "joint": "spherical", "between": ["3", "2"]}
    loop |= {
        "first": {"at": [whole["geometry"]["l3"], 0.0, 0.0]},
        "second": {"at": [whole["geometry"]["l2"], 0.0, 0.0]},
    }
    return _text("rssr", case.get("gravity", whole["gravity"]), links, [loop])


def rssr_samples(whole, case):
    """Q, qd, qdd; the coupler's orientation relative to the crank from its Euler parameters, up to its idle spin."""
    R2 = np.array(case.get("R2_admissible", case.get("R2")))
    psi, theta = np.array(case["psi"]), np.array(case["theta"])
    crank = np.array(whole["geometry"]["B10"]) @ about_z(psi)
    z1 = np.array(whole["geometry"]["z1"])
    w1, a1 = (np.multiply.outer(case[key], z1) for key in ("psi_d", "psi_dd"))
    e, w, a = relative(crank, w1, a1, R2, np.array(case["omega2"]), np.array(case["alpha2"]))
    q = np.column_stack([psi, e, theta])
    return (
        q,
        np.column_stack([case["psi_d"], w, case["theta_d"]]),
        np.column_stack([case["psi_dd"], a, case["theta_dd"]]),
    )


# ---- the Gough-Stewart platform


def gough_text(whole, platform):
    """The platform hangs on leg 1 (`leg`), the others are cut; or it is a free body (`free`), and all legs are cut."""
    bodies = {body["name"]: body for body in whole["bodies"]}
    A, B = (np.array(whole["geometry"][key]) for key in ("base_points", "platform_points"))
    origin = B[0] if platform == "leg" else np.zeros(3)  # of the platform's link, from the platform's point P
    hung = {"name": "S1", "type": "spherical"} if platform == "leg" else {"name": "place", "type": "free"}
    links = []
    for k, foot in enumerate(A, 1):
        joint = {"name": f"U{k}", "type": "universal", "xyz": foot.tolist()}
        links.append({"name": f"cyl{k}", "parent": "base", "joint": joint, **_body(bodies[f"cyl{k}"])})
        joint = {"name": f"P{k}", "type": "prismatic", "actuated": True}
        links.append({"name": f"pis{k}", "parent": f"cyl{k}", "joint": joint, **_body(bodies[f"pis{k}"])})
    body = _body(bodies["platform"], -origin)
    links.append({"name": "platform", "parent": "pis1" if platform == "leg" else "base", "joint": hung, **body})
    loops = [
        {
            "name": f"S{k}",
            "joint": "spherical",
            "between": [f"pis{k}", "platform"],
            "second": {"at": (B[k - 1] - origin).tolist()},
        }
        for k in range(2 if platform == "leg" else 1, 7)
    ]
    return _text("gough", whole["gravity"], links, loops)


def _body(body, shift=0.0):
    I = np.array(body["inertia_com"], dtype=float)
    inertia = {key: float(I[at]) for key, at in ENTRIES.items()}
    return {"mass": body["mass"], "com": (np.array(body["com"]) + shift).tolist(), "inertia": inertia}


def gough_samples(whole, case, platform):
    place = {key: np.array(value) for key, value in case["platform"].items()}
    R = oriented(place["quaternion"])
    rows = []
    for lengths, turns in (
        ("leg_length", ("U_alpha", "U_beta")),
        ("leg_rate", ("U_alpha_d", "U_beta_d")),
        ("leg_acc", ("U_alpha_dd", "U_beta_dd")),
    ):
        legs = [[np.array(case[key])[:, k] for key in (*turns, lengths)] for k in range(6)]
        rows.append(np.array(legs).reshape(18, -1).T)
    if platform == "leg":
        alpha, beta = np.array(case["U_alpha"])[:, 0], np.array(case["U_beta"])[:, 0]
        alpha_d, beta_d = np.array(case["U_alpha_d"])[:, :1], np.array(case["U_beta_d"])[:, :1]
        alpha_dd, beta_dd = np.array(case["U_alpha_dd"])[:, :1], np.array(case["U_beta_dd"])[:, :1]
        x, y = np.eye(3)[0], about_x(alpha)[:, :, 1]
        w = alpha_d * x + beta_d * y
        a = alpha_dd * x + beta_dd * y + np.cross(alpha_d * x, beta_d * y)
        leg = about_x(alpha) @ about_y(beta)
        own = relative(leg, w, a, R, place["omega"], place["alpha"])
    else:
        w = turned_back(R, place["omega"])
        v = turned_back(R, place["velocity"])
        own = (
            np.column_stack([place["position"], place["quaternion"]]),
            np.column_stack([v, w]),
            np.column_stack([turned_back(R, place["acceleration"]) - np.cross(w, v), turned_back(R, place["alpha"])]),
        )
    return [np.column_stack([legs, mine]) for legs, mine in zip(rows, own)]


# ---- turns


def about_x(angles):
    c, s, o, i = np.cos(angles), np.sin(angles), np.zeros_like(angles), np.ones_like(angles)
    return np.array([[i, o, o], [o, c, -s], [o, s, c]]).transpose(2, 0, 1)


def about_y(angles):
    c, s, o, i = np.cos(angles), np.sin(angles), np.zeros_like(angles), np.ones_like(angles)
    return np.array([[c, o, s], [o, i, o], [-s, o, c]]).transpose(2, 0, 1)


def about_z(angles):
    c, s, o, i = np.cos(angles), np.sin(angles), np.zeros_like(angles), np.ones_like(angles)
    return np.array([[c, -s, o], [s, c, o], [o, o, i]]).transpose(2, 0, 1)


def oriented(e):
    """Rotations of Euler parameters, scalar first."""
    e0, v = e[:, :1, None], e[:, 1:]
    skew = np.cross(v[:, None, :], np.eye(3)[None]).transpose(0, 2, 1)
    return np.eye(3) + 2 * e0 * skew + 2 * skew @ skew


def parameters(R):
    """Euler parameters of rotations."""
    found = []
    for one in R:
        K = np.array(
            [
                [one[0, 0] + one[1, 1] + one[2, 2], 0, 0, 0],
                [one[2, 1] - one[1, 2], one[0, 0] - one[1, 1] - one[2, 2], 0, 0],
                [one[0, 2] - one[2, 0], one[1, 0] + one[0, 1], one[1, 1] - one[0, 0] - one[2, 2], 0],
                [
                    one[1, 0] - one[0, 1],
                    one[2, 0] + one[0, 2],
                    one[2, 1] + one[1, 2],
                    one[2, 2] - one[0, 0] - one[1, 1],
                ],
            ]
        )
        found.append(np.linalg.eigh(K / 3, UPLO="L")[1][:, -1])
    return np.array(found)


def turned_back(R, vectors):
    return np.einsum("nji,nj->ni", R, vectors)


def relative(R1, w1, a1, R2, w2, a2):
    """Euler parameters, angular velocity and its rate of body 2 relative to body 1, in the axes of body 2."""
    e = parameters(R1.transpose(0, 2, 1) @ R2)
    return e, turned_back(R2, w2 - w1), turned_back(R2, a2 - a1 + np.cross(w2, w1))
