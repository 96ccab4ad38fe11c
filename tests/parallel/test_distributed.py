"""By legs or undivided, the numbers are the same; and no other messages pass than the plan says."""

import contextlib
import importlib
import os
import signal as signals
import socket
import time
import types

import numpy as np
import pytest

import denoc
import legged
import yamls
from comparing import off
from denoc.errors import ClusterError
from denoc.machine.backend import using_backend
from denoc.parallel import cluster
from denoc.parallel.cluster import Cluster
from denoc.parallel.conduct import DistributedFormulation, RatesByLegs
from denoc.parallel.engines import CountingEngine, ProcessEngine, ThreadsEngine
from denoc.parallel.full import FullyDistributed
from denoc.parallel.part import euler_parameters_of_platform
from denoc.parallel.steps import message_plan
from denoc.scenario import carry_out_plan, prepare_scenario, result_of_trace
from denoc.study.distribution import EngineSetting, distribution_explained, distribution_study
from denoc.text import find_library_file
from limits import HANGS

SAME = 1e-12
SHARED = 1e-11  # where actuators share: normal equations square the condition of their Jacobian, 120 with eight legs
LIBRARY = ("three-rrr", "gough-stewart", "five-bar", "four-bar", "slider-crank", "hoeken")
FALL = {
    "robot": "three-rrr",
    "task": "simulate",
    "time": {"end": 0.02, "step": 0.005},
    "solver": {"method": "rk4", "step": 0.001},
}
dask = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True, scope="module")
def patient():
    """On a busy machine, workers may take long to start."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster, "CONNECTING", HANGS)
        yield


@pytest.fixture(scope="module")
def workers():
    """A Dask cluster of two workers on this machine."""
    pytest.importorskip("distributed", reason="Dask isn't installed (the extra `cluster`)")
    engine = Cluster(2, patience=HANGS)
    yield engine
    engine.close()


@pytest.fixture(params=["process", "threads", "dask"])
def engine(request):
    if request.param == "dask":
        yield request.getfixturevalue("workers")
        return
    made = ThreadsEngine(4) if request.param == "threads" else ProcessEngine()
    yield made
    made.close()


def redundant():
    """The 3-RRR robot with all its leg joints driven."""
    file = yamls.load(find_library_file("three-rrr", "robots").read_text(encoding="utf-8"))
    for link in file["links"][:6]:
        link["joint"]["actuated"] = True
    return denoc.loads(yamls.dump(file))


# ---- the same numbers


@dask
@pytest.mark.parametrize("name", LIBRARY)
@pytest.mark.sampled(16)
def test_inverse_dynamics_by_legs_is_that_of_the_whole(name, engine):
    robot = denoc.load(name)
    state = legged.states(robot, 7)
    by_legs = DistributedFormulation(robot, engine)
    assert off(by_legs.inverse(*state), denoc.inverse(robot, *state)) <= SAME
    for found, right in zip(by_legs.kinematics(*state), state[1:]):
        assert off(found, right) <= SAME
    one = [x[0] for x in state]
    assert off(by_legs.inverse(*one), denoc.inverse(robot, *one)) <= SAME


@dask
@pytest.mark.parametrize("name", LIBRARY)
@pytest.mark.sampled(8)
def test_forward_dynamics_by_legs_is_that_of_the_whole(name, engine):
    robot = denoc.load(name)
    q, qd, _ = legged.states(robot, 5)
    tau = np.random.default_rng(1).normal(size=qd.shape)
    by_legs = DistributedFormulation(robot, engine, 2)
    assert off(by_legs.forward(q, qd, tau), denoc.forward(robot, q, qd, tau)) <= SAME
    assert off(by_legs.forward(q[0], qd[0], tau[0]), denoc.forward(robot, q[0], qd[0], tau[0])) <= SAME


@dask
@pytest.mark.parametrize("batch", [1, 3, 1000])
@pytest.mark.sampled(12)
def test_batches_and_wrenches_change_nothing(batch, engine):
    robot = denoc.load("three-rrr")
    q, qd, qdd = state = legged.states(robot, 7)
    rng = np.random.default_rng(2)
    wrenches = {"link4": rng.normal(size=(7, 6)), "link2": rng.normal(size=6), "platform": rng.normal(size=6)}
    by_legs = DistributedFormulation(robot, engine, 3, batch=batch)
    assert off(by_legs.inverse(*state, wrenches), denoc.inverse(robot, *state, wrenches)) <= SAME
    assert off(by_legs.forward(q, qd, qdd, wrenches), denoc.forward(robot, q, qd, qdd, wrenches)) <= SAME


def test_redundant_actuators_share_as_they_do_undivided():
    robot = redundant()
    state = legged.states(robot, 4)
    assert off(DistributedFormulation(robot).inverse(*state), denoc.inverse(robot, *state)) <= SHARED


@pytest.mark.parametrize("legs, stages", [(6, 1), (6, 4), (8, 2)])
@pytest.mark.sampled(3)
def test_many_long_legs(legs, stages):
    robot = legged.robot(legs, stages)
    q, qd, _ = state = legged.states(robot, 3)
    by_legs = DistributedFormulation(robot, None, 2)
    assert off(by_legs.inverse(*state), denoc.inverse(robot, *state)) <= (SHARED if legs > 6 else SAME)
    tau = np.random.default_rng(1).normal(size=qd.shape)
    assert off(by_legs.forward(q, qd, tau), denoc.forward(robot, q, qd, tau)) <= 1e-11


def test_friction_springs_rotors_and_pitches_are_the_legs_own():
    file = yamls.load(find_library_file("three-rrr", "robots").read_text(encoding="utf-8"))
    file["links"][0]["joint"] |= {"rotor_inertia": 0.3, "friction": {"viscous": 0.2, "coulomb": 0.1}}
    file["links"][4]["joint"] |= {"spring": {"stiffness": 3.0, "rest": 0.4}}
    file["links"][6]["joint"] |= {"friction": {"viscous": 0.3}, "rotor_inertia": 0.2}
    file["wrenches"] = [{"link": "platform", "force": [1, 2, 0]}, {"link": "link5", "force": [3, 1, 0], "axes": "base"}]
    robot = denoc.loads(yamls.dump(file))
    q, qd, qdd = state = legged.states(robot, 4)
    assert off(DistributedFormulation(robot).inverse(*state), denoc.inverse(robot, *state)) <= SAME
    assert off(DistributedFormulation(robot).forward(q, qd, qdd), denoc.forward(robot, q, qd, qdd)) <= SAME


def test_another_link_can_be_the_platform():
    robot = denoc.load("five-bar")
    state = legged.states(robot, 3)
    for link in ("2^1", "2^2"):
        assert off(DistributedFormulation(robot, platform=link).inverse(*state), denoc.inverse(robot, *state)) <= SAME


def test_euler_parameters_of_turns():
    rng = np.random.default_rng(0)
    e = rng.normal(size=(50, 4))
    e[:4] = np.eye(4)
    e /= np.linalg.norm(e, axis=1, keepdims=True)
    w, x, y, z = e.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    R = np.array(rows).transpose(2, 0, 1)
    found = euler_parameters_of_platform(R)
    assert abs(abs((found * e).sum(axis=1)) - 1.0).max() <= 1e-15


# ---- simulation


@dask
@pytest.mark.parametrize("closure", ["denoc", "penalty", "projection-qr", "projection-svd", "projection-gauss"])
@pytest.mark.sampled(20)
def test_runs_by_legs_are_those_of_the_whole(closure, engine):
    scenario = {**FALL, "closure": {"method": closure}, "wrenches": []}
    with using_backend(
        "plain"
    ):  # penalties are stiff: of compiled code, and of the text, the last digits would grow apart
        right = denoc.run(scenario)
        found = prepare_scenario(scenario)
        if closure == "denoc":
            by_legs = RatesByLegs(found.system, engine, 2)
            result = carry_out_plan(found, start=lambda: by_legs.begun(found.system, found.q0))
        else:
            full = FullyDistributed(lambda: prepare_scenario(scenario).system, found.solver, engine, 2)
            trace = full.carried_out(found.q0, found.qd0, found.grid)
            result = result_of_trace(found, full.run, trace)
    assert result.ended == right.ended == "done"
    for name, values in right.table.items():
        kind = [c.name for c in right.columns if c.unit == next(c.unit for c in right.columns if c.name == name)]
        size = max(abs(right.table[one]).max() for one in kind)
        assert abs(result.table[name] - values).max() <= SAME * max(size, 1.0), name


def test_wrenches_over_time_and_friction_act_in_distributed_runs():
    harmonic = {"law": "harmonic", "amplitude": 20, "frequency": 30}
    scenario = {
        **FALL,
        "forces": {"J1": {"law": "pd", "to": "70 deg", "kp": 200, "kd": 20}},
        "wrenches": [
            {"link": "platform", "force": [harmonic, 0, 0], "axes": "base", "at": [0.1, 0, 0]},
            {"link": "link5", "force": [0, harmonic, 0]},
        ],
    }
    right, outcome = denoc.run(scenario), distribution_study(lambda: prepare_scenario(scenario), measured=False)
    for joint in ("J1", "J6", "B1"):
        assert off(outcome.result.table[f"{joint}.qdd"], right.table[f"{joint}.qdd"]) <= SAME
    assert max(outcome.off.values()) <= SAME


# ---- messages


@pytest.mark.parametrize("nodes", [1, 2, 3])
@pytest.mark.parametrize("task", ["kinematics", "inverse", "forward"])
@pytest.mark.sampled(2)
def test_only_the_messages_of_the_plan_are_sent(task, nodes):
    robot = denoc.load("three-rrr")
    state = legged.states(robot, 7)
    counted = CountingEngine(ProcessEngine())
    by_legs = DistributedFormulation(robot, counted, nodes)
    wrenches = {"platform": np.ones(6), "link5": np.ones(6)} if task != "kinematics" else {}
    getattr(by_legs, task)(*state, *([wrenches] if wrenches else []))
    rows = list(message_plan(task, by_legs.groups, 7, list(wrenches)))
    assert len(rows) == len(counted.sent)
    for row, (way, sent) in zip(rows, counted.sent):
        assert (row.way, row.messages, row.bytes, set(row.fields)) == (way, sent.messages, sent.bytes, sent.fields)


def test_fully_distributed_runs_have_one_exchange_a_step():
    scenario = {**FALL, "closure": {"method": "penalty"}}
    counted, found = CountingEngine(ProcessEngine()), prepare_scenario(scenario)
    full = FullyDistributed(lambda: prepare_scenario(scenario).system, found.solver, counted, 3)
    trace = full.carried_out(found.q0, found.qd0, found.grid)
    rows = list(full.plan())
    assert trace.steps == 20
    assert len(counted.sent) == 2 * trace.steps
    for (way, sent), row in zip(counted.sent, rows * trace.steps):
        assert (row.way, row.messages, row.bytes, set(row.fields)) == (way, sent.messages, sent.bytes, sent.fields)


CARRIED = {
    "robot": "two-carriers",
    "task": "simulate",
    "time": {"end": 0.02, "step": 0.01},
    "forces": {"left1": {"law": "constant", "value": 0.35}, "right2": {"law": "constant", "value": 0.5}},
}


def test_two_mobile_manipulators_with_a_payload_are_the_parts_of_two_nodes():
    """They have no legs: wheels branch off, and rolling ties them to the floor (Khan 2002, Fig. 1.2)."""
    steps = {"closure": {"method": "projection-qr"}, "solver": {"method": "rk4", "step": 0.005}}
    outcome = distribution_study(lambda: prepare_scenario({**CARRIED, **steps}), measured=False)
    assert (outcome.form, outcome.legs, outcome.part, outcome.nodes) == ("fully distributed", 2, "part", 2)
    assert (outcome.units, outcome.messages) == (4, 16)
    assert set(outcome.off) == {"position", "acceleration", "force"}
    assert max(outcome.off.values()) < 1e-12
    with pytest.raises(denoc.InputError, match=r"left-floor1(.|\n)*projection-qr(.|\n)*part by part"):
        distribution_study(lambda: prepare_scenario(CARRIED))


def test_what_is_explained_is_what_passes():
    def make():
        return prepare_scenario("three-rrr-idyn")

    unit, legs, nodes, rows = distribution_explained(make, EngineSetting(nodes=2, batch=100))
    outcome = distribution_study(make, EngineSetting(nodes=2, batch=200), measured=False)
    assert (unit, legs, nodes) == ("a batch of 100 samples", 3, 2)
    assert outcome.messages == sum(row.messages for row in rows) == 16
    assert outcome.bytes * 100 == sum(row.bytes for row in rows) * 151


# ---- what goes wrong


def test_a_leg_that_the_platform_does_not_decide_is_refused():
    robot = denoc.load("rssr")
    q = denoc.assemble(robot, np.array(robot.q0))
    with pytest.raises(denoc.InputError, match="idle spins"):
        DistributedFormulation(robot).inverse(q, np.zeros(robot.nv), np.zeros(robot.nv))


def test_legs_that_are_open_are_refused():
    robot = denoc.load("three-rrr")
    q, qd, qdd = (x[0] for x in legged.states(robot, 1))
    with pytest.raises(denoc.InputError, match="don't meet"):
        DistributedFormulation(robot).inverse(q + 0.01, qd, qdd)


@pytest.mark.parametrize(
    "entries, words",
    [
        ({"closure": {"method": "multipliers"}}, "no distributed form"),
        ({"closure": {"method": "penalty"}, "solver": {"method": "rk45"}}, "fixed steps"),
        ({"motion": {"J1": {"law": "hold"}}}, "given motions"),
        ({"robot": "puma"}, "no loops"),
        ({"task": "inverse", "forces": {"J4": {"law": "constant", "value": 1}}}, "passive joints"),
    ],
)
def test_what_cant_be_distributed_is_refused_before_anything_runs(entries, words):
    with pytest.raises(denoc.InputError, match=words):
        distribution_explained(lambda: prepare_scenario({**FALL, **entries}))


def test_more_nodes_than_legs_are_told():
    outcome = distribution_study(lambda: prepare_scenario("three-rrr-idyn"), EngineSetting(nodes=9), measured=False)
    assert outcome.nodes == 3
    assert outcome.notes == ["9 nodes for 3 legs: 3 are used"]


# ---- a cluster


def test_without_dask_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(denoc.InputError, match=r"\.\[cluster\]"):
        Cluster(2)


@dask
@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense"])
def test_a_scheduler_that_is_not_there(address, monkeypatch):
    pytest.importorskip("distributed", reason="Dask isn't installed (the extra `cluster`)")
    monkeypatch.setattr(cluster, "CONNECTING", 1.0)
    with pytest.raises(denoc.InputError, match="--scheduler") as told:
        Cluster(2, address)
    assert told.value.exit_code == 2


@dask
def test_errors_of_nodes_come_back_as_they_are(workers):
    robot = denoc.load("three-rrr")
    q, qd, qdd = (x[0] for x in legged.states(robot, 1))
    with pytest.raises(denoc.InputError, match="don't meet"):
        DistributedFormulation(robot, workers).inverse(q + 0.01, qd, qdd)


@dask
def test_a_given_scheduler_is_used_and_left_running(workers):
    address = workers._client.scheduler.address
    setting = EngineSetting("dask", nodes=3, scheduler=address)
    outcome = distribution_study(lambda: prepare_scenario("three-rrr-idyn"), setting)
    assert max(outcome.off.values()) <= SAME
    assert outcome.notes == ["3 nodes on 2 workers"]
    assert outcome.cost.latency > 0.0
    assert len(workers._client.nthreads()) == 2


@dask
def test_a_local_cluster_answers_to_no_http(workers):
    """Its ports are those by which its parts talk to each other."""
    psutil = pytest.importorskip("psutil")
    own = psutil.Process()
    every = [one for process in (own, *own.children(recursive=True)) for one in process.net_connections("tcp")]
    ports = {one.laddr.port for one in every if one.status == psutil.CONN_LISTEN}
    assert len(ports) >= 3  # of the scheduler and two workers
    for port in ports:
        with socket.create_connection(("127.0.0.1", port), timeout=HANGS) as caller:
            caller.sendall(b"GET /info HTTP/1.0\r\n\r\n")
            caller.settimeout(1.0)
            with contextlib.suppress(TimeoutError, ConnectionError):
                assert not caller.recv(100).startswith(b"HTTP/")


@dask
def test_workers_of_another_python_are_refused(workers, monkeypatch):
    monkeypatch.setattr(cluster, "sys", types.SimpleNamespace(version_info=(3, 99, 0)))
    with pytest.raises(ClusterError, match=r"has Python 3\.\d+\.\d+, this process 3\.99\n"):
        Cluster(2, workers._client.scheduler.address)
    assert len(workers._client.nthreads()) == 2  # it goes on


@dask
def test_what_a_worker_cannot_read_is_no_mistake_of_denoc(workers):
    under_way = [workers.task(importlib.import_module, "no_such_module")]
    with pytest.raises(ClusterError, match="can't read each other: ModuleNotFoundError: No module named 'no_such_mod"):
        workers.result(workers.first(under_way))


@dask
def test_nobody_waits_for_ever_without_workers(monkeypatch):
    pytest.importorskip("distributed", reason="Dask isn't installed (the extra `cluster`)")
    monkeypatch.setattr(cluster, "LONELY", 1.0)
    monkeypatch.setattr(cluster, "LOOKING", 0.1)
    engine = Cluster(1, patience=HANGS)
    try:
        engine._cluster.scale(0)
        while engine._client.nthreads():
            time.sleep(0.05)
        with pytest.raises(ClusterError, match="no worker for 1 s"):
            engine.first([engine.task(abs, -1)])
    finally:
        engine.close()


@dask
@pytest.mark.parametrize(
    "signal, finishes", [("SIGKILL", True), pytest.param("SIGSTOP", False, marks=pytest.mark.full)]
)
def test_workers_that_die_or_hang_in_mid_run_end_it_or_not_but_never_hang_it(signal, finishes):
    pytest.importorskip("distributed", reason="Dask isn't installed (the extra `cluster`)")
    robot = denoc.load("three-rrr")
    state = legged.states(robot, 5)
    engine = Cluster(2, patience=HANGS)
    by_legs = DistributedFormulation(robot, engine, 2, batch=1)
    pids, exchanges, step = list(engine._client.run(os.getpid).values()), [], engine.step

    def struck(work, inboxes):
        exchanges.append(work)
        if len(exchanges) == 7:  # in the middle of the second batch: what the nodes have kept is needed
            for pid in pids[:1] if finishes else pids:
                os.kill(pid, getattr(signals, signal))
            engine._patience = HANGS if finishes else 1.0
        return step(work, inboxes)

    engine.step = struck
    try:
        if finishes:
            assert off(by_legs.inverse(*state), denoc.inverse(robot, *state)) <= SAME
        else:
            with pytest.raises(denoc.DenocError, match="doesn't answer: no answer in 1 s"):
                by_legs.inverse(*state)
    finally:
        engine.close()
    assert len(exchanges) == (20 if finishes else 7)
