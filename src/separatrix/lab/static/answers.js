/* Answers about a scene that the page gives by itself: what is proved, the run of the perceptron, and fitted lines. They have the
 * form of the server's answers, which gives those that need Python. */

import { certificates, tableText } from "./certificate.js";
import { fewestMistakes, MOST_POINTS } from "./fewest.js";
import { lda, leastSquares, logistic } from "./fits.js";
import { perceptron } from "./perceptron.js";
import { exactRows, inDoubles, maximumMargin, mistakeBound, separability } from "./separability.js";

/** The learners of the page: those that it fits by itself, as the package names them. */
export const LEARNERS = [
  { name: "perceptron", title: "Perceptron", kind: "Perceptron", parameters: {}, probability: false },
  { name: "lda", title: "LDA", kind: "LinearDiscriminant", parameters: {}, probability: true },
  { name: "least-squares", title: "Least squares", kind: "LeastSquaresClassifier", parameters: {}, probability: false },
  { name: "logistic", title: "Logistic", kind: "LogisticRegression", parameters: {}, probability: true },
  { name: "ridge-logistic", title: "Logistic, ridge C = 1", kind: "LogisticRegression", parameters: { C: 1 }, probability: true },
  { name: "max-margin", title: "Maximum margin", kind: "MaxMargin", parameters: {}, probability: false },
  { name: "fewest-mistakes", title: "Fewest mistakes", kind: "FewestMistakes", parameters: { time_limit: 2 }, probability: false },
];

/** x and y first, then single squares and the product, or all monomials up to the degree. */
export function columnsOf({ x2, y2, xy, degree }) {
  const wanted = [[1, 0], [0, 1], ...(x2 || degree > 1 ? [[2, 0]] : []), ...(xy || degree > 1 ? [[1, 1]] : []), ...(y2 || degree > 1 ? [[0, 2]] : [])];
  const power = (letter, k) => (k === 0 ? "" : k === 1 ? letter : `${letter}^${k}`);
  return wanted.map(([a, b]) => ({ name: [power("x", a), power("y", b)].filter(Boolean).join(" "), a, b, u: 0, v: 0, gamma: 0 }));
}

/** Whether the columns of a scene are few enough for the page. */
export const isPlain = ({ features }) => features.degree <= 2 && features.bumps === 0;

export function rowsOf({ points, features }) {
  const columns = columnsOf(features);
  return { columns, rows: points.map(({ x, y }) => columns.map(({ a, b }) => x ** a * y ** b)), labels: points.map(({ label }) => label) };
}

/** Verdict, margin, bound and fewest mistakes with their certificates; mistakes are null where the page does not count them. */
export function proofOf(scene) {
  const { columns, rows, labels } = rowsOf(scene), bias = scene.choices.fit_intercept;
  const exact = exactRows(rows, labels, bias), found = separability(exact);
  const complete = found.verdict === "complete";
  const margin = complete ? maximumMargin(exact) : null, bound = complete ? mistakeBound(exact, found.nearest) : null;
  const table = tableText(rows, labels, columns.map(({ name }) => name));
  return {
    columns, verdict: found.verdict, witness: found.witness.map(({ row }) => row),
    gap: margin && { lower: margin.width, upper: margin.width, line: margin.line, edges: margin.edges },
    bound: bound && { radius: bound.radius, margin: bound.margin, most: Number(bound.most) },
    mistakes: complete || columns.length > 2 || rows.length > MOST_POINTS ? null : fewestOf(exact, rows, labels),
    certificates: certificates(table, bias, found, margin, bound), table,
  };
}

/** The fewest mistakes, by counting every division of the points; the line is the widest one between those that it has right. */
function fewestOf(exact, rows, labels) {
  const { bias, vectors } = exact, { count, right } = fewestMistakes(rows, labels, vectors, bias);
  const kept = rows.map((_, i) => i).filter((i) => right[i]), signs = kept.map((i) => labels[i]);
  let line = { w: [1, 0], b: signs[0] * 2 * (1 + Math.max(...rows.map(([x]) => Math.abs(x)))) };
  if (new Set(signs).size === 2) line = maximumMargin(exactRows(kept.map((i) => rows[i]), signs, bias)).line;
  else if (!bias && kept.length > 0) line = inDoubles(separability(exactRows(kept.map((i) => rows[i]), signs, bias)).w, bias);
  return { lower: count, upper: count, rows: rows.map((_, i) => i).filter((i) => !right[i]), line, counted: true };
}

/** The run as the page steps through it: weights before the first look, and after each. */
export function runOf(scene) {
  const { columns, rows, labels } = rowsOf(scene), { lifted, ...run } = perceptron(rows, labels, scene.choices);
  const bias = scene.choices.fit_intercept;
  return { ...run, columns, w: lifted.map((v) => (bias ? v.slice(0, -1) : v)), b: lifted.map((v) => (bias ? v.at(-1) : 0)) };
}

export const canFit = (scene) => isPlain(scene) && scene.study.share === 0 && scene.learners.every((name) => LEARNERS.some((own) => own.name === name));

export function fitsOf(scene) {
  const { columns, rows, labels } = rowsOf(scene);
  const exact = exactRows(rows, labels, true), { verdict } = separability(exact);
  const fits = scene.learners.map((name) => {
    const { title, probability } = LEARNERS.find((own) => own.name === name);
    const { w = [], b = 0, problem = null } = fitted(name, scene, { columns, rows, labels, exact, verdict });
    const scores = rows.map((row) => row.reduce((sum, v, j) => sum + v * w[j], b));
    return { name, title, probability, w, b, scores: problem === null ? scores : [], train: problem === null ? counts(scores, labels) : null, held: null, problem };
  });
  return { columns, held: [], fits };
}

function fitted(name, scene, { columns, rows, labels, exact, verdict }) {
  if (name === "perceptron") {
    const { w, b } = runOf(scene);
    return { w: w.at(-1), b: b.at(-1) };
  }
  if (name === "lda") return lda(rows, labels);
  if (name === "least-squares") return leastSquares(rows, labels);
  if (name === "logistic") return logistic(rows, labels, { verdict });
  if (name === "ridge-logistic") return logistic(rows, labels, { C: 1 });
  if (name === "max-margin") return maximumMargin(exact)?.line ?? { problem: "the classes are not separable." };
  if (columns.length > 2 || rows.length > MOST_POINTS) return { problem: `mistakes are counted for two columns and at most ${MOST_POINTS} points.` };
  return fewestOf(exact, rows, labels).line;
}

/** The confusion matrix at a threshold of 0. */
export function counts(scores, labels) {
  const out = { true_plus: 0, false_minus: 0, false_plus: 0, true_minus: 0 };
  scores.forEach((s, i) => { out[`${s >= 0 === labels[i] > 0 ? "true" : "false"}_${s >= 0 ? "plus" : "minus"}`] += 1; });
  return out;
}
