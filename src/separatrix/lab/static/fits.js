/* Learners in plain floating point, on rows of any number of columns: LDA, least squares, logistic regression, descent. */

/** The solution of a small system by elimination with the largest pivot; null where it has none or many. */
export function solve(matrix, right) {
  const n = right.length, rows = matrix.map((row, i) => [...row, right[i]]);
  const size = Math.max(...matrix.flat().map(Math.abs), 0);
  for (let j = 0; j < n; j += 1) {
    let k = j;
    for (let i = j + 1; i < n; i += 1) if (Math.abs(rows[i][j]) > Math.abs(rows[k][j])) k = i;
    if (!(Math.abs(rows[k][j]) > 1e-13 * size)) return null;
    [rows[j], rows[k]] = [rows[k], rows[j]];
    for (let i = j + 1; i < n; i += 1) {
      const share = rows[i][j] / rows[j][j];
      for (let c = j; c <= n; c += 1) rows[i][c] -= share * rows[j][c];
    }
  }
  const out = new Array(n).fill(0);
  for (let j = n - 1; j >= 0; j -= 1) out[j] = (rows[j][n] - out.reduce((sum, v, c) => (c > j ? sum + v * rows[j][c] : sum), 0)) / rows[j][j];
  return out;
}

const mean = (rows) => rows[0].map((_, j) => rows.reduce((sum, row) => sum + row[j], 0) / rows.length);
const dot = (a, b) => a.reduce((sum, v, j) => sum + v * b[j], 0);
const NO_ESTIMATE = "there is no finite maximum-likelihood estimate: a line has no point on its wrong side.";
const SINGULAR = "columns are linearly dependent on these points.";

/** Σ of weight · row rowᵀ. */
function gram(rows, weights) {
  const d = rows[0].length, out = Array.from({ length: d }, () => new Array(d).fill(0));
  rows.forEach((row, k) => { for (let i = 0; i < d; i += 1) for (let j = 0; j < d; j += 1) out[i][j] += weights[k] * row[i] * row[j]; });
  return out;
}

/** Bayes' rule for normal classes with one covariance, of the maximum-likelihood kind (divided by n). */
export function lda(rows, labels) {
  const n = rows.length, of = (sign) => rows.filter((_, i) => labels[i] === sign);
  const [plus, minus] = [of(1), of(-1)], [a, b] = [mean(plus), mean(minus)];
  const centred = rows.map((row, i) => row.map((v, j) => v - (labels[i] > 0 ? a : b)[j]));
  const w = solve(gram(centred, centred.map(() => 1 / n)), a.map((v, j) => v - b[j]));
  if (w === null) return { problem: `the covariance is singular: ${SINGULAR}` };
  return { w, b: Math.log(plus.length / minus.length) - dot(w, a.map((v, j) => (v + b[j]) / 2)), problem: null };
}

/** Least squares on the targets +1 and -1. */
export function leastSquares(rows, labels) {
  const centre = mean(rows), middle = labels.reduce((a, b) => a + b, 0) / rows.length;
  const centred = rows.map((row) => row.map((v, j) => v - centre[j]));
  const w = solve(gram(centred, centred.map(() => 1)), centre.map((_, j) => centred.reduce((sum, row, i) => sum + row[j] * labels[i], 0)));
  return w === null ? { problem: `the normal matrix is singular: ${SINGULAR}` } : { w, b: middle - dot(w, centre), problem: null };
}

const log1pExp = (t) => (t > 0 ? t + Math.log1p(Math.exp(-t)) : Math.log1p(Math.exp(t)));
export const sigmoid = (t) => (t >= 0 ? 1 / (1 + Math.exp(-t)) : Math.exp(t) / (1 + Math.exp(t)));

/** Logistic regression by Newton's method with halved steps: Σ ln(1 + exp(-y s)) + |w|² / (2C), or without the penalty. Then
 * there is an estimate only where the verdict on the rows is overlap (Albert and Anderson 1984). */
export function logistic(rows, labels, { C = Infinity, verdict = "overlap" } = {}) {
  if (C === Infinity && verdict !== "overlap") return { problem: NO_ESTIMATE };
  const centre = mean(rows), d = centre.length;
  const lifted = rows.map((row) => [...row.map((v, j) => v - centre[j]), 1]);
  const penalty = (j) => (j < d ? 1 / C : 0);
  const loss = (beta) => lifted.reduce((sum, row, i) => sum + log1pExp(-labels[i] * dot(row, beta)), 0) + beta.reduce((sum, v, j) => sum + (penalty(j) * v * v) / 2, 0);
  let beta = new Array(d + 1).fill(0), value = loss(beta);
  for (let step = 0; step < 100; step += 1) {
    const p = lifted.map((row, i) => sigmoid(-labels[i] * dot(row, beta)));
    const gradient = beta.map((v, j) => lifted.reduce((sum, row, i) => sum - p[i] * labels[i] * row[j], 0) + penalty(j) * v);
    const curvature = gram(lifted, p.map((v) => v * (1 - v)));
    beta.forEach((_, j) => { curvature[j][j] += penalty(j); });
    const move = solve(curvature, gradient);
    if (move === null) return { problem: SINGULAR };
    let share = 1, next = beta, better = value;
    for (; share > 1e-10; share /= 2) {
      next = beta.map((v, j) => v - share * move[j]);
      better = loss(next);
      if (better <= value) break;
    }
    const gain = value - better;
    [beta, value] = [next, Math.min(value, better)];
    if (dot(move, gradient) < 1e-20 * (1 + value) || gain <= 0) break;
  }
  return { w: beta.slice(0, -1), b: beta[d] - dot(beta.slice(0, -1), centre), problem: null };
}

/** Losses of a margin m = y s with their slopes, and the greatest curvature where the loss is smooth. */
export const LOSSES = {
  squared: { value: (m) => (1 - m) ** 2, slope: (m) => 2 * (m - 1), curvature: 2 },
  logistic: { value: (m) => log1pExp(-m), slope: (m) => -sigmoid(-m), curvature: 0.25 },
  hinge: { value: (m) => Math.max(0, 1 - m), slope: (m) => (m < 1 ? -1 : 0), curvature: null },
  perceptron: { value: (m) => Math.max(0, -m), slope: (m) => (m < 0 ? -1 : 0), curvature: null },
};
const FAR = 1e6; // weights beyond which a path is not shown

/** Gradient descent on the mean loss over two weights: the points are centred, the score has no bias. */
export function descend(rows, labels, { loss: name, step, momentum, steps }) {
  const { value, slope, curvature } = LOSSES[name], n = rows.length, centre = mean(rows);
  const X = rows.map((row) => row.map((v, j) => v - centre[j]));
  const objective = (w) => X.reduce((sum, row, i) => sum + value(labels[i] * dot(row, w)), 0) / n;
  const gradient = (w) => w.map((_, j) => X.reduce((sum, row, i) => sum + slope(labels[i] * dot(row, w)) * labels[i] * row[j], 0) / n);
  const path = [centre.map(() => 0)];
  let speed = centre.map(() => 0), cut = false;
  while (path.length <= steps) {
    const w = path.at(-1), downhill = gradient(w);
    speed = speed.map((v, j) => momentum * v - step * downhill[j]);
    if (Math.hypot(...speed) <= 1e-12 * (1 + Math.hypot(...w))) break;
    const next = w.map((v, j) => v + speed[j]);
    if (!(Math.max(...next.map(Math.abs)) <= FAR)) { cut = true; break; }
    path.push(next);
  }
  const values = path.map(objective), [[a, b], [, c]] = gram(X, X.map(() => 1 / n));
  const greatest = (a + c) / 2 + Math.hypot((a - c) / 2, b); // eigenvalue of the 2 × 2 matrix
  return { centre, path, values, objective, cut, diverged: cut || values.at(-1) > values[0], limit: curvature === null || greatest <= 0 ? null : 2 / (curvature * greatest) };
}
