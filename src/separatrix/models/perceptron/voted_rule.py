"""The voted perceptron as a rule: every vector it passes through votes with the rows it has survived."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix import kernels
from separatrix.arrays import Floats, Indices
from separatrix.models.perceptron.online_rules import Arrays, OnlineRule, Vectors
from separatrix.models.perceptron.perceptron_rule import SLICE

ALIVE, USED, _, FORGOTTEN = range(4)  # of the account (kernels, voted)
FIRST_ROOM = 16


@dataclass(frozen=True, slots=True)
class Voted(OnlineRule):
    """The perceptron's path, of which at most ``max_vectors`` vectors are kept beside the current one."""

    zero_is_mistake: bool
    max_vectors: int

    def beside(self, lifted: Floats) -> Arrays:
        count, room = len(lifted), min(FIRST_ROOM, self.max_vectors)
        return {
            "kept": np.zeros((count, room, lifted.shape[1])),
            "votes": np.zeros((count, room), dtype=np.int64),
            "born": np.zeros((count, room), dtype=np.int64),
            "account": np.zeros((count, 4), dtype=np.int64),
        }

    def kernel(self, v: Vectors) -> VotedKernel:
        return VotedKernel(self, v)

    def electorate(self, v: Vectors, k: int) -> tuple[Floats, Indices]:
        """The vectors that vote and their votes, the current one last."""
        used, alive = v.beside["account"][k, USED], v.beside["account"][k, ALIVE]
        vectors = np.concatenate([v.beside["kept"][k, :used], v.lifted[k : k + 1]])
        return vectors, np.append(v.beside["votes"][k, :used], alive)


@dataclass(slots=True)
class VotedKernel:
    """Passes that give the kept vectors more room as they need it."""

    rule: Voted
    v: Vectors

    def binary(
        self, k: int, X: Any, y: Any, step: Any, order: Any, begin: int, end: int, limit: int, habit: Any = None
    ) -> tuple[int, int, int]:
        """As :class:`OnlineKernel` has it; votes are not sped up by ``habit``."""
        updates, last, t = 0, -1, begin
        while t < end and updates < limit:
            left = limit - updates
            b = self.v.beside
            if (room := b["kept"].shape[1]) < self.rule.max_vectors:
                if b["account"][k, USED] == room:
                    self._grow(min(2 * room, self.rule.max_vectors))
                    continue
                left = min(left, room - int(b["account"][k, USED]))
            moved, visited, at = kernels.voted_pass(
                X, y, step, order, self.v.lifted[k], self.rule.bias, self.rule.zero_is_mistake,
                b["kept"][k], b["votes"][k], b["born"][k], b["account"][k], t, end, left,
            )  # fmt: skip
            updates, t, last = updates + moved, t + visited, at if moved else last
        self.v.updates[k] += updates
        self.v.visits[k] += t - begin
        return updates, t - begin, last

    def _grow(self, room: int) -> None:
        for name in ("kept", "votes", "born"):
            old = self.v.beside[name]
            new = np.zeros((old.shape[0], room, *old.shape[2:]), dtype=old.dtype)
            new[:, : old.shape[1]] = old
            self.v.beside[name] = new


def vote_scores(X: Any, vectors: Floats, votes: Indices) -> Floats:
    """Votes for +1 less those for -1, as a share of all votes."""
    out = np.empty(X.shape[0])
    vectors = np.ascontiguousarray(vectors)
    some = max(1, SLICE // vectors.size)
    for begin in range(0, len(out), some):  # Ctrl-C comes through between two calls
        kernels.votes(kernels.rows(X[begin : begin + some]), vectors, votes, out[begin : begin + some])
    return out / max(1, int(votes.sum()))
