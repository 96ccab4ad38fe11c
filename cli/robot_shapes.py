"""The shapes of documents on robots: what they are, their matrices, their operation counts; see `shapes.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict


def meaning(text: str) -> Any:
    """A description, as part of the schema."""
    return Field(description=text)


Files = Annotated[Sequence[str], meaning("the files that were written")]
Numbers = Annotated[dict[str, float | None], meaning("numbers by name; null for those that aren't known")]
Row = Sequence[float]
Matrix = Sequence[Row]


class Pose(TypedDict):
    """A joint's frame in its parent's, in zero position."""

    xyz: Annotated[Sequence[float], meaning("m")]
    rpy: Annotated[Sequence[float], meaning("roll, pitch, yaw in rad")]


class Link(TypedDict):
    """A link and its joint."""

    name: str
    parent: str
    joint: str
    type: str
    coordinates: Sequence[str]
    initial: Sequence[float]
    actuated: bool
    placement: Pose
    mass: float
    com: Sequence[float]
    points: dict[str, Sequence[float]]


class Gap(TypedDict):
    """How far a loop is from closed in the assembled position."""

    m: float
    rad: float


class Loop(TypedDict):
    """A loop's cut."""

    name: str
    type: str
    between: Sequence[str]
    gap: Gap


class Coupling(TypedDict):
    """A joint whose coordinate follows another one's, or those of several."""

    joint: str
    to: Annotated[str | Sequence[str], meaning("a list where there are several")]
    ratio: Annotated[float | Sequence[float], meaning("a list where there are several")]
    offset: float


class Actuator(TypedDict):
    """An actuator that belongs to no joint: on a link, or on a sum of joints."""

    name: str
    link: NotRequired[str]
    joints: NotRequired[Annotated[Mapping[str, float], meaning("coefficients")]]


class Unknowable(TypedDict):
    """Components of a cut's reaction that no rigid-body model can determine."""

    loop: str
    forces: Sequence[str]
    moments: Sequence[str]
    other: Annotated[bool, meaning("whether a force along another direction than an axis is among them")]
    others: Annotated[Sequence[str], meaning("such forces, in words")]


class Spin(TypedDict):
    """An idle spin."""

    joints: Sequence[str]
    links: Sequence[str]


class Subsystem(TypedDict):
    """Branches that are solved together."""

    name: str
    branches: Annotated[Sequence[Sequence[str]], meaning("links of each branch")]
    equations: int
    unknowns: int
    determinate: bool


class LoopGroup(TypedDict):
    """A group of bodies that loops hold together."""

    links: Sequence[str]
    loops: Annotated[Sequence[str], meaning("its loops, and the joints that follow others")]
    speeds: int
    freedoms: int


class Mobility(TypedDict):
    """The mobility of a mechanism; what follows the first five keys is missing where the loops can't be closed."""

    closed: bool
    assembled: dict[str, Sequence[float]]
    kutzbach: int
    independent_loops: int
    actuators: int
    freedoms: NotRequired[Annotated[int, meaning("of speeds")]]
    position_freedoms: NotRequired[Annotated[int, meaning("more than of speeds where something rolls")]]
    redundant: NotRequired[int]
    undetermined: NotRequired[Sequence[Unknowable]]
    spins: NotRequired[Sequence[Spin]]
    surplus: NotRequired[int]
    unmoved: NotRequired[int]
    useless: NotRequired[Sequence[str]]
    subsystems: NotRequired[Sequence[Subsystem]]
    groups: NotRequired[
        Annotated[Sequence[LoopGroup], meaning("bodies that loops hold together, for forward dynamics")]
    ]
    apart: NotRequired[Annotated[int, meaning("bodies that no loop passes")]]
    loops_distance: NotRequired[float | None]
    distance: NotRequired[float | None]


class Spring(TypedDict):
    """A spring with a damper over a weighted sum of joints."""

    name: str
    joints: Annotated[dict[str, float], meaning("each with its coefficient")]
    stiffness: float
    rest: float
    slack: float
    damping: float


class Combination(TypedDict):
    """A combination of numbers that the dynamics knows."""

    name: Annotated[str, meaning("the number whose factor is 1 and which is in no other group")]
    value: float
    numbers: Annotated[dict[str, float], meaning("each with its factor")]


class BaseParameters(TypedDict):
    """All combinations of numbers that the dynamics knows."""

    groups: Sequence[Combination]
    silent: Annotated[Sequence[str], meaning("numbers without effect on any force")]
    rules: Annotated[bool, meaning("from rules, otherwise from the rank of the regressor")]
    faintest: Annotated[float, meaning("the least singular value that counts, over the largest")]
    missed: Annotated[float, meaning("the largest share of forces at further states that groups miss")]
    doubtful: Annotated[bool, meaning("whether groups may be missing, and factors enormous")]


class Robot(TypedDict):
    """A robot; loops, couplings, actuators and mobility only where the robot is more than its tree."""

    name: str
    about: str
    degrees_of_freedom: int | None
    coordinates: int
    actuated: Sequence[str]
    elastic: Sequence[str]
    gravity: Sequence[float]
    mass: float
    centre: Annotated[Sequence[float], meaning("of mass, m")]
    links: Sequence[Link]
    loops: NotRequired[Sequence[Loop]]
    couplings: NotRequired[Sequence[Coupling]]
    actuators: NotRequired[Sequence[Actuator]]
    springs: NotRequired[Sequence[Spring]]
    mobility: NotRequired[Mobility]
    notes: Sequence[str]
    warnings: Sequence[str]
    base_parameters: NotRequired[BaseParameters]
    files: NotRequired[Files]


class Matrices(TypedDict):
    """The DeNOC matrices of one state; those that were asked for, in base-frame axes."""

    robot: str
    q: Row
    qd: Row
    order: Annotated[Sequence[str], meaning("the links to which blocks belong")]
    N_l: NotRequired[Matrix]
    N_d: NotRequired[Matrix]
    P: NotRequired[Matrix]
    I: NotRequired[Matrix]
    C: NotRequired[Matrix]
    h: NotRequired[Row]
    U: NotRequired[Matrix]
    D: NotRequired[Row | Matrix]
    I_inverse: NotRequired[Matrix]
    M_hat: NotRequired[Sequence[Matrix]]
    M_tilde: NotRequired[Sequence[Matrix]]
    M: NotRequired[Sequence[Matrix] | Matrix]
    J: NotRequired[Matrix]


class Linearized(TypedDict):
    """The linearised equations of state."""

    robot: str
    q: Row
    qd: Row
    states: Annotated[Sequence[str], meaning("names of x: displacements of coordinates, then speeds")]
    inputs: Annotated[Sequence[str], meaning("names of u")]
    A: Matrix
    B: Matrix
    tau: Row
    qdd: Row
    equilibrium: bool
    eigenvalues: Annotated[Matrix, meaning("pairs of real and imaginary parts")]
    K: NotRequired[Annotated[Matrix, meaning("gains of the regulator u = -K x, with `--lqr`")]]
    forces: NotRequired[Annotated[dict[str, Any], meaning("the regulator as the section `forces` of a scenario")]]


class Operations(TypedDict):
    """Numbers of operations."""

    multiplications: int
    additions: int
    divisions: int
    trigonometric: int
    square_roots: int
    signs: int


class Published(TypedDict):
    """A row of a paper's table."""

    algorithm: str
    formulas: Annotated[Sequence[str], meaning("of multiplications and of additions")]
    n: int
    count: Annotated[Sequence[int], meaning("multiplications and additions for n joints")]


class Complexity(TypedDict):
    """Operation counts."""

    published: dict[str, Sequence[Published]]
    chain: Annotated[dict[str, dict[str, Operations]], meaning("joints of the chain → algorithm → operations")]
    robot: Annotated[dict[str, dict[str, Operations]], meaning("program → `regrouped` or `plain` → operations")]
    crossover: Annotated[dict[str, int | None], meaning("joints from which on O(n) is cheaper than dense matrices")]
    seconds: Annotated[dict[str, dict[str, float]], meaning("joints → algorithm → seconds a sample, measured")]


class Part(TypedDict):
    """Parts of one kind, such as all elements with one tag, with which the same happened for the same reason."""

    when: Literal["reading", "writing"]
    what: str
    fate: Annotated[
        str,
        meaning("used, changed (read otherwise than it stands), ignored (it means nothing), dropped"),
    ]
    why: str
    times: int
    lines: Annotated[Sequence[int], meaning("of the file, where they are known")]


class Conversion(TypedDict):
    """A robot's file in another format."""

    robot: str
    to: Annotated[str, meaning("the format that was written")]
    files: Files
    text: Annotated[str | None, meaning("what was written, if not to a file")]
    parts: Sequence[Part]
    warnings: Annotated[Sequence[str], meaning("what was changed or dropped, and doubts about the robot")]
