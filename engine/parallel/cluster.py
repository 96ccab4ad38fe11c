"""Nodes as workers of a Dask cluster: a local one, or that of a scheduler somewhere.

The data of a node and the results of its steps stay on its worker; the messages go through this process, which is the
central task.  Each step is a function of the state before it, so Dask repeats the work of a lost worker on another one;
where it can't, the missing answer becomes an error after a time limit.
"""

from __future__ import annotations

import logging
import re
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from functools import partial
from typing import Any

from ..errors import ClusterError, DenocError, InputError
from ..machine.backend import chosen_backend
from .engines import Message, Work, node_steps_carried_out

CLUSTER_PATIENCE = 60.0  # seconds for an answer
CONNECTING = 10.0
CLOSING = 10.0
POLLING = 0.01
LOOKING = 1.0  # seconds between two looks at whether there are workers
LONELY = 30.0  # seconds without any, after which nobody waits for another one
ADDRESS = re.compile(r"([a-z]+://)?[^/\s]+:\d+")
EXTRA = "pip install '.[cluster]'"

Kept = tuple[Sequence[Any], list[dict[str, Any]], list[Message]]  # parts, results of earlier steps, the last answer


class Cluster:
    """An engine on Dask: `nodes` local workers of one thread each, or the workers of a given scheduler."""

    name = "dask"

    def __init__(self, nodes: int, scheduler: str | None = None, patience: float = CLUSTER_PATIENCE):
        try:
            import distributed
        except ImportError as missing:
            raise InputError(
                "Dask isn't installed", found=str(missing), hint=f"`{EXTRA}` in the checkout installs it"
            ) from None
        self._dask, self._patience, self._cluster = distributed, patience, None
        self._begun: list[Any] = []
        self._kept: list[Any] = []
        for own in ("distributed", "distributed.client"):  # its failures are raised as errors here
            logging.getLogger(own).setLevel(logging.CRITICAL)
        address: Any = scheduler
        if scheduler is not None and not ADDRESS.fullmatch(scheduler):
            self._refuse(scheduler, ValueError("not an address"))
        try:
            if scheduler is None:
                address = self._cluster = _local_cluster(distributed, nodes)
            self._client = distributed.Client(address, timeout=CONNECTING, set_as_default=False)
            self._client.wait_for_workers(nodes if scheduler is None else 1, timeout=CONNECTING)
            self.workers = sorted(self._client.nthreads())
            if scheduler is not None:
                self._refuse_other_pythons(scheduler)
        except (OSError, ValueError, RuntimeError, ImportError) as error:
            self.close()
            self._refuse(scheduler, error)

    def begin(self, groups: Sequence[Sequence[Any]]) -> None:
        self._begun = [self._submit(n, _begun, list(group)) for n, group in enumerate(groups)]
        self.restart()

    def restart(self) -> None:
        self._kept = list(self._begun)

    def step(self, work: Work, inboxes: Sequence[Sequence[Message]]) -> list[list[Message]]:
        way = chosen_backend()
        for n, inbox in enumerate(inboxes):
            self._kept[n] = self._submit(n, _stepped, work, way, self._kept[n], list(inbox))
        futures = [self._submit(n, _answer, kept) for n, kept in enumerate(self._kept)]
        return self._gathered(futures)

    def task(self, function: Callable[[Any], Any], of: object) -> Any:
        """A function of something under way on any worker."""
        try:
            return self._client.submit(function, of, pure=False)
        except (OSError, RuntimeError) as error:
            raise self._lost(error) from None

    def first(self, under_way: Sequence[Any]) -> Any:
        """The first of some tasks that isn't under way any more, however long that takes."""
        looked = seen = time.monotonic()
        while not (over := [task for task in under_way if task.status != "pending"]):
            if self._client.status not in ("running", "connecting"):
                raise self._lost(OSError("the connection is closed"))
            if time.monotonic() > looked + LOOKING:
                present = self._workers_are_there()
                looked = time.monotonic()
                seen = looked if present else seen
                if looked > seen + LONELY:
                    raise self._lost(OSError(f"no worker for {LONELY:g} s"))
            time.sleep(POLLING)
        return over[0]

    def _rpc(self) -> Any:
        """What asks the scheduler."""
        return self._client.scheduler

    def _workers_are_there(self) -> bool:
        try:
            return bool(self._client.sync(self._rpc().ncores, callback_timeout=CONNECTING))
        except (OSError, RuntimeError):
            return False

    def _refuse_other_pythons(self, scheduler: str) -> None:
        """Raises an error if a worker has another Python, which may not be able to read what this one writes."""
        asked = partial(self._rpc().broadcast, msg={"op": "versions", "packages": []}, on_error="ignore")
        own = ".".join(map(str, sys.version_info[:2]))
        for worker, versions in sorted(self._client.sync(asked, callback_timeout=CONNECTING).items()):
            python = str(versions["host"]["python"]).partition(".final")[0]
            if not python.startswith(f"{own}."):
                self.close()
                raise ClusterError(
                    f"the worker {worker} of {scheduler} has Python {python}, this process {own}\n"
                    "  they have to be the same, so that each can read what the other one writes"
                )

    def result(self, done: Any) -> Any:
        """The result of a task that is done."""
        return self._gathered([done])[0]

    def close(self) -> None:
        self._kept, self._begun = [], []
        for service in (getattr(self, "_client", None), self._cluster):
            if service is not None:
                try:
                    service.close(timeout=CLOSING)
                except (OSError, RuntimeError):  # a broken connection needs no closing
                    continue

    # ----

    def _submit(self, node: int, *task: Any) -> Any:
        worker = self.workers[node % len(self.workers)]
        try:
            return self._client.submit(*task, workers=[worker], allow_other_workers=True, pure=False)
        except (OSError, RuntimeError) as error:
            raise self._lost(error) from None

    def _gathered(self, futures: list[Any]) -> list[Any]:
        failed = (OSError, RuntimeError, CancelledError, self._dask.scheduler.KilledWorker)
        try:
            gather = partial(self._client.gather, futures, asynchronous=True)
            return list(self._client.sync(gather, callback_timeout=self._patience))
        except DenocError:
            raise
        except failed as error:  # a TimeoutError is an OSError
            raise self._lost(error) from None
        except (ImportError, AttributeError) as error:  # of what it was sent, or of what it has sent
            raise ClusterError(
                f"a worker and this process can't read each other: {type(error).__name__}: {error}\n"
                "  both need the same denoc and the same Python"
            ) from error

    def _lost(self, error: BaseException) -> ClusterError:
        logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # it would complain of tasks whose answers never come
        late = isinstance(error, TimeoutError)
        why = f"no answer in {self._patience:g} s" if late else f"{type(error).__name__}: {error}".splitlines()[0]
        return ClusterError(
            f"the Dask cluster doesn't answer: {why}\n"
            "  a worker or the scheduler was lost or hangs, or a step takes longer than that (`--timeout`); "
            "threads and one process need no cluster"
        )

    @staticmethod
    def _refuse(scheduler: str | None, error: BaseException) -> None:
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
        if scheduler is None:
            raise ClusterError(f"no Dask cluster could be started on this machine: {why}") from None
        raise InputError(
            "no scheduler with workers answers there",
            key="--scheduler",
            found=f"{scheduler}: {why}",
            allowed="the address of a Dask scheduler, such as tcp://127.0.0.1:8786",
        ) from None


def _local_cluster(distributed: Any, nodes: int) -> Any:
    """A scheduler in this process and workers in processes of their own, none of which answers to HTTP."""

    class Scheduler(distributed.Scheduler):  # type: ignore[misc]
        def start_http_server(self, *_: Any, **__: Any) -> None:
            pass

    here, silent = {"host": "127.0.0.1", "dashboard": False}, {"silence_logs": logging.CRITICAL}
    worker = {**here, **silent, "nthreads": 1, "memory_limit": 1.0 / nodes, "worker_class": dask_worker_without_http}
    return distributed.SpecCluster(
        scheduler={"cls": Scheduler, "options": {**here, "port": 0}},
        workers={n: {"cls": distributed.Nanny, "options": worker} for n in range(nodes)},
        **silent,
    )


# ---- on the workers


def dask_worker_without_http(*given: Any, **options: Any) -> Any:
    """A worker of Dask, as a nanny makes it, that opens no port for HTTP."""
    from distributed import Worker

    made = Worker(*given, **options)
    made.start_http_server = lambda *_, **__: None  # type: ignore[method-assign]
    return made


def _begun(parts: Sequence[Any]) -> Kept:
    return parts, [{} for _ in parts], []


def _stepped(work: Work, way: str, before: Kept, inbox: Sequence[Message]) -> Kept:
    parts, kept, _ = before
    after = [dict(own) for own in kept]  # copies, so that Dask can repeat the step elsewhere
    return parts, after, node_steps_carried_out(work, way, parts, after, inbox)


def _answer(kept: Kept) -> list[Message]:
    return kept[2]
