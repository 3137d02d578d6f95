/* The fewest points that any line misclassifies: every way in which a line can divide the points is counted.
 *
 * A line that meets no point can be moved, without passing one, until it meets two. So all divisions are found by turning and
 * shifting each line through two points a little: the points on it go to either side from some place along it on. */

export const MOST_POINTS = 160;
const ROUND = 4 * 2 ** -52; // more than the relative error of the determinant below (Shewchuk 1997)

/** The sign of the turn from a through b to c: in doubles where that is certain, else in integers. */
function turns(points, whole) {
  return (i, j, k) => {
    const [a, b, c] = [points[i], points[j], points[k]];
    const left = (b[0] - a[0]) * (c[1] - a[1]), right = (b[1] - a[1]) * (c[0] - a[0]);
    if (Math.abs(left - right) > ROUND * (Math.abs(left) + Math.abs(right)) && Math.abs(left) + Math.abs(right) > 1e-280) return Math.sign(left - right);
    const [A, B, C] = [whole[i], whole[j], whole[k]];
    const exact = (B[0] - A[0]) * (C[1] - A[1]) - (B[1] - A[1]) * (C[0] - A[0]);
    return exact > 0n ? 1 : exact < 0n ? -1 : 0;
  };
}

/** {count, right}: the least number of mistakes, and for each point whether a best line has it right. A point on the line counts
 * as a mistake. `whole` are the points as integers. */
export function fewestMistakes(points, labels, whole, bias) {
  const n = points.length;
  let best = { correct: -1, side: null };
  const offer = (correct, side) => { if (correct > best.correct) best = { correct, side: side() }; };
  const consider = (sides, along) => { // sides: ±1 off the line; along: groups of points on it, in order
    const base = [0, 0]; // correct ones off the line where plus lies on the positive, or the negative side
    for (let k = 0; k < n; k += 1) if (sides[k] !== 0) base[sides[k] === labels[k] ? 0 : 1] += 1;
    const plus = along.map((group) => group.filter((k) => labels[k] > 0).length), size = along.map((group) => group.length);
    const total = plus.reduce((a, b) => a + b, 0), all = size.reduce((a, b) => a + b, 0);
    for (let t = 0, before = 0, passed = 0; t <= along.length; t += 1) {
      // the first t groups to the positive side, the others to the negative one: correct ones where plus is positive
      const forward = before + (all - passed) - (total - before), backward = all - forward;
      for (const [way, on] of [[1, forward], [-1, backward]]) {
        for (const sign of [1, -1]) {
          const correct = sign > 0 ? base[0] + on : base[1] + (all - on);
          offer(correct, () => {
            const out = sides.map((s) => s * sign);
            along.forEach((group, g) => { for (const k of group) out[k] = (g < t ? way : -way) * sign; });
            return out;
          });
        }
      }
      if (t < along.length) [before, passed] = [before + plus[t], passed + size[t]];
    }
  };
  const turn = turns(points, whole);
  if (!bias) throughOrigin(points, whole, consider);
  else {
    consider(new Array(n).fill(1), []);
    for (let i = 0; i < n; i += 1) {
      for (let j = i + 1; j < n; j += 1) {
        if (whole[i][0] === whole[j][0] && whole[i][1] === whole[j][1]) continue;
        const sides = points.map((_, k) => (k === i || k === j ? 0 : turn(i, j, k)));
        const on = sides.map((s, k) => (s === 0 ? k : -1)).filter((k) => k >= 0);
        consider(sides, grouped(on, whole, [whole[j][0] - whole[i][0], whole[j][1] - whole[i][1]]));
      }
    }
  }
  return { count: n - best.correct, right: labels.map((label, k) => best.side[k] === label) };
}

/** Points on one line in the order along it; those at one place together. */
function grouped(on, whole, [dx, dy]) {
  const place = (k) => whole[k][0] * dx + whole[k][1] * dy;
  const sorted = on.map((k) => [place(k), k]).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  const groups = [];
  sorted.forEach(([at, k], i) => { if (i > 0 && at === sorted[i - 1][0]) groups.at(-1).push(k); else groups.push([k]); });
  return groups;
}

/** Lines through the origin: turned a little about it, the points on one ray go to one side, those on the other to the other. */
function throughOrigin(points, whole, consider) {
  const atOrigin = ([x, y]) => x === 0n && y === 0n;
  whole.forEach((p) => {
    if (atOrigin(p)) return;
    const cross = (q) => p[0] * q[1] - p[1] * q[0], ahead = (q) => p[0] * q[0] + p[1] * q[1] > 0n;
    for (const way of [1, -1]) {
      consider(whole.map((q) => {
        const side = cross(q);
        return side > 0n ? 1 : side < 0n ? -1 : atOrigin(q) ? 0 : ahead(q) ? way : -way;
      }), []);
    }
  });
  if (whole.every(atOrigin)) consider(points.map(() => 0), []);
}
