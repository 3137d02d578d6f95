/* What is true of rows of two classes, in exact arithmetic: separable or not, the maximum margin, Novikoff's bound. */

import { combination, direction, dot, integers, orthogonal, primitive, quotient, root } from "./exact.js";
import { lowestOf, nearest } from "./nearest.js";

/** The rows as integers, rows[i] = (x_i, 1) · unit, or x_i · unit without a bias; z_i = y_i times it. */
export function exactRows(rows, labels, bias) {
  const { shift, vectors } = integers(rows);
  const unit = 1n << BigInt(shift);
  const lifted = bias ? vectors.map((vector) => [...vector, unit]) : vectors;
  return { unit, bias, labels, vectors, lifted, z: lifted.map((row, i) => (labels[i] > 0 ? row : row.map((v) => -v))) };
}

/** (w, b) in doubles, from integers: as given, or as its direction where it would overflow. */
export function inDoubles(vector, bias) {
  const w = direction(vector);
  return bias ? { w: w.slice(0, -1), b: w.at(-1) } : { w, b: 0 };
}

/** Complete, quasi or overlap: with w of all rows strictly (or none wrongly) classified, and a witness against the strict one.
 *
 * Where the rows are not separable, the circuit forces w to be orthogonal to its rows; the others are decided again among such
 * w, and so on: the dimension falls each time (facial reduction). `weights` is a circulation on all circuits that were met. */
export function separability(exact) {
  const { z } = exact, width = z[0].length;
  const first = nearest(lowestOf(z), width);
  if (first.vector.some((v) => v !== 0n)) return { verdict: "complete", w: primitive(first.vector), witness: [], nearest: first };
  const witness = first.corral.map(({ id, weight }) => ({ row: id, weight }));
  let weights = new Map(witness.map(({ row, weight }) => [row, weight]));
  for (;;) {
    const basis = orthogonal([...weights.keys()].map((i) => z[i]), width);
    const left = z.map((row, i) => ({ i, row: basis.map((v) => dot(row, v)) })).filter(({ row }) => row.some((v) => v !== 0n));
    if (left.length === 0) return { verdict: "overlap", witness, weights, free: basis };
    const found = nearest(lowestOf(left.map(({ row }) => row), left.map(({ i }) => i)), basis.length);
    if (found.vector.some((v) => v !== 0n)) {
      const w = basis[0].map((_, j) => basis.reduce((sum, v, k) => sum + found.vector[k] * v[j], 0n));
      return { verdict: "quasi", w: primitive(w), witness };
    }
    weights = joined(z, weights, found.corral);
  }
}

/** A circulation on the rows of `weights` and on those of a circuit of what is orthogonal to them. */
function joined(z, weights, circuit) {
  const rest = z[0].map((_, j) => -circuit.reduce((sum, { id, weight }) => sum + weight * z[id][j], 0n));
  const rows = [...weights.keys()];
  const { c, d } = combination(rows.map((i) => z[i]), rest); // the rest lies in their span
  const least = rows.reduce((most, i, k) => { const need = 1n - c[k] / weights.get(i); return need > most ? need : most; }, 1n);
  return new Map([...rows.map((i, k) => [i, c[k] + (least + 1n) * weights.get(i)]), ...circuit.map(({ id, weight }) => [id, weight * d])]);
}

/** The hyperplane farthest from its nearest row: `over / under` is the square of the half-width, `edges` are all rows at that
 * distance, `support` some that are enough to determine it. Null where the classes are not separable. */
export function maximumMargin(exact) {
  const { vectors, labels, bias, z, unit } = exact, width = vectors[0].length;
  const dotted = (x) => vectors.map((row) => dot(x, row));
  if (!bias) {
    const found = nearest(lowestOf(z), width);
    if (found.vector.every((v) => v === 0n)) return null;
    const scores = z.map((row) => dot(found.vector, row)), least = scores.reduce((a, b) => (b < a ? b : a));
    const edges = scores.map((v, i) => (v === least ? i : -1)).filter((i) => i >= 0);
    return marginOf(exact, found, found.vector.map((v) => v * unit), least, edges, 1n);
  }
  const lowest = (x) => {
    const values = dotted(x);
    let plus = -1, minus = -1;
    values.forEach((v, i) => {
      if (labels[i] > 0 && (plus < 0 || v < values[plus])) plus = i;
      if (labels[i] < 0 && (minus < 0 || v > values[minus])) minus = i;
    });
    return { point: vectors[plus].map((v, j) => v - vectors[minus][j]), id: [plus, minus] };
  };
  const found = nearest(lowest, width);
  if (found.vector.every((v) => v === 0n)) return null;
  const x = primitive(found.vector), values = dotted(x);
  const low = values.filter((_, i) => labels[i] > 0).reduce((a, b) => (b < a ? b : a));
  const high = values.filter((_, i) => labels[i] < 0).reduce((a, b) => (b > a ? b : a));
  const edges = values.map((v, i) => (v === (labels[i] > 0 ? low : high) ? i : -1)).filter((i) => i >= 0);
  // a row of doubles is its integers over unit: 2 unit x·row - (low + high) is low - high or more on its correct side
  const w = [...x.map((v) => 2n * v * unit), -(low + high)];
  return marginOf(exact, found, w, low - high, edges, 4n);
}

/** `level` is the least z·w over the rows of doubles; the half-width is |vector| / d / unit, or half of it. */
function marginOf({ unit, bias }, { vector, d, corral }, w, level, edges, share) {
  const weights = new Map();
  for (const { id, weight } of corral) for (const i of [id].flat()) weights.set(i, (weights.get(i) ?? 0n) + weight);
  const over = dot(vector, vector), under = share * d * d * unit * unit;
  const scale = primitive([...w, level]);
  return { over, under, width: root(over, under), w: scale.slice(0, -1), level: scale.at(-1), line: inDoubles(scale.slice(0, -1), bias), edges, weights };
}

/** Novikoff (1962): at most (R / γ)² mistakes from a start at zero, in any order; γ is the margin of the lifted rows. */
export function mistakeBound(exact, { vector, d, corral }) {
  const { lifted, unit } = exact;
  const longest = lifted.reduce((most, row) => { const square = dot(row, row); return square > most ? square : most; }, 0n);
  const square = dot(vector, vector); // of γ · d · unit
  const margin = { over: square, under: d * d * unit * unit };
  const level = exact.z.map((row) => dot(vector, row)).reduce((a, b) => (b < a ? b : a));
  const scale = primitive([...vector.map((v) => v * unit), level]);
  return {
    radius: root(longest, unit * unit), margin: root(margin.over, margin.under), over: margin.over, under: margin.under,
    most: (longest * d * d) / square, bound: quotient(longest * d * d, square),
    w: scale.slice(0, -1), level: scale.at(-1), weights: new Map(corral.map(({ id, weight }) => [id, weight])),
  };
}
