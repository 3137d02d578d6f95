"""The second checker gives in a real browser the verdicts and sentences of checker.py."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path

from separatrix import checker

STORED = Path(__file__).parents[1] / "proofs" / "stored_certificates"
SOURCE = Path(checker.__file__).with_suffix(".js")


def cases():
    """Every stored certificate with its table, and changed ones."""
    rng = random.Random(0)
    for name, found in json.loads((STORED / "certificates.json").read_text()).items():
        table = (STORED / name).read_text()
        for content in found.values():
            yield name, json.dumps(content), table
            for _ in range(8):
                other = copy.deepcopy(content)
                part = rng.choice(other.get("certificates", [other]))
                key = rng.choice(list(part))
                part[key] = rng.choice([None, 0, [], "0x1", part[rng.choice(list(part))]])
                yield name, json.dumps(other), table
                k = rng.randrange(len(table))
                yield name, json.dumps(content), table[:k] + rng.choice('0123456789.,e-"\n') + table[k + 1 :]


def test_verdicts_and_sentences(page, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    page.goto("about:blank")
    page.add_script_tag(path=str(SOURCE))
    asked = list(cases())
    script = """asked => asked.map(([name, certificate, table]) => {
        const { code, lines } = verify(certificate, table, name);
        return [code, lines];
    })"""
    answers = page.evaluate(script, asked)
    codes = {0: 0, 1: 0, 2: 0}
    for (name, certificate, table), (code, lines) in zip(asked, answers, strict=True):
        Path("certificate.json").write_text(certificate)
        Path(name).write_text(table)
        assert checker.main(["certificate.json", name]) == code, (certificate, table, lines)
        out, _ = capfd.readouterr()
        assert code or out.splitlines() == lines
        codes[code] += 1
    assert min(codes.values()) > 20
