"""The engines that results can be verified with: rows of one table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..errors import InputError, did_you_mean
from ..robot import Robot
from .peer import ImpossibleError, PeerModel


@dataclass(frozen=True)
class Peer:
    """An engine: its title, the package that brings it, and a function that builds a robot in it."""

    title: str
    package: str
    make: Callable[[Robot], PeerModel]


def _pinocchio(robot: Robot) -> PeerModel:
    from .pinocchio import Pinocchio

    return Pinocchio(robot)


def _mujoco(robot: Robot) -> PeerModel:
    from .mujoco import Mujoco

    return Mujoco(robot)


PEERS = {"pinocchio": Peer("Pinocchio", "pin", _pinocchio), "mujoco": Peer("MuJoCo", "mujoco", _mujoco)}


def peer_engine(name: str, robot: Robot) -> PeerModel:
    """The robot in another engine; engines that aren't installed, or have no model for it, are refused."""
    row = PEERS.get(name)
    if row is None:
        hint = did_you_mean(name, PEERS)
        raise InputError("unknown engine", key="--with", found=f"`{name}`", allowed=", ".join(PEERS), hint=hint)
    try:
        return row.make(robot)
    except ImportError:
        hint = f"python -m pip install {row.package}"
        raise InputError(f"{row.title} isn't installed here", key="--with", found=f"`{name}`", hint=hint) from None
    except ImpossibleError as error:
        raise InputError(f"{robot.name}: {row.title} {error}", key="--with", found=f"`{name}`") from None
