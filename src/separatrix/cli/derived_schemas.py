"""Write the schemas that are derived from dataclasses: ``python -m separatrix.cli.derived_schemas``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from separatrix.auditing.audit_facts import AuditFacts
from separatrix.auditing.facts import FORMAT, Answer
from separatrix.persistence.json_schema import schema_of


def derived() -> dict[str, Any]:
    """Each schema by the name of its command."""
    about = (
        "Every number of report.html. Times stand under keys named seconds, and what depends on the day under run; all "
        "else is the same for the same seed while the time budget lasts. Undefined and infinite numbers are null. Rows "
        "are numbered from 0."
    )
    extra = {"format": {"const": FORMAT}, "answers": dict[str, Answer]}
    return {"audit": schema_of(AuditFacts, "separatrix audit --json, and audit.json", 2, about, extra)}


def text(schema: Any) -> str:
    """A schema as its file has it."""
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def main() -> None:
    """Write the files."""
    for name, schema in derived().items():
        (Path(__file__).parent / "schemas" / f"{name}.json").write_text(text(schema), encoding="utf-8")


if __name__ == "__main__":
    main()
