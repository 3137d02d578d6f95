"""What is written of the proofs: certificates of large tables, and each witness once."""

from __future__ import annotations

import json
import re

import numpy as np

import separatrix
from separatrix import checker


def proved(found, folder):
    """The claims that the stand-alone checker accepts, without the table that each is about."""
    found.certified.save(folder)
    files = str(folder / "certificate.json"), str(folder / found.certified.file_name)
    return [sentence.partition(" [")[0] for sentence in checker.check(*checker.read(*files, None))]


def test_a_large_table_of_words_for_classes_is_certified_by_a_few_rows(ledger, tmp_path):
    rng = np.random.default_rng(0)
    X = (rng.random((450_000, 12)) < 0.3).astype(float)
    agreed = X[:, :5].sum(axis=1) > 2
    agreed[rng.choice(len(X), 5, replace=False)] ^= True
    found = separatrix.audit(X, np.where(agreed, "yes", "no"), ledger=ledger, budget=4)
    assert found.facts.certificate.claims[0] == "overlap"
    assert found.facts.certificate.rows is not None
    assert "overlap" in proved(found, tmp_path)[0]


def test_a_witness_is_proved_once(audited, tmp_path):
    claims = proved(audited("titanic_numeric.csv", "survived", budget=8), tmp_path)
    witnesses = [rows for claim in claims for rows in re.findall(r"of these \d+ rows .*?: ([\d, ]+)", claim)]
    assert len(witnesses) == len(set(witnesses)) >= 1


def test_a_proof_too_long_for_the_page_leaves_its_witness_there(audited, monkeypatch):
    found = audited("titanic_numeric.csv", "survived", budget=8)
    whole = json.loads(re.search(r'id="proof-data">(.*?)</script>', found.report(), re.DOTALL)[1])
    assert whole["claimsLeftOut"] == 0
    first = found.certificate.to_dict()["certificates"][0]
    monkeypatch.setattr("separatrix.auditing.report.page.MOST_CERTIFICATE", len(json.dumps(first)) - 1)
    data = json.loads(re.search(r'id="proof-data">(.*?)</script>', found.report(), re.DOTALL)[1])
    (part,) = json.loads(data["certificate"])["certificates"]
    assert part["claim"] == "not-complete"
    assert sorted(part["support"]) == found.facts.separation.witness
    assert data["claimsLeftOut"] == 2  # of the whole table
