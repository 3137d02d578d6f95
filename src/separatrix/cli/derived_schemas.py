"""Write the schemas that are derived from dataclasses: ``python -m separatrix.cli.derived_schemas``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from separatrix.auditing.audit_facts import FORMAT, AuditFacts
from separatrix.auditing.phrasing import Answer
from separatrix.cli import json_reports
from separatrix.cli.stream_report import StreamReport
from separatrix.persistence.json_values import schema_of

# What each command prints: its type, the version of its schema, and a sentence. A change of the type is a new version.
PRINTED: dict[str, tuple[Any, int, str]] = {
    "fit": (json_reports.FitReport, 2, "A fitted model, as its file has it."),
    "predict": (json_reports.PredictionReport, 2, "What was written, and what happened to cells on the way."),
    "stream": (StreamReport, 1, "What a stream did, from its first row on."),
    "evaluate": (
        json_reports.EvaluatedClasses | json_reports.EvaluatedNumbers | json_reports.EvaluatedSource,
        3,
        "Every metric of a model on the rows of a source, with its interval.",
    ),
    "compare": (json_reports.ComparisonReport, 2, "Learners on the same folds."),
    "describe": (json_reports.ModelReport | json_reports.SourceReport, 3, "What a model file or a source holds."),
    "export": (json_reports.ExportReport, 2, "A model as code."),
    "examples": (list[json_reports.ExampleReport], 2, "The built-in data sets."),
}


def derived() -> dict[str, Any]:
    """Each schema by the name of its command."""
    about = (
        "Every number of report.html. Times stand under keys named seconds, and what depends on the day under run; all "
        "else is the same for the same seed while the time budget lasts. Undefined and infinite numbers are null. Rows "
        "are numbered from 0."
    )
    extra = {"format": {"const": FORMAT}, "answers": dict[str, Answer]}
    found = {"audit": schema_of(AuditFacts, "separatrix audit --json, and audit.json", 2, about, extra)}
    for name, (kind, version, description) in PRINTED.items():
        found[name] = schema_of(kind, f"separatrix {name} --json", version, description)
    return found


def text(schema: Any) -> str:
    """A schema as its file has it."""
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def main() -> None:
    """Write the files."""
    for name, schema in derived().items():
        (Path(__file__).parent / "schemas" / f"{name}.json").write_text(text(schema), encoding="utf-8")


if __name__ == "__main__":
    main()
