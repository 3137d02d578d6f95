/* Certificates of what separability.js found, for checker.js, whose format, table reader and fingerprint are used: it is a classic
 * script, and its names are global where it has been loaded. */

/* global FORMAT, fingerprint, readJson, readTable, spreadOf, topOfRows, verify */

const hex = (v) => (v < 0n ? `-0x${(-v).toString(16)}` : `0x${v.toString(16)}`);
const ratio = (over, under) => `${hex(over)}/${hex(under)}`;

/** The rows as a CSV file whose numbers read back as the same doubles. */
export function tableText(rows, labels, names) {
  const cell = (v) => (Number.isInteger(v) ? `${Object.is(v, -0) ? "-0" : v}.0` : String(v));
  return `${[...names, "label"].join(",")}\n${rows.map((row, i) => `${row.map(cell).join(",")},"${labels[i]}"\n`).join("")}`;
}

/** One certificate a claim, as texts: the verdict; and the margin and the lifted margin where the classes are separable. */
export function certificates(text, bias, found, margin, bound) {
  const table = readTable(text, "points.csv", "label", null);
  const d = table.d, classes = ["-1", "1"];
  const told = { n: table.rows.length, d, columns: null, target: null, classes, dropped: [], reading: "binary64", exponents: spreadOf(table.rows).map(Number) };
  const top = topOfRows(table.rows, new Map(classes.map((name, k) => [name, k])), d, null);
  const data = { ...told, sha256: fingerprint(readJson(JSON.stringify(told)), top) };
  const about = { format: FORMAT, intercept: bias, data, positive: ["1"], negative: ["-1"] };
  const w = (vector) => vector.map(hex);
  const circuit = (witness) => ({ support: witness.map(({ row }) => row), lambda: witness.map(({ weight }) => hex(weight)) });
  const parts = [{ claim: found.verdict, ...proofOf(found, circuit, w) }];
  const bracket = ({ w: line, level, over, under, weights }) => ({
    w: w(line), m: hex(level), support: [...weights.keys()], lambda: [...weights.values()].map(hex), lo2: ratio(over, under), hi2: ratio(over, under),
  });
  if (margin !== null) parts.push({ claim: "margin", ...bracket(margin) });
  if (bound !== null) parts.push({ claim: "margin-lifted", ...bracket(bound) });
  return parts.map((part) => JSON.stringify({ ...about, ...part }));
}

function proofOf({ verdict, w, witness, weights, free }, circuit, numbers) {
  if (verdict === "complete") return { w: numbers(w) };
  if (verdict === "quasi") return { w: numbers(w), ...circuit(witness) };
  const whole = circuit([...weights].map(([row, weight]) => ({ row, weight })));
  return { ...whole, ...(free.length > 0 && { null: free.map(numbers) }), ...(weights.size > witness.length && { witness: circuit(witness) }) };
}

/** {proved, lines} of certificates against the table, by the checker. */
export function checked(texts, text) {
  const results = texts.map((certificate) => verify(certificate, text, "points.csv", "label"));
  return { proved: results.every(({ code }) => code === 0), lines: results.flatMap(({ lines }) => lines) };
}
