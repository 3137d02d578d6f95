/* Boundaries: a straight line where the columns are x and y, else the zero contour of the score on a grid. */

import { shape, words } from "./shapes.js";

const SIZE = 600;
const CELLS = 57; // of the grid, each way: odd, so that no corner lies on an axis of symmetry
const FINER = 4; // into how many parts a side of a cell is divided where a boundary passes
const LEVELS = 10; // of the shading
const SHADES = 3; // into how many parts a side of a cell is divided for the shading

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

/** Where the score is `level`, as a path and a place for its name; null where it is so nowhere in the window. Cells that it passes
 * through are divided again, so that it looks smooth. */
function contour(plane, line, columns, level) {
  const values = plane.grid.values(line, columns), side = CELLS + 1;
  const { window: own } = plane, parts = [];
  const at = (u, v) => score(line, columns, own.x + (u / SIZE) * own.wide, own.y + (1 - v / SIZE) * own.high) - level;
  const near = new Uint8Array(CELLS * CELLS); // cells that the curve passes through, and those around them
  for (let i = 0; i < CELLS; i += 1) {
    for (let j = 0; j < CELLS; j += 1) {
      const k = i * side + j, up = [k, k + 1, k + side, k + side + 1].filter((corner) => values[corner] >= level).length;
      if (up === 0 || up === 4) continue;
      for (let y = Math.max(i - 1, 0); y <= Math.min(i + 1, CELLS - 1); y += 1) for (let x = Math.max(j - 1, 0); x <= Math.min(j + 1, CELLS - 1); x += 1) near[y * CELLS + x] = 1;
    }
  }
  for (let i = 0; i < CELLS; i += 1) {
    for (let j = 0; j < CELLS; j += 1) {
      if (!near[i * CELLS + j]) continue;
      const unit = SIZE / CELLS, step = unit / FINER;
      const fine = Array.from({ length: FINER + 1 }, (_, y) => Array.from({ length: FINER + 1 }, (__, x) => at(j * unit + x * step, SIZE - i * unit - y * step)));
      for (let y = 0; y < FINER; y += 1) for (let x = 0; x < FINER; x += 1) parts.push(...crossings(fine[y][x], fine[y][x + 1], fine[y + 1][x], fine[y + 1][x + 1], j * unit + x * step, SIZE - i * unit - y * step, step));
    }
  }
  if (parts.length === 0) return null;
  const d = parts.map(([p, q]) => `M${p[0].toFixed(1)} ${p[1].toFixed(1)}L${q[0].toFixed(1)} ${q[1].toFixed(1)}`).join("");
  return { d, at: parts[Math.floor(parts.length / 3)][0] };
}

/** The pieces of the curve in one cell with values a, b below and c, d above, whose lower left corner is at (u, v). */
function crossings(a, b, c, d, u, v, step) {
  const share = (from, to) => from / (from - to), up = (value) => value >= 0, ends = [];
  if (up(a) !== up(b)) ends.push([u + share(a, b) * step, v]);
  if (up(b) !== up(d)) ends.push([u + step, v - share(b, d) * step]);
  if (up(c) !== up(d)) ends.push([u + share(c, d) * step, v - step]);
  if (up(a) !== up(c)) ends.push([u, v - share(a, c) * step]);
  if (ends.length === 4) return saddle(ends, [a, b, c, d]);
  return ends.length === 2 ? [ends] : [];
}

/** The part of the window with w·x + b >= 0, and the rest, as polygons. */
export function halfspaces(window, { w, b }) {
  const corners = [[0, 0], [SIZE, 0], [SIZE, SIZE], [0, SIZE]];
  const value = ([u, v]) => w[0] * (window.x + (u / SIZE) * window.wide) + w[1] * (window.y + (1 - v / SIZE) * window.high) + b;
  const part = (sign) => corners.flatMap((p, k) => {
    const q = corners[(k + 1) % 4], [a, c] = [sign * value(p), sign * value(q)];
    const inside = a >= 0 ? [p] : [];
    if ((a >= 0) !== (c >= 0)) { const t = a / (a - c); inside.push([p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])]); }
    return inside;
  });
  return [1, -1].map((sign) => shape("polygon", { points: part(sign).map((p) => p.map((t) => t.toFixed(1)).join(",")).join(" "), "fill-opacity": 0.12 }, `shade ${sign > 0 ? "plus-mark" : "minus-mark"}`));
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
    const found = contour(plane, line, columns, level);
    if (found === null) return null;
    made = shape("path", { d: found.d, fill: "none" }, className);
    at = found.at;
  }
  if (name === "") return made;
  const group = shape("g", {});
  const long = (8 + 9 * name.length) * plane.unit; // about as wide as the name
  const place = [Math.min(Math.max(at[0] + 6, 4), SIZE - long), Math.min(Math.max(at[1] - 6, 16), SIZE - 6)];
  group.append(made, words(name, ...place, "line-name"));
  return group;
}

const PLAIN = [{ a: 1, b: 0, gamma: 0 }, { a: 0, b: 1, gamma: 0 }];

/** Ten bands of probability 1/(1 + e^-s) (or two, by the sign of the score), from minus to plus. */
export function shading(plane, line, columns, probability) {
  return line.w.length === 0 ? [] : shaded(between(plane.grid.values(line, columns ?? PLAIN)), probability);
}

/** The sides of any rule, a function of a place. */
export function regions({ window: own }, rule) {
  return shaded((u, v) => rule(own.x + u * own.wide, own.y + v * own.high), false);
}

/** The values of a grid between its corners, at shares of the window. */
function between(values) {
  const side = CELLS + 1;
  return (u, v) => {
    const [x, y] = [u * CELLS, v * CELLS], [j, i] = [Math.min(CELLS - 1, Math.floor(x)), Math.min(CELLS - 1, Math.floor(y))], k = i * side + j, [p, q] = [x - j, y - i];
    return (1 - q) * ((1 - p) * values[k] + p * values[k + 1]) + q * ((1 - p) * values[k + side] + p * values[k + side + 1]);
  };
}

/** Bands of a function of the window, row by row: neighbours of one band are one rectangle. */
function shaded(value, probability) {
  const count = probability ? LEVELS : 2, cells = CELLS * SHADES, unit = SIZE / cells;
  const paths = Array.from({ length: count }, () => []);
  const band = (i, j) => {
    const s = value((j + 0.5) / cells, (i + 0.5) / cells), share = probability ? 1 / (1 + Math.exp(-s)) : Number(s >= 0);
    return Math.min(count - 1, Math.floor(share * count));
  };
  for (let i = 0; i < cells; i += 1) {
    for (let j = 0; j < cells;) {
      const from = j, own = band(i, j);
      do j += 1; while (j < cells && band(i, j) === own);
      const long = ((j - from) * unit).toFixed(2);
      paths[own].push(`M${(from * unit).toFixed(2)} ${(SIZE - (i + 1) * unit).toFixed(2)}h${long}v${unit.toFixed(2)}h-${long}z`);
    }
  }
  return paths.map((cells, k) => {
    const middle = (k + 0.5) / count;
    const made = shape("path", { d: cells.join(""), "fill-opacity": (0.42 * Math.abs(2 * middle - 1)).toFixed(3) }, `shade ${middle > 0.5 ? "plus-mark" : "minus-mark"}`);
    return cells.length ? made : null;
  });
}
