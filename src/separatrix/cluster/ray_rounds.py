"""Rounds on Ray: an actor a worker, each with a run of neighbouring partitions that stay in its memory.

A worker that dies takes nothing with it that cannot be made again: a new one reads the same partitions, repeats what
was prepared, and runs the round. Results do not depend on who computes them, so that neither deaths nor slow workers
change a bit.

Whether Ray answers at an address, found within seconds: Ray itself would wait much longer.

Ray's servers speak gRPC, which answers every request with the status 200 of HTTP/2, also one that it does not know. So
one request without content is sent, and the first header of the answer is looked at (RFC 9113, RFC 7541).
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from separatrix.cluster.partitions import SourcePart
from separatrix.cluster.rounds import LOG, Failure, Join, PartWorker, Progress, Rounds, Work
from separatrix.data.file_pieces import workers as processors
from separatrix.errors import ClusterError, ParameterError
from separatrix.extras import need

START = 120.0  # seconds in which workers must start
DEATHS = 3  # workers that may die with the same partitions


class RayRounds(Rounds):
    """Rounds on the actors of a Ray cluster: one of this machine's, or that of an address."""

    def __init__(
        self,
        partitions: Sequence[SourcePart],
        address: str | None = None,
        workers: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        super().__init__(partitions, progress)
        self.ray = need_ray(address)
        self.owned = connect(self.ray, address, workers)
        self.actors: list[Any] = []
        try:
            most = int(self.ray.cluster_resources().get("CPU", 0))
            if (workers or 1) > most:
                raise ClusterError(f"{workers or 1} workers were asked for and the cluster has {most} processors.")
            self.shares = shares(self.partitions, min(workers or most, len(self.partitions)))
            self.deaths = [0] * len(self.shares)
            self.actors = [self._actor() for _ in self.shares]
            self._need_room()
            self._take()
        except BaseException:
            self.close()
            raise
        LOG.info("%d partitions on %d workers", self.leaves, len(self.actors))

    def _need_room(self) -> None:
        """Refuse a cluster whose processors are busy with other work."""
        _, waiting = self.ray.wait(
            [actor.pid.remote() for actor in self.actors], num_returns=len(self.actors), timeout=START
        )
        if waiting:
            raise ClusterError(
                f"{len(waiting)} of {len(self.actors)} workers did not start within {START:g} s: the cluster is busy; "
                "ask for fewer workers, or wait."
            )

    def _actor(self) -> Any:
        return self.ray.remote(num_cpus=1, max_restarts=0)(PartWorker).remote()

    def _own(self, k: int) -> list[SourcePart]:
        return [self.partitions[index] for index in self.shares[k]]

    def _take(self) -> None:
        for k, failure in enumerate(self._get([a.take.remote(self._own(k), []) for k, a in enumerate(self.actors)])):
            if isinstance(failure, Exception):
                self._revive(k)

    def _get(self, waited: Sequence[Any]) -> list[Any]:
        """The results, or for a worker that died its error."""
        out: list[Any] = []
        for one in waited:
            try:
                out.append(self.ray.get(one))
            except (self.ray.exceptions.RayActorError, self.ray.exceptions.WorkerCrashedError) as died:
                out.append(died)
        return out

    def _answers(self, job: tuple[Work, tuple[Any, ...], Join[Any] | None]) -> list[Any]:
        shared = self.ray.put(job)
        found = self._get([a.run.remote(shared, self.shares[k], self.leaves) for k, a in enumerate(self.actors)])
        for k, answer in enumerate(found):
            while isinstance(answer, Exception):
                failure = self._revive(k)
                again = self.actors[k].run.remote(shared, self.shares[k], self.leaves)
                answer = failure if failure is not None else self._get([again])[0]
            found[k] = answer
        return found

    def _revive(self, k: int) -> Failure | None:
        """A new worker in place of a dead one, with the same partitions prepared in the same way."""
        while True:
            self.deaths[k] += 1
            names = ", ".join(part.name for part in self._own(k)[:3])
            LOG.warning("worker %d died (%s, ...): its part is redone", k, names)
            if self.deaths[k] > DEATHS:
                raise ClusterError(
                    f"{self.deaths[k]} workers died with the same partitions ({names}, …): they may need more memory; "
                    "make partitions smaller, or use more workers."
                )
            self.actors[k] = self._actor()
            answer = self._get([self.actors[k].take.remote(self._own(k), self.prepared)])[0]
            if not isinstance(answer, Exception):
                return answer if isinstance(answer, Failure) else None

    def close(self) -> None:
        for actor in self.actors:
            with contextlib.suppress(Exception):
                self.ray.kill(actor)
        self.actors = []
        if self.owned:
            self.owned = False
            self.ray.shutdown()


def shares(partitions: Sequence[SourcePart], workers: int) -> list[list[int]]:
    """Runs of neighbouring partitions of about the same size, one a worker; at least one partition each."""
    total = sum(part.weight + 1 for part in partitions)
    ends = list(accumulate(part.weight + 1 for part in partitions))
    out: list[list[int]] = [[] for _ in range(workers)]
    for part, end in zip(partitions, ends, strict=True):
        middle = end - (part.weight + 1) / 2
        out[min(workers - 1, int(workers * middle / total))].append(part.index)
    return [own for own in out if own]


def need_ray(address: str | None) -> Any:
    """The package, or which extra to install; a cluster of this machine alone listens to this machine alone."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if address is None:
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")  # Ray's name for: addresses of the loopback
    return need("ray")


def connect(ray: Any, address: str | None, workers: int | None) -> bool:
    """Join a cluster, or start one of this machine's processors; whether there is one to shut down afterwards."""
    quiet = {"log_to_driver": False, "logging_level": "error"}
    named = os.environ.get("RAY_ADDRESS", "") if address == "auto" else address or ""
    if named and named != "auto":
        need_answer(named)
    if ray.is_initialized():
        need_same(ray, named)
        return False
    if address is None:
        ray.init(address="local", num_cpus=workers or processors(), include_dashboard=False, **quiet)
        return True
    try:
        ray.init(address=address, **quiet)
    except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
        said = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
        raise ClusterError(f"no Ray cluster at {address!r}: {said.strip()[:200]}") from error
    return True


def need_same(ray: Any, address: str) -> None:
    """Refuse a cluster other than the one that this process is connected to already."""
    joined, port = ray.get_runtime_context().gcs_address, address.rpartition(":")[2]
    if port not in ("", "auto", joined.rpartition(":")[2]) and not address.startswith("ray://"):
        raise ClusterError(f"this process is connected to the Ray cluster at {joined}, and {address!r} is another one.")


class RayExecutor:
    """Folds and learners spread over a Ray cluster: what ``cross_validate`` and ``compare`` take as ``executor``.

    Parameters
    ----------
    address : None for a cluster of this machine's processors, "auto", "HOST:PORT" or "ray://HOST:PORT"
    workers : how many processors of this machine a cluster of its own has

    Examples
    --------
    >>> from separatrix.cluster import RayExecutor
    >>> with RayExecutor(workers=2) as executor:  # doctest: +SKIP
    ...     cross_validate(learner, X, y, executor=executor)
    """

    def __init__(self, address: str | None = None, *, workers: int | None = None) -> None:
        self.ray = need_ray(address)
        self.owned = connect(self.ray, address, workers)
        self._task = self.ray.remote(num_cpus=1)(_called)

    def submit(self, work: Any, *arguments: Any) -> Any:
        """Run ``work(*arguments)`` on a worker; a future."""
        return self._task.remote(work, *arguments).future()

    def __enter__(self) -> RayExecutor:
        return self

    def __exit__(self, *error: object) -> None:
        if self.owned:
            self.owned = False
            self.ray.shutdown()


def _called(work: Any, *arguments: Any) -> Any:
    return work(*arguments)


REACH = 4.0  # seconds in which an address must take a connection, and as many in which it must answer
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, SETTINGS = 0, 1, 4  # types of frames
END_STREAM, END_HEADERS, PADDED, PRIORITY = 1, 4, 8, 32  # flags
METHOD = "/ray.rpc.NodeInfoGcsService/GetClusterId"
STATUS_200 = 0x88  # the entry ":status: 200" of the static table
RESIZED = 0x20  # an instruction about the table, before the first header


def need_answer(address: str) -> None:
    """Refuse an address at which nothing answers, or something else than Ray does."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise ParameterError(f"the address is {address!r}: write auto, HOST:PORT or ray://HOST:PORT.")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=REACH) as connection:
            if os.environ.get("RAY_USE_TLS", "0") == "0":  # else all is encrypted, and Ray finds out
                said = answer(connection, address)
    except OSError as error:
        raise ClusterError(
            f"no Ray cluster answers at {address!r} ({error.strerror or error}): is it running, and can it be reached?"
        ) from None
    if os.environ.get("RAY_USE_TLS", "0") == "0" and said != STATUS_200:
        raise ClusterError(
            f"{address!r} takes a connection and does not answer within {REACH:g} s: is the cluster alive, and is the "
            "port that of `ray start`?"
            if said is None
            else f"what answers at {address!r} is not a Ray cluster: is the port that of `ray start`?"
        )


def answer(connection: socket.socket, address: str) -> int | None:
    """The first byte of the headers of the answer to a request; 0 for something else, None where nothing comes."""
    texts = {":method": "POST", ":scheme": "http", ":path": METHOD, ":authority": address}
    texts |= {"content-type": "application/grpc", "te": "trailers"}
    block = b"".join(bytes((0, len(k))) + k.encode() + bytes((len(v),)) + v.encode() for k, v in texts.items())
    request = frame(HEADERS, END_HEADERS, 1, block) + frame(DATA, END_STREAM, 1, bytes(5))
    connection.sendall(PREFACE + frame(SETTINGS, 0, 0, b"") + request)
    deadline, said = time.monotonic() + REACH, b""
    while (left := deadline - time.monotonic()) > 0:
        connection.settimeout(left)
        try:
            more = connection.recv(4096)
        except TimeoutError:
            break
        said += more
        found = first_header(said)
        if found is not None or not more:
            return found or 0
    return None if len(said) < 9 else 0


def frame(kind: int, flags: int, stream: int, content: bytes) -> bytes:
    """A frame of HTTP/2."""
    return len(content).to_bytes(3, "big") + bytes((kind, flags)) + stream.to_bytes(4, "big") + content


def first_header(said: bytes) -> int | None:
    """The first byte of the first block of headers; 0 where this is not HTTP/2, None where more must come."""
    if len(said) > 3 and said[3] != SETTINGS:
        return 0
    while len(said) >= 9:
        size, kind, flags = int.from_bytes(said[:3], "big"), said[3], said[4]
        content, said = said[9 : 9 + size], said[9 + size :]
        if len(content) < size:
            return None
        if kind == HEADERS:
            content = content[(1 if flags & PADDED else 0) + (5 if flags & PRIORITY else 0) :]
            block = content.lstrip(bytes(range(RESIZED, RESIZED + 32)))
            return block[0] if block else 0
    return None
