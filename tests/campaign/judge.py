"""Whether what a certificate claims is true of a case, whatever its proof says.

Only the statement of a certificate is read: claim, scope, and the numbers that it claims. A scope that says nothing
(no rows, a side or a class without rows) makes no true claim.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property

import hull_oracle
import oracle


def number(text):
    """A hexadecimal integer, a quotient of two, or a hexadecimal float."""
    if "p" in text:
        return Fraction(float.fromhex(text))
    over, _, under = text.partition("/")
    return Fraction(int(over, 16), int(under or "1", 16))


def plain(name):
    """'+1', '1' and '1.0' name the same class."""
    try:
        return repr(float(str(name).replace("_", "?"))).removesuffix(".0")
    except ValueError:
        return str(name).strip()


def parts_of(content):
    """The statements of a file, each with the data that they share."""
    return [{**part, "data": content["data"]} for part in content.get("certificates", [content])]


class Truth:
    """A case, and what is true of it; what is asked for twice is worked out once."""

    def __init__(self, case):
        self.case, self.table, self.names = case, case.table, case.labels
        self.labels = [plain(label) for label in self.names.tolist()]
        self._known = {}

    def rows(self, ids, signs=None):
        """The lifted rows with these numbers, class 1 against class 0 unless signs are given."""
        case = self.case
        order = sorted(range(2), key=lambda k: case.names[k])  # the package's +1 is the later class
        signs = signs or [1 if case.y[i] == order[1] else -1 for i in ids]
        return oracle.lifted([case.X[i] for i in ids], signs, case.intercept, case.reading)

    @cached_property
    def verdict(self):
        return oracle.verdict(self.rows(range(len(self.case.y))))

    @property
    def tame(self):
        """Whether no number is very large or small."""
        sizes = [abs(v) for x in self.case.X for v in x if v]
        return not sizes or (max(sizes) < 1e30 and min(sizes) > 1e-30)

    @property
    def no_zero_rows(self):
        return self.case.intercept or all(any(x) for x in self.case.X)

    def margin2(self):
        order = sorted(range(2), key=lambda k: self.case.names[k])
        signs = [1 if k == order[1] else -1 for k in self.case.y]
        return hull_oracle.margin2(self.case.X, signs, self.case.intercept, self.case.reading)

    def fewest(self):
        return oracle.fewest_mistakes(self.rows(range(len(self.case.y))))

    @staticmethod
    def bracket(part):
        return number(part["lo2"]), number(part["hi2"])

    def holds(self, part):
        """Whether one certificate's statement is true."""
        return self._of(Statement(part, self))

    def _of(self, statement):
        if statement.key not in self._known:
            self._known[statement.key] = statement.facts()
        return statement.judged(self._known[statement.key])


class Statement:
    """A claim about some of the rows of a case."""

    def __init__(self, part, truth):
        data, case = part["data"], truth.case
        self.part, self.case, self.labels = part, case, truth.labels
        self.dropped = {*data["dropped"]}
        self.classes, self.plus, self.minus = part.get("kesler"), part.get("positive"), part.get("negative")
        self.key = repr(
            (part["intercept"], part["data"]["reading"], sorted(self.dropped), self.classes, self.plus, self.minus)
        )

    def scope(self):
        """The rows z that the claim is about, with signs or owners, or None where it is about nothing."""
        part, case = self.part, self.case
        kept = [i for i in range(len(case.y)) if i not in self.dropped]
        if self.classes is not None:
            kept = [i for i in kept if self.labels[i] in self.classes]
            codes = [self.classes.index(self.labels[i]) for i in kept]
            if len(set(codes)) < len(self.classes) or len(set(self.classes)) < len(self.classes) or len(codes) < 2:
                return None
            X = [case.X[i] for i in kept]
            return oracle.kesler(X, codes, len(self.classes), part["intercept"], part["data"]["reading"])[0], None, X
        plus, minus = self.plus, self.minus
        kept = [i for i in kept if self.labels[i] in plus or minus is None or self.labels[i] in minus]
        signs = [1 if self.labels[i] in plus else -1 for i in kept]
        named = [*plus, *(minus or [])]
        present = {self.labels[i] for i in kept}
        if len(set(signs)) < 2 or len(set(named)) < len(named) or not {*named} <= present:
            return None
        X = [case.X[i] for i in kept]
        return oracle.lifted(X, signs, part["intercept"], part["data"]["reading"]), signs, X

    def facts(self):
        """What is true of the scope, worked out when it is asked for."""
        scope = self.scope()
        return None if scope is None else Facts(*scope, self.part["intercept"], self.part["data"]["reading"])

    def judged(self, facts):
        if facts is None:
            return False
        part, claim = self.part, self.part["claim"]
        if claim in ("complete", "quasi", "overlap"):
            return facts.verdict == claim
        if claim == "not-complete":
            return facts.verdict != "complete"
        if claim.startswith("coefficient-"):
            fate = facts.fates[part["coefficient"]]
            if claim == "coefficient-infinite":
                return fate == {1: "+inf", -1: "-inf"}[part["sign"]]
            return fate == claim.removeprefix("coefficient-")
        if claim == "min-errors":
            upper = part.get("upper")  # without it, the lower bound alone is claimed
            return part["lower"] <= facts.fewest and (upper is None or facts.fewest <= upper)
        low2, high2 = Truth.bracket(part)
        value = {"margin": facts.margin2, "margin-lifted": facts.lifted2}[claim]
        return low2 <= value <= high2 and low2 > 0


class Facts:
    """The truth about one scope."""

    def __init__(self, rows, signs, X, intercept, reading):
        self.rows, self.signs, self.X, self.intercept, self.reading = rows, signs, X, intercept, reading

    @cached_property
    def cone(self):
        return oracle.cone(self.rows)

    @cached_property
    def verdict(self):
        count = len(oracle.strict_rows(self.rows, self.cone))
        return "complete" if count == len(self.rows) else "quasi" if count else "overlap"

    @cached_property
    def fates(self):
        return oracle.fates(self.rows, self.cone)

    @cached_property
    def fewest(self):
        return oracle.fewest_mistakes(self.rows)

    @cached_property
    def margin2(self):
        return math.nan if self.signs is None else hull_oracle.margin2(self.X, self.signs, self.intercept, self.reading)

    @cached_property
    def lifted2(self):
        return math.nan if self.signs is None else hull_oracle.nearest2(self.rows)
