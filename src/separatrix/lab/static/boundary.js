/* Boundaries: a straight line where the columns are x and y, else the zero contour of the score on a grid. */

import { shape, words } from "./shapes.js";

const SIZE = 600;
const CELLS = 57; // of the grid, each way: odd, so that no corner lies on an axis of symmetry
const LEVELS = 10; // of the shading

const feature = ({ a, b, u, v, gamma }, x, y) => (gamma > 0 ? Math.exp(-gamma * ((x - u) ** 2 + (y - v) ** 2)) : x ** a * y ** b);

/** The score of a place; `columns` null is x and y themselves. */
export function score({ w, b }, columns, x, y) {
  if (columns === null || columns.length === 2) return w[0] * x + w[1] * y + b;
  return columns.reduce((sum, column, j) => sum + w[j] * feature(column, x, y), b);
}

/** The columns at every corner of a grid over the window; kept until window or columns change. */
export class Grid {
  #key = "";
  #columns = [];

  constructor(plane) {
    this.plane = plane;
  }

  values({ w, b }, columns) {
    const { window: own } = this.plane;
    const key = JSON.stringify([own, columns]);
    if (key !== this.#key) {
      this.#key = key;
      this.#columns = columns.map((column) => {
        const made = new Float64Array((CELLS + 1) ** 2);
        for (let i = 0, k = 0; i <= CELLS; i += 1) for (let j = 0; j <= CELLS; j += 1, k += 1) made[k] = feature(column, own.x + (j / CELLS) * own.wide, own.y + (i / CELLS) * own.high);
        return made;
      });
    }
    const out = new Float64Array((CELLS + 1) ** 2).fill(b);
    this.#columns.forEach((column, j) => { for (let k = 0; k < out.length; k += 1) out[k] += w[j] * column[k]; });
    return out;
  }
}

/** The four ends on the sides of a cell (below, right, above, left) in pairs: by the bilinear score at its saddle point. */
function saddle([below, right, above, left], [a, b, c, d]) {
  const at = (a * d - b * c) / (a + d - b - c);
  if (Math.abs(at) <= 1e-9 * Math.max(...[a, b, c, d].map(Math.abs))) return [[below, above], [left, right]]; // the curves cross
  return at > 0 === a > 0 ? [[below, right], [left, above]] : [[below, left], [right, above]];
}

/** Where the score is `level`, as a path and a place for its name; null where it is so nowhere in the window. */
export function contour(values, level = 0) {
  const side = CELLS + 1, unit = SIZE / CELLS;
  const parts = [];
  const cross = (k, m, horizontal, i, j) => {
    const t = (level - values[k]) / (values[m] - values[k]);
    return horizontal ? [(j + t) * unit, SIZE - i * unit] : [j * unit, SIZE - (i + t) * unit];
  };
  for (let i = 0; i < CELLS; i += 1) {
    for (let j = 0; j < CELLS; j += 1) {
      const corners = [i * side + j, i * side + j + 1, (i + 1) * side + j, (i + 1) * side + j + 1];
      const [a, b, c, d] = corners.map((k) => values[k] >= level);
      const ends = [];
      if (a !== b) ends.push(cross(corners[0], corners[1], true, i, j));
      if (b !== d) ends.push(cross(corners[1], corners[3], false, i, j + 1));
      if (c !== d) ends.push(cross(corners[2], corners[3], true, i + 1, j));
      if (a !== c) ends.push(cross(corners[0], corners[2], false, i, j));
      if (ends.length === 4) parts.push(...saddle(ends, corners.map((k) => values[k] - level)));
      else if (ends.length === 2) parts.push(ends);
    }
  }
  if (parts.length === 0) return null;
  const d = parts.map(([p, q]) => `M${p[0].toFixed(1)} ${p[1].toFixed(1)}L${q[0].toFixed(1)} ${q[1].toFixed(1)}`).join("");
  return { d, at: parts[Math.floor(parts.length / 3)][0] };
}

/** w·x + b = level in the units of the picture: the point of it nearest to the centre, and its direction. */
function placed(window, [w1, w2], b, level) {
  const A = (w1 * window.wide) / SIZE, B = (-w2 * window.high) / SIZE;
  const C = b - level + w1 * window.x + w2 * (window.y + window.high);
  const square = A * A + B * B;
  if (!(square > 0)) return null;
  const away = (A * SIZE / 2 + B * SIZE / 2 + C) / square;
  const norm = Math.sqrt(square);
  return { u: SIZE / 2 - away * A, v: SIZE / 2 - away * B, du: -B / norm, dv: A / norm };
}

/** The part of w·x + b = level that the window shows, in the units of the picture; null where there is none. */
export function segment(window, w, b, level = 0) {
  const line = placed(window, w, b, level);
  if (line === null) return null;
  const { u, v, du, dv } = line;
  let low = -Infinity, high = Infinity;
  for (const [start, direction] of [[u, du], [v, dv]]) {
    if (Math.abs(direction) < 1e-12) {
      if (start < 0 || start > SIZE) return null;
      continue;
    }
    const ends = [(0 - start) / direction, (SIZE - start) / direction];
    low = Math.max(low, Math.min(...ends));
    high = Math.min(high, Math.max(...ends));
  }
  return high > low ? [[u + low * du, v + low * dv], [u + high * du, v + high * dv]] : null;
}

/** The stripe |w·x + b| <= reach as corners of a polygon that is longer than the window. */
export function stripe(window, w, b, reach) {
  const sides = [placed(window, w, b, -reach), placed(window, w, b, reach)];
  if (sides.includes(null)) return "";
  const ends = sides.map(({ u, v, du, dv }) => [-2 * SIZE, 2 * SIZE].map((t) => [u + t * du, v + t * dv]));
  return [ends[0][0], ends[0][1], ends[1][1], ends[1][0]].map((place) => place.map((t) => t.toFixed(1)).join(",")).join(" ");
}

/** The boundary of a learner, drawn; `name` is written beside it. */
export function boundary(plane, line, columns, className, { name = "", level = 0, along = 0.1 } = {}) {
  if (line === null || line.w.length === 0) return null;
  const straight = columns === null || columns.length === 2;
  let made, at;
  if (straight) {
    const ends = segment(plane.window, line.w, line.b, level);
    if (ends === null) return null;
    const [[x1, y1], [x2, y2]] = ends;
    made = shape("line", { x1, y1, x2, y2 }, className);
    at = [x1 + along * (x2 - x1), y1 + along * (y2 - y1)];
  } else {
    const found = contour(plane.grid.values(line, columns), level);
    if (found === null) return null;
    made = shape("path", { d: found.d, fill: "none" }, className);
    at = found.at;
  }
  if (name === "") return made;
  const group = shape("g", {});
  const place = [Math.min(Math.max(at[0] + 6, 4), SIZE - 24), Math.min(Math.max(at[1] - 6, 16), SIZE - 6)];
  group.append(made, words(name, ...place, "line-name"));
  return group;
}

/** Ten bands of probability 1/(1 + e^-s) (or two, by the sign of the score), from minus to plus. */
export function shading(plane, line, columns, probability) {
  if (line.w.length === 0) return [];
  const own = columns ?? [{ a: 1, b: 0, gamma: 0 }, { a: 0, b: 1, gamma: 0 }];
  const values = plane.grid.values(line, own);
  const count = probability ? LEVELS : 2;
  const paths = Array.from({ length: count }, () => []);
  const side = CELLS + 1, unit = SIZE / CELLS;
  for (let i = 0; i < CELLS; i += 1) {
    for (let j = 0; j < CELLS; j += 1) {
      const k = i * side + j;
      const middle = (values[k] + values[k + 1] + values[k + side] + values[k + side + 1]) / 4;
      const share = probability ? 1 / (1 + Math.exp(-middle)) : Number(middle >= 0);
      paths[Math.min(count - 1, Math.floor(share * count))].push(`M${(j * unit).toFixed(1)} ${(SIZE - (i + 1) * unit).toFixed(1)}h${unit.toFixed(2)}v${unit.toFixed(2)}h-${unit.toFixed(2)}z`);
    }
  }
  return paths.map((cells, k) => {
    const middle = (k + 0.5) / count;
    const made = shape("path", { d: cells.join(""), "fill-opacity": (0.42 * Math.abs(2 * middle - 1)).toFixed(3) }, `shade ${middle > 0.5 ? "plus-mark" : "minus-mark"}`);
    return cells.length ? made : null;
  });
}
