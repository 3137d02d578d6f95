/* The point of a convex hull nearest to the origin, in exact arithmetic (Wolfe 1976).
 *
 * A corral is a set of affinely independent points with positive weights. Each round adds the point that lies farthest
 * against the present one, and moves to the nearest point of the corral's affine hull, or as far as the weights stay
 * positive. The distance falls in every round, so that it ends; where it ends at the origin, the corral is a circuit. */

import { combination, dot, gcd, primitive } from "./exact.js";

/** Weights n_i over one d > 0 of the point of the affine hull nearest to the origin. */
function affineMinimum(points) {
  const gram = points.map((p) => points.map((q) => dot(p, q)));
  const columns = [...points.map((_, j) => [...gram.map((row) => row[j]), 1n]), [...points.map(() => 1n), 0n]];
  const { c, d } = combination(columns, [...points.map(() => 0n), 1n]);
  return { weights: c.slice(0, -1), d };
}

/** `lowest(x)` gives {point, id} with the least x·point. The answer is the point vector / d, and the corral's ids and weights
 * over the same d. */
export function nearest(lowest, width) {
  let corral = [lowest(new Array(width).fill(0n))], weights = [1n], d = 1n;
  for (;;) {
    const x = corral[0].point.map((_, j) => corral.reduce((sum, { point }, k) => sum + weights[k] * point[j], 0n));
    const next = lowest(primitive(x));
    if (dot(x, next.point) * d >= dot(x, x)) return { vector: x, d, corral: corral.map(({ id }, k) => ({ id, weight: weights[k] })) };
    corral.push(next);
    weights.push(0n);
    for (;;) {
      const aim = affineMinimum(corral.map(({ point }) => point));
      if (aim.weights.every((v) => v > 0n)) {
        [weights, d] = [aim.weights, aim.d];
        break;
      }
      // the share of the way at which the first weight vanishes, as a fraction over / under
      let over = 1n, under = 1n;
      aim.weights.forEach((to, k) => {
        if (to > 0n) return;
        const [o, u] = [weights[k] * aim.d, weights[k] * aim.d - to * d];
        if (u > 0n && o * under < over * u) [over, under] = [o, u];
      });
      weights = weights.map((from, k) => from * aim.d * (under - over) + aim.weights[k] * d * over);
      d = d * aim.d * under;
      const common = weights.reduce(gcd, d);
      [weights, d] = [weights.map((v) => v / common), d / common];
      const stay = weights.map((v) => v > 0n);
      corral = corral.filter((_, k) => stay[k]);
      weights = weights.filter((v) => v > 0n);
    }
  }
}

/** The row with the least x·row. */
export function lowestOf(rows, ids = rows.map((_, i) => i)) {
  return (x) => {
    let best = 0, least = null;
    rows.forEach((row, i) => {
      const value = dot(x, row);
      if (least === null || value < least) [best, least] = [i, value];
    });
    return { point: rows[best], id: ids[best] };
  };
}
