"""Certificates with changes that know their structure, and whether the checker believes a false one.

Nothing here knows the format: changes are made to numbers, lists and keys wherever they are, and parts are taken over
from other true certificates of the same or of nearly the same data, fingerprints and scopes included.
"""

from __future__ import annotations

import copy
import json
from random import Random

from cases import make
from judge import Truth, parts_of
from near_forms import near_fates, shortened, shortened_in_a_face

from separatrix import fewest_mistakes, margin, mistake_bound, separability, verify
from separatrix.errors import CertificateError
from separatrix.proofs import Certificate
from separatrix.proofs.fewest_mistakes.case_tree import proof
from separatrix.proofs.fewest_mistakes.witness_entries import entry_of

EACH = 100  # mutants of one case
NUMBERS = ["0x0", "0x1", "-0x1", "0x2", "0x1/0x2", "-0x1/0x3", "0x1.8p+1", "0x1/0x0", "0x" + "f" * 30, "1", "", "nan"]
NUMBERS += ["0x1p+1023", "-0x1p-1074", "inf", "0x1/-0x1", "0x_1", " 0x1", "1e3", "0X1", "+0x1"]
INTEGERS = [0, 1, -1, 2, 3, 7, 1 << 31, 1 << 63, -(1 << 63), 10**20]
OTHERS = [None, True, False, 0.5, 1.0, "", "0", [], {}, [[]], [0], ["0x1"], "complete", -0.0]
CLAIMS = ["complete", "quasi", "overlap", "not-complete", "margin", "margin-lifted", "min-errors"]
CLAIMS += [f"coefficient-{fate}" for fate in ("finite", "infinite", "undetermined", "unidentifiable")]


def certificates(case, rng):
    """True certificates of many kinds about a case, as JSON."""
    X, y, options = case.table, case.labels, case.options()
    out = []
    if case.classes > 2:
        for kind in case.constructions:
            result = separability(X, y, multiclass=kind, sample_weight=case.weights, **options)
            out += [result.certificate, *(part.certificate for part in result.parts.values())]
            some = rng.choice(list(result.parts.values()))
            out += [fate.certificate for fate in list(some.coefficients.values())[:3]]
    else:
        result = separability(X, y, sample_weight=case.weights, **options)
        out += [result.certificate, *(fate.certificate for fate in result.coefficients.values())]
        out += shortened(result, rng) + shortened_in_a_face(result, rng) + near_fates(result, rng)
        if case.weights is None:
            found = fewest_mistakes(X, y, max_nodes=rng.choice([None, 1]), **options)
            out += [found.certificate, *other_forms(found)]
            out.append(margin(X, y, exact=rng.random() < 0.5, **options).certificate)
        if case.reading == "binary64":
            bound = mistake_bound(X, y, fit_intercept=case.intercept, sample_weight=case.weights)
            out.append(bound.certificate)
    return [json.loads(json.dumps(certificate.to_dict())) for certificate in out]


def other_forms(found):
    """The same bracket with weights for every witness, with shares of them, and with one or two blocks of all rows."""
    content, rows, subject = found.certificate.content, found._searched.certified, found._searched.named
    if not content["lower"] or "blocks" in content["nodes"][0]:
        return []
    _, witnesses = proof(found._search, found.lower)
    weighted = [entry_of(codes, rows, subject, 0) for codes in witnesses]
    moved = [
        node | {"wrong": node["wrong"] + 1, "right": node["right"] + 1} if "split" in node else node
        for node in content["nodes"]
    ]
    block = {"rows": [subject.row(i) for i in range(rows.n)], "lower": content["lower"], "node": 1}
    blocks = [{"blocks": [block], "pack": []}, *moved]
    shares = [
        node
        | {"weights": [6 * t for t in node.get("weights", [1] * len(node["pack"]))], "over": 6 * node.get("over", 1)}
        if "pack" in node
        else node
        for node in content["nodes"]
    ]
    twice = [{"blocks": [block | {"weight": 1}, block | {"node": 1 + len(moved)}], "pack": [], "over": 2}, *moved]
    twice += [
        node | {"wrong": node["wrong"] + len(moved), "right": node["right"] + len(moved)} if "split" in node else node
        for node in moved
    ]
    forms = {"witnesses": weighted}, {"nodes": shares}, {"nodes": blocks}, {"nodes": twice}
    return [Certificate({**content, **form}) for form in forms]


def form_of(content):
    """The claim of a certificate, and the kind of its proof."""
    parts = content.get("certificates", [content])
    if len(parts) > 1 or parts[0]["claim"] != "min-errors":
        near = " and null vectors" if "null" in parts[0] else ""
        return parts[0]["claim"] + (f" by near weights{near}" if "near" in parts[0] else "")
    nodes, witnesses = content.get("nodes") or [{}], content.get("witnesses") or []
    kinds = [name for name in ("blocks", "over") if any(name in node for node in nodes)]
    kinds += [name for name in ("near", "lambda") if any(name in entry for entry in witnesses)]
    reversed_rows = any(row < 0 for entry in witnesses for row in (entry["support"] if "near" in entry else []))
    return " ".join(["min-errors", *kinds, *(["reversed"] if reversed_rows else [])])


def nearly(case, rng):
    """The case with a row, a label or an option changed."""
    other = copy.deepcopy(case)
    kind = rng.randrange(6)
    i, j = rng.randrange(len(case.X)), rng.randrange(len(case.X[0]))
    if kind == 0:
        other.X[i][j] = rng.choice([0.0, 1.0, -1.0, -other.X[i][j]])
    elif kind == 1 and case.y.count(case.y[i]) > 1:
        other.y[i] = (case.y[i] + 1) % case.classes
    elif kind == 2:
        other.intercept = not case.intercept
    elif kind == 3 and case.form != "float32":
        other.reading = "decimal" if case.reading == "binary64" else "binary64"
    elif kind == 4:
        other.weights = [float(k != i) for k in range(len(case.y))]
    else:
        other.X[i] = list(other.X[rng.randrange(len(case.X))])
    if {other.y[k] for k in other.used} != set(case.y):  # every class keeps a row that counts
        other.weights = None
    return other


def places(value, path=()):
    """Every place in a JSON value, as a path of keys."""
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


def at(value, path):
    for key in path:
        value = value[key]
    return value


def changed(value, rng):
    """Another value of the same kind, mostly."""
    if rng.random() < 0.06:
        return copy.deepcopy(rng.choice(OTHERS))
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return rng.choice([value + 1, value - 1, -value, ~value, rng.choice(INTEGERS)])
    if isinstance(value, str):
        if value in CLAIMS:
            return rng.choice(CLAIMS)
        try:
            number = int(value, 16)
        except ValueError:
            return rng.choice([*NUMBERS, value[1:], value + "0", value.upper()])
        return rng.choice([hex(number + 1), hex(number - 1), hex(-number), hex(2 * number), rng.choice(NUMBERS)])
    if isinstance(value, list) and value:
        k, j = rng.randrange(len(value)), rng.randrange(len(value))
        value = copy.deepcopy(value)
        kind = rng.randrange(6)
        if kind == 0:
            del value[k]
        elif kind == 1:
            value.insert(j, copy.deepcopy(value[k]))
        elif kind == 2:
            value[k], value[j] = value[j], value[k]
        elif kind == 3:
            value = value[:k]
        elif kind == 4:
            value.append(changed(value[k], rng))
        else:
            value = [changed(v, rng) for v in value]
        return value
    if isinstance(value, dict) and value:
        value = dict(value)
        a, b = rng.choice(list(value)), rng.choice(list(value))
        kind = rng.randrange(3)
        if kind == 0:
            del value[a]
        elif kind == 1:
            value[a], value[b] = value[b], value[a]
        else:
            value[a] = changed(value[a], rng)
        return value
    return copy.deepcopy(rng.choice(OTHERS))


def mutant(base, donors, rng):
    """A certificate with one to three changes."""
    content = copy.deepcopy(base)
    for _ in range(rng.choice([1, 1, 1, 2, 2, 3])):
        paths = [path for path in places(content) if path]
        if not paths:
            break
        path = rng.choice(paths if rng.random() < 0.6 else [p for p in paths if len(p) <= 2])
        holder, key = at(content, path[:-1]), path[-1]
        if rng.random() < 0.35:  # the same place in another true certificate, or any key of one
            donor = copy.deepcopy(rng.choice(donors))
            try:
                holder[key] = at(donor, path)
            except (LookupError, TypeError):
                if isinstance(donor, dict):
                    name = rng.choice(list(donor))
                    content[name] = donor[name]
        else:
            holder[key] = changed(holder[key], rng)
    return content


def check_mutants(seed, tally):
    """Mutants of the certificates of one case: refused with CertificateError, or true."""
    rng = Random(-1 - seed)
    case = make(seed, rng.choice([2, 2, 2, 3, 4]))
    donors, asked = [], []
    for subject in (case, nearly(case, rng)):
        own = certificates(subject, rng)
        X, y, truth = subject.table, subject.labels, Truth(subject)
        for content in own:
            assert verify(Certificate(content), X, y)
            assert all(map(truth.holds, parts_of(content))), content
            tally[f"changed {form_of(content)}"] += 1
        donors += own
        asked.append((subject, X, y, truth))
    near = [content for content in donors if "near" in content]
    for _ in range(EACH):
        base = rng.choice(near if near and rng.random() < 0.4 else donors)
        tally[f"mutants of {form_of(base)}"] += 1
        content = mutant(base, donors, rng)
        subject, X, y, truth = rng.choice(asked)
        tally["mutants"] += 1
        try:
            verify(Certificate(content), X, y)
        except CertificateError:
            tally["refused"] += 1
            continue
        tally["accepted"] += 1
        parts = parts_of(content)
        assert parts, "a proof of nothing was accepted"
        for part in parts:
            assert truth.holds(part), f"a false claim was accepted for {subject}: {json.dumps(part)}"
            tally[f"accepted {part['claim']}"] += 1
