"""Schemas that are derived from dataclasses are those that are committed."""

from __future__ import annotations

from separatrix.cli.derived_schemas import derived, text
from separatrix.cli.schema import schemas


def test_the_committed_schemas_are_current():
    """Run ``python -m separatrix.cli.derived_schemas`` after a change of the facts."""
    committed = schemas()
    for name, schema in derived().items():
        assert committed[name] == text(schema)
