"""Audits that several tests look at, made once; the ledger of test openings is a file of the session."""

from __future__ import annotations

import time

import pytest

from separatrix.auditing import budget, minimum_mistakes
from separatrix.proofs.fewest_mistakes import bracket, branch_and_bound


@pytest.fixture(scope="session", autouse=True)
def processor_time():
    """Budgets count processor time here, so that a busy machine does not change what an audit leaves out."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (budget, minimum_mistakes, bracket, branch_and_bound):
            patch.setattr(module, "perf_counter", time.process_time)
        yield


@pytest.fixture(scope="session")
def ledger(tmp_path_factory):
    return tmp_path_factory.mktemp("ledger") / "ledger.jsonl"


@pytest.fixture(scope="session")
def audited(ledger, real_data):
    """A function from a source (an example, or a file of the real data) to its audit."""
    import separatrix

    made = {}

    def make(source, target=None, **options):
        key = (source, target, *sorted(options.items()))
        if key not in made:
            where = source if source.startswith("example:") else str(real_data(source))
            made[key] = separatrix.audit(where, target, ledger=ledger, **options)
        return made[key]

    return make
