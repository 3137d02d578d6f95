/* What is said of a proof, in words: "(proved)" stands where checker.js has accepted its certificate. */

import { checked } from "./certificate.js";
import { shown } from "./shapes.js";

const SHOWN = (v) => shown(v, 6);
const MARKS = { complete: ["holds", "✓"], quasi: ["fails", "✗"], overlap: ["fails", "✗"], undecided: ["fails", "?"] };
export const points = (rows) => `${rows.length === 1 ? "point" : "points"} ${rows.slice(0, 20).join(", ")}${rows.length > 20 ? ", …" : ""}`;

let checker = null;

/** The checker, which is a classic script beside the modules; loaded once. */
export function withChecker() {
  checker ??= new Promise((done, failed) => {
    const script = document.createElement("script");
    script.src = new URL("checker.js", import.meta.url);
    script.addEventListener("load", done);
    script.addEventListener("error", () => failed(new Error("the checker, checker.js, cannot be loaded.")));
    document.head.append(script);
  });
  return checker;
}

/** The proof with what the checker says of its certificates. */
export function withCheck(proof) {
  return { ...proof, check: checked(proof.certificates, proof.table) };
}

/** What would separate the classes: a line, or a plane in more columns, through the origin where there is no bias. */
export function separatorName({ columns }, bias) {
  const count = columns.length;
  return `${count > 3 ? `hyperplane in the ${count} columns` : count > 2 ? "plane in the 3 columns" : "line"}${bias ? "" : " through the origin"}`;
}

/** {kind, mark, text} of a verdict. */
export function verdictOf(proof, bias) {
  const line = separatorName(proof, bias), [kind, mark] = MARKS[proof.verdict];
  if (!proof.check.proved) return { kind: "fails", mark: "?", text: `Not proved, this is a bug: ${proof.check.lines[0]}.` };
  const text = {
    complete: `A ${line} separates the classes (proved).`,
    quasi: `No ${line} has all points strictly on their correct sides, but one has none on its wrong side (proved).`,
    overlap: `No ${line} separates the classes (proved).`,
    undecided: "Not decided.",
  }[proof.verdict];
  return { kind, mark, text };
}

/** One sentence for each thing that is known of the points. */
export function factsOf(proof, bias) {
  const facts = [], line = separatorName(proof, bias), known = proof.check.proved ? " (proved)" : "";
  if (proof.witness.length > 0) {
    const where = proof.columns.length > 2 ? " in the space of the columns" : "";
    const what = bias ? "the hulls of their classes meet" : "the cones from the origin over their classes meet";
    facts.push(`The ${points(proof.witness)} alone rule it out: ${what}${where}.`);
  }
  if (proof.gap !== null) {
    const { lower, upper, edges } = proof.gap;
    const width = upper - lower <= 1e-9 * upper ? SHOWN(lower) : `between ${SHOWN(lower)} and ${SHOWN(upper)}`;
    facts.push(`The largest margin is ${width} on each side${known}; ${points(edges)} ${edges.length === 1 ? "lies" : "lie"} on its edges.`);
  }
  if (proof.mistakes !== null) {
    const { lower, upper, rows, counted } = proof.mistakes;
    const how = counted ? ": every way in which a line can divide the points was counted" : known;
    const count = lower === upper ? `${lower}${how}` : `between ${lower} and ${upper}${how}`;
    facts.push(`The minimum number of mistakes is ${count}; without ${points(rows)} a ${line} separates the others.`);
  }
  if (proof.verdict === "overlap") facts.push("Logistic regression has a finite maximum-likelihood estimate (Albert and Anderson 1984).");
  else facts.push("Logistic regression without a penalty has no finite maximum-likelihood estimate (Albert and Anderson 1984).");
  return facts;
}
