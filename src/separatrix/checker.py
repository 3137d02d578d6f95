"""Checks a certificate against the data it speaks of.  Standard library only; trusts nothing.

    python -m separatrix.checker certificate.json data.csv --target y

or copy this one file anywhere and run it.  Prints "proved: ..." and exits 0, or prints the first thing that
is wrong and exits 1 (2 when a file cannot be read).  Every decision is made in integers.

Row i of the table is x_i with label y_i; z_i = y_i (x_i, 1), without the 1 when "intercept" is false; p is the
length of z_i, and a vector w has p numbers, the intercept last.  In Kesler's construction a row of class y gives
for each other class k the row z with (x, 1) in block y and -(x, 1) in block k (the last class has no block).
"""
import csv, hashlib, json, math, struct, sys  # noqa: E401, I001 because a short file is easier to trust
from fractions import Fraction

FORMAT = "separability-certificate/1"
PRIME = (1 << 61) - 1  # a rank modulo a prime never exceeds the true rank
INDEX_ONLY = 40        # a witness of more rows must carry its weights
class Rejected(Exception):
    """The certificate does not prove its claim."""
def need(condition, why):
    if not condition:
        raise Rejected(why)

# ---- the data ------------------------------------------------------------------------------------------------
def label_name(text: object) -> str:
    """'+1', '1' and '1.0' name the same class."""
    try:
        return repr(float(str(text).replace("_", "?"))).removesuffix(".0")
    except ValueError:
        return str(text).strip()

def read(path, target, columns, d):
    """A table [(label, [(column, value), ... the non-zeros])] from svmlight, or from CSV with a header."""
    sparse, table, header = path.endswith((".svm", ".svmlight", ".libsvm")), [], None
    with open(path, newline="", encoding="utf-8-sig") as file:
        for count, line in enumerate((t.split("#")[0].split() for t in file) if sparse else csv.reader(file), 1):
            if line and not sparse and header is None:
                header, columns = line, columns or [name for name in line if name != target]
                if len(set(header)) < len(header) or not {target, *columns} <= set(header):
                    raise ValueError(f"{path}: the header repeats a name, or lacks {target!r} or a column")
                where = [header.index(name) for name in columns]
            elif line:
                try:
                    pairs = [t.split(":") for t in line[1:]] if sparse else enumerate((line[k] for k in where), 1)
                    row = [(int(j) - 1, float(v.replace("_", "?"))) for j, v in pairs]
                    order = [-1, *(j for j, _ in row), d]
                    if not all(map(math.isfinite, (v for _, v in row))) or not all(i < j for i, j in zip(order, order[1:])):
                        raise ValueError("a number is not finite, or a column out of order")
                    label = line[0] if sparse else line[header.index(target)]
                except (ValueError, IndexError) as error:
                    raise ValueError(f"{path} line {count}: {error}") from None
                table.append((label_name(label), [(j, v) for j, v in row if v]))
    return table

def fingerprint(rows, d):
    """sha256 of n, d and the non-zeros of each row, so that dense and sparse forms agree."""
    digest = hashlib.sha256(struct.pack("<QQ", len(rows), d))
    for label, row in rows:
        digest.update(struct.pack("<Q" + "Qd" * len(row) + "b", len(row), *(t for jv in row for t in jv), label))
    return digest.hexdigest()

class Data:
    """The rows z that a certificate speaks of; each has a key, its row number or (row, class)."""
    def __init__(self, cert, table, d):
        told, self.d, self.constant = cert["data"], d, cert["intercept"]
        need(type(self.constant) is bool and cert["reading"] in ("binary64", "decimal"), "unknown reading or intercept")
        self.read = (lambda v: Fraction(repr(v))) if cert["reading"] == "decimal" else Fraction
        dropped = set(keys(told["dropped"], range(len(table))))
        if (classes := told.get("classes")) is None:  # two groups; "negative": null means all other classes
            groups = [(name, -1) for name in told["negative"] or []] + [(name, 1) for name in told["positive"]]
        else:  # Kesler
            groups = [(name, k) for k, name in enumerate(classes)]
        names, other = dict(groups), None if classes or told["negative"] is not None else -1
        need(len(names) == len(groups) < 128, "the classes are not told apart")
        kept = [(i, names.get(y, other), row) for i, (y, row) in enumerate(table) if i not in dropped]
        kept = [entry for entry in kept if entry[1] is not None]
        digest = fingerprint([entry[1:] for entry in kept], d)
        need((told["n"], told["d"], told["sha256"]) == (len(kept), d, digest), f"it is about other data, not these {len(kept)} rows")
        block, last = d + self.constant, len(classes or [0, 0]) - 1
        self.p, self.z = block * last, [(i, ((0, y),), row) for i, y, row in kept] if classes is None else [
            ((i, k), tuple((c * block, s) for c, s in ((y, 1), (k, -1)) if c < last), row)
            for i, y, row in kept for k in range(last + 1) if k != y]
        self.at = {key: t for t, (key, _, _) in enumerate(self.z)}
        sizes = {math.frexp(v)[1] for _, _, row in kept for _, v in row} | {1}
        self.bits = 4096 + 16 * (self.p + 2) * (max(sizes) - min(sizes) + 128)  # Cramer, Hadamard, and room
    def exact(self, t):
        """z_t times a positive integer m, as ({column: integer}, m)."""
        _, blocks, row = self.z[t]
        pairs = [(j, self.read(v)) for j, v in row] + [(self.d, Fraction(1))] * self.constant
        m = math.lcm(*(q.denominator for _, q in pairs))
        return {at + j: s * q.numerator * (m // q.denominator) for at, s in blocks for j, q in pairs}, m

# ---- the parts of a certificate ------------------------------------------------------------------------------
def keys(value, allowed):
    """A list of different rows that exist."""
    found = [tuple(v) if type(v) is list else v for v in value]
    need(all(type(t) is int for k in found for t in (k if type(k) is tuple else (k,))), "a row is not a number")
    need(len(set(found)) == len(found) and all(k in allowed for k in found), "a row is repeated or does not exist")
    return found
def numbers(value, count, bits):
    """Hexadecimal integers, quotients of two, or hexadecimal floats."""
    need(type(value) is list and len(value) == count, f"a list of {count} numbers is missing")
    need(all(type(text) is str and len(text) <= bits // 2 for text in value), "a number is missing or far too long")
    return [Fraction(float.fromhex(text)) if "p" in text else Fraction(int(over, 16), int(under or "1", 16))
            for text, (over, _, under) in ((text, text.partition("/")) for text in value)]
def whole(values):
    """A positive multiple of the values that is integral."""
    m = math.lcm(*(q.denominator for q in values))
    return [q.numerator * (m // q.denominator) for q in values]
def combination(data, rows, weights):
    """A positive multiple of sum weights_i z_i, as {column: integer}, and the factor."""
    parts, total = [data.exact(data.at[key]) for key in rows], {}
    scale, *factors = whole([Fraction(1), *(q / m for q, (_, m) in zip(weights, parts))])
    for (z, _), factor in zip(parts, factors):
        for j, v in z.items():
            total[j] = total.get(j, 0) + factor * v
    return {j: v for j, v in total.items() if v}, scale
def circuit_weights(data, rows):
    """The weights of an index-only witness: the null space of its rows must be a line."""
    need(len(rows) <= INDEX_ONLY, f"a witness of more than {INDEX_ONLY} rows must carry its weights")
    parts = [data.exact(data.at[key]) for key in rows]
    a = [[z.get(j, 0) for z, _ in parts] for j in sorted({j for z, _ in parts for j in z})]
    pivots, previous = [], 1
    for c in range(len(rows)):  # fraction-free elimination (Bareiss 1968)
        k, q = len(pivots), next((i for i in range(len(pivots), len(a)) if a[i][c]), None)
        if q is not None:
            top, a[q] = a[q], a[k]
            a = [top if i == k else [(top[c] * u - row[c] * v) // previous for u, v in zip(row, top)]
                 for i, row in enumerate(a)]
            previous = top[c]
            pivots.append(c)
    need(len(pivots) == len(rows) - 1, "the witness is not a circuit")
    (free,) = {*range(len(rows))} - {*pivots}
    line = {free: previous, **{c: -a[i][free] for i, c in enumerate(pivots)}}
    return [Fraction(line[c] * m, previous) for c, (_, m) in enumerate(parts)]
def circulation(data, cert):
    """Weights > 0 with sum weights_i z_i = 0 (Gordan 1873): no w has z_i.w > 0 on all of these rows."""
    rows, given = keys(cert["support"], data.at), cert.get("lambda")
    need(rows, "the witness is empty")
    weights = circuit_weights(data, rows) if given is None else numbers(given, len(rows), data.bits)
    need(all(q > 0 for q in weights), "a weight is not positive")
    need(not combination(data, rows, weights)[0], "the weighted rows do not sum to zero")
    return rows
def signs(data, w, m=Fraction(0)):
    """The sign of z_i.w - m for every row: by a bound on the rounding error where it suffices, else in integers."""
    top = max(map(abs, [*w, m]))
    need(any(w), "a vector is zero")
    (*exact, level), (*rounded, shift) = whole([*w, m]), [float(q / top) for q in [*w, m]]
    safe = all(q == 0 or abs(f) > 1e-200 for q, f in zip([*w, m], [*rounded, shift]))
    for t, (_, blocks, row) in enumerate(data.z):
        terms = [s * rounded[at + j] * v for at, s in blocks for j, v in row]
        terms += [s * rounded[at + data.d] for at, s in blocks if data.constant] + [-shift]
        total, size = sum(terms), sum(map(abs, terms))
        if not (safe and size < 1e290 and abs(total) > (len(terms) + 8) * 2.0**-51 * size + 1e-290):
            z, factor = data.exact(t)
            total = sum(exact[j] * v for j, v in z.items()) - level * factor
        yield (total > 0) - (total < 0)
def vector(data, cert, name):
    """A w with z_i.w >= 0 for every row, and how many rows have z_i.w > 0."""
    w, strict = numbers(cert[name], data.p, data.bits), 0
    for (key, _, _), sign in zip(data.z, signs(data, w)):
        need(sign >= 0, f"row {key} lies on the wrong side of {name}")
        strict += sign
    return w, strict
def rank(vectors):
    basis = {}  # {first column: a vector with 1 there}, modulo PRIME
    for vector in vectors:
        while vector := {j: c % PRIME for j, c in vector.items() if c % PRIME}:
            j = min(vector)
            if j not in basis:
                inverse = pow(vector[j], -1, PRIME)
                basis[j] = {k: c * inverse for k, c in vector.items()}
                break
            vector = {k: vector.get(k, 0) - vector[j] * basis[j].get(k, 0) for k in {*vector, *basis[j]}}
    return len(basis)
def unit(data, cert, rows, name):
    """The rows with these weights add up to a multiple of the coefficient's unit vector; the sign of it."""
    total, _ = combination(data, rows, numbers(cert[name], len(rows), data.bits))
    need(set(total) == {cert["coefficient"]}, f"the rows with the weights {name} do not add up to the coefficient")
    return 1 if min(total.values()) > 0 else -1

# ---- the claims ----------------------------------------------------------------------------------------------
def complete(data, cert):
    need(vector(data, cert, "w")[1] == len(data.z), "a row lies on the hyperplane")
    return f"the hyperplane has all {len(data.z)} rows strictly on their sides: completely separable"
def not_complete(data, cert):
    return f"no hyperplane separates even the {len(circulation(data, cert))} rows of the witness"
def quasi(data, cert):
    need(strict := vector(data, cert, "w")[1], "every row lies on the hyperplane")
    return f"{not_complete(data, cert)}, but one has no row on the wrong side and {strict} strictly right: quasi-complete"
def overlap(data, cert):
    """The rows of a circulation span all rows: then z.w >= 0 on all rows forces z.w = 0 on all (Stiemke 1915)."""
    rows, null = circulation(data, cert), [numbers(v, data.p, data.bits) for v in cert.get("null", [])]
    if len(rows) < len(data.z):
        need(not any(sign for v in null for sign in signs(data, v)), "a null vector does not vanish on every row")
        need(rank(dict(enumerate(whole(v))) for v in null) == len(null), "the null vectors are dependent")
        need(rank(data.exact(data.at[key])[0] for key in rows) == data.p - len(null), "the witness does not span the rows")
    return f"the {len(rows)} rows of the witness leave no weakly separating hyperplane: overlap"
def finite(data, cert):
    need(set(rows := keys(cert["rows"], data.at)) <= set(circulation(data, cert)), "a row is outside the circulation")
    unit(data, cert, rows, "c")
    return f"coefficient {cert['coefficient']} of the logistic estimate is finite"
def infinite(data, cert):
    j, sign, rows = cert["coefficient"], cert["sign"], keys(cert["rows"], data.at)
    need(sign in (1, -1) and sign * vector(data, cert, "w")[0][j] > 0, "w does not move the coefficient that way")
    need(all(q >= 0 for q in numbers(cert["mu"], len(rows), data.bits)), "a weight is negative")
    need(unit(data, cert, rows, "mu") == sign, "the weights point the other way")
    return f"coefficient {j} of the logistic estimate is {'+' if sign > 0 else '-'}infinity"
def undetermined(data, cert):
    j, up, down = cert["coefficient"], vector(data, cert, "w1")[0], vector(data, cert, "w2")[0]
    need(up[j] > 0 > down[j], "the two hyperplanes do not move the coefficient both ways")
    unit(data, cert, keys(cert["rows"], data.at), "c")
    return f"coefficient {j} of the logistic estimate depends on the path: undetermined"
def unidentifiable(data, cert):
    v = numbers(cert["v"], data.p, data.bits)
    need(v[cert["coefficient"]] != 0 and not any(signs(data, v)), "v does not vanish on the rows, or not there")
    return f"coefficient {cert['coefficient']} is not identifiable"
def witness(data, entry):
    """Rows z_i, and reversed rows -z_j written -1 - j, that some weights > 0 add up to zero: ({i}, {j})."""
    given = entry if type(entry) is dict else {"support": entry}
    codes = given["support"]
    need(all(type(c) is int for c in codes), "a row is not a number")
    rows, side = keys([max(c, -1 - c) for c in codes], data.at), [1 if c >= 0 else -1 for c in codes]
    if "lambda" in given:
        weights = numbers(given["lambda"], len(rows), data.bits)
    else:
        line = circuit_weights(data, rows)
        weights = [s * q if line[0] * side[0] > 0 else -s * q for s, q in zip(side, line)]
    need(rows and all(q > 0 for q in weights), "a weight is not positive")
    need(not combination(data, rows, [s * q for s, q in zip(side, weights)])[0], "the weighted rows do not sum to zero")
    return {i for i, s in zip(rows, side) if s > 0}, {i for i, s in zip(rows, side) if s < 0}
def min_errors(data, cert):
    """w gets exactly the rows `wrong` wrong, z.w <= 0; the tree proves that no w gets fewer than `lower` wrong.

    Some best w has z.w = 0 on zero rows only.  So a case can be split by whether a row is wrong, z.w < 0, or right.
    Where all reversed rows of a witness are wrong, one of its other rows is too, or the case cannot occur."""
    lower, wrong = cert["lower"], set(keys(cert["wrong"], data.at))
    need(type(lower) is int and lower <= len(wrong) == cert["upper"], "the bounds are not those of the rows")
    for (key, _, _), sign in zip(data.z, signs(data, numbers(cert["w"], data.p, data.bits))):
        need((sign <= 0) == (key in wrong), f"row {key} is not as told")
    pool, nodes = [witness(data, entry) for entry in cert["witnesses"]], cert["nodes"]
    seen, stack = set(), [(0, frozenset(), frozenset())] if lower > 0 else []
    while stack:
        at, bad, good = stack.pop()  # of rows decided on the way here
        need(type(at) is int and 0 <= at not in seen, "a node occurs twice or does not exist")
        seen.add(at)
        if "split" in (node := nodes[at]):
            (i,) = keys([node["split"]], data.at)
            need(i not in bad | good and any(data.exact(data.at[i])[0].values()), "a row cannot be split on")
            stack += [(node["wrong"], bad | {i}, good), (node["right"], bad, good | {i})]
            continue
        load, total, each = {}, 0, node.get("over", 1)
        need(type(each) is int and each > 0, "over is not a positive integer")
        for (right, reverse), t in zip((pool[k] for k in node["pack"]), node.get("weights", [1] * len(node["pack"])), strict=True):
            need(reverse <= bad and not right & bad and type(t) is int and t > 0, "a witness does not apply")
            if not right - good:
                break
            total += t
            load.update({i: load.get(i, 0) + t for i in right - good})
        else:
            need(all(t <= each for t in load.values()), "witnesses share a row")
            need(len(bad) * each + total > (lower - 1) * each, f"a case is left with fewer than {lower} mistakes")
    return f"every hyperplane gets at least {lower} of the {len(data.z)} rows wrong, and one gets {len(wrong)} wrong"
def margin(data, cert, lifted=False):
    """Any w bounds a margin from below; any weights, from above: half the distance between the hulls of the classes, or
    (lifted, or without an intercept) the distance between the origin and the hull of the z_i."""
    *w, m, lo2, hi2 = numbers([*cert["w"], cert["m"], cert["lo2"], cert["hi2"]], data.p + 3, data.bits)
    need(cert["data"].get("classes") is None, "a margin is between two groups of classes")
    label, free = {key: y for key, ((_, y),), _ in data.z}, data.constant and not lifted
    need({*label.values()} == {1, -1}, "a class has no rows")
    need(m > 0 and lo2 > 0, "the margin is not positive")
    for key, sign in zip(label, signs(data, w, m)):
        need(sign >= 0, f"row {key} lies nearer than m")
    need(lo2 * sum(q * q for q in w[: data.d if free else data.p]) <= m * m, "w does not prove the lower bound")
    rows = keys(cert["support"], data.at)
    weights = numbers(cert["lambda"], len(rows), data.bits)
    sums = {y: sum(q for key, q in zip(rows, weights) if label[key] == y or not free) for y in (1, -1)}
    need(rows and min(weights) > 0 and all(sums.values()), "a weight is not positive, or the support lacks a class")
    total, scale = combination(data, rows, [q / sums[label[key]] for key, q in zip(rows, weights)])
    need(sum(v * v for v in total.values()) <= hi2 * ((2 if free else 1) * scale) ** 2, "the weights do not prove the upper bound")
    kind, between = "lifted margin" if lifted else "largest half-width", "is known exactly, about" if lo2 == hi2 else "lies between about"
    return f"the {kind} {between} {' and '.join(root(q) for q in dict.fromkeys([lo2, hi2]))}"
def root(q):
    """The root of q in 17 digits, whatever its size; for people."""
    e = (q.numerator.bit_length() - q.denominator.bit_length()) // 2
    return f"{math.ldexp(math.sqrt(q / Fraction(4) ** e), e):.17g}" if abs(e) < 1000 else f"about 2^{e}"

CLAIMS = {"complete": complete, "not-complete": not_complete, "quasi": quasi, "overlap": overlap,
          "margin": margin, "margin-lifted": lambda data, cert: margin(data, cert, lifted=True),
          "coefficient-finite": finite, "coefficient-infinite": infinite,
          "min-errors": min_errors, "coefficient-undetermined": undetermined, "coefficient-unidentifiable": unidentifiable}

def check(cert: dict, table: list, d: int) -> str:
    """The claim as a sentence, or Rejected with the first thing that is wrong."""
    try:
        need(cert["format"] == FORMAT and cert["claim"] in CLAIMS, "unknown format or claim")
        data, j = Data(cert, table, d), cert.get("coefficient", 0)
        need(type(j) is int and 0 <= j < data.p, "the coefficient does not exist")
        return CLAIMS[cert["claim"]](data, cert)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, struct.error) as error:
        raise Rejected(f"malformed: {type(error).__name__} {str(error)[:80]}") from None

def main(argv: list) -> int:
    try:
        with open(argv[0], encoding="utf-8") as file:
            cert = json.loads(file.read(1 << 30), parse_constant=float.fromhex)  # NaN and Infinity are no numbers
        told = (parts := cert.get("certificates", [cert]))[0]["data"]
        target = argv[argv.index("--target") + 1] if "--target" in argv else told.get("target")
        table = read(argv[1], target, told.get("columns"), told["d"])
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        print("cannot read:", str(error)[:300] or type(error).__name__, file=sys.stderr)
        return 2
    try:
        for part in parts:
            print("proved:", check(part, table, told["d"]))
    except Rejected as why:
        print("not proved:", why)
        return 1
    return 0

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
