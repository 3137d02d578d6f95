/* The plane: points to add, drag and delete by mouse, touch and keyboard; lines, bands, hulls and rings around them. */

const SVG = "http://www.w3.org/2000/svg";
const SIZE = 600;
const REACH = 9; // of a point, in the units of the picture

export function shape(name, attributes, className) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (className !== undefined) made.setAttribute("class", className);
  return made;
}

export class Plane {
  constructor(svg, scene, newLabel, say) {
    Object.assign(this, { svg, scene, newLabel, say, selected: -1, drag: null, cursor: null });
    this.layers = Object.fromEntries(["axes", "behind", "lines", "points", "marks"].map((name) => [name, shape("g", {})]));
    svg.append(...Object.values(this.layers));
    this.fit();
    svg.addEventListener("pointerdown", (event) => this.down(event));
    svg.addEventListener("pointermove", (event) => this.dragged(event));
    svg.addEventListener("pointerup", () => this.up());
    svg.addEventListener("pointercancel", () => this.up());
    svg.addEventListener("keydown", (event) => this.key(event));
  }

  // -- coordinates

  /** A square window around the points. */
  fit() {
    const { points } = this.scene;
    const xs = points.map((p) => p.x), ys = points.map((p) => p.y);
    const middle = (v) => (v.length ? (Math.min(...v) + Math.max(...v)) / 2 : 0);
    const span = (v) => (v.length ? Math.max(...v) - Math.min(...v) : 0);
    const half = Math.max(span(xs), span(ys)) * 0.62 || 3;
    this.window = { x: middle(xs) - half, y: middle(ys) - half, side: 2 * half };
    this.cursor = null;
    this.drawAxes();
  }

  toPicture(x, y) {
    const { window: w } = this;
    return [((x - w.x) / w.side) * SIZE, SIZE - ((y - w.y) / w.side) * SIZE];
  }

  fromPicture(u, v) {
    const { window: w } = this;
    const digits = Math.max(0, 2 - Math.floor(Math.log10(w.side)));
    const rounded = (t) => Number(t.toFixed(Math.min(digits, 12)));
    return [rounded(w.x + (u / SIZE) * w.side), rounded(w.y + ((SIZE - v) / SIZE) * w.side)];
  }

  at(event) {
    const box = this.svg.getBoundingClientRect();
    const side = Math.min(box.width, box.height);
    const u = ((event.clientX - box.left - (box.width - side) / 2) / side) * SIZE;
    const v = ((event.clientY - box.top - (box.height - side) / 2) / side) * SIZE;
    return this.fromPicture(u, v);
  }

  // -- mouse and touch

  down(event) {
    const index = event.target.dataset?.index;
    if (index !== undefined) {
      this.select(Number(index));
      this.drag = { index: Number(index), moved: false };
      this.svg.setPointerCapture(event.pointerId);
      return;
    }
    const [x, y] = this.at(event);
    this.add(x, y, this.newLabel());
    event.preventDefault();
  }

  dragged(event) {
    if (this.drag === null) return;
    if (!this.drag.moved) this.scene.remember();
    this.drag.moved = true;
    this.scene.move(this.drag.index, ...this.at(event));
  }

  up() {
    this.drag = null;
  }

  add(x, y, label) {
    const index = this.scene.add(x, y, label);
    if (index < 0) this.say("There are 500 points; the lab takes no more.");
    else this.select(index);
  }

  select(index) {
    this.selected = index;
    this.drawPoints();
  }

  // -- keyboard

  key(event) {
    const index = event.target.dataset?.index;
    const step = this.window.side / (event.shiftKey ? 10 : 50);
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    if (event.key in moves) {
      const [dx, dy] = moves[event.key];
      event.preventDefault();
      if (index === undefined) this.moveCursor(dx * step, dy * step);
      else this.movePoint(Number(index), dx * step, dy * step);
    } else if ((event.key === "Delete" || event.key === "Backspace") && index !== undefined) {
      event.preventDefault();
      this.removeSelected(Number(index));
    } else if (index === undefined && (event.key === "p" || event.key === "n")) {
      const { x, y } = this.cursorPlace();
      this.add(x, y, event.key === "p" ? 1 : -1);
    }
  }

  cursorPlace() {
    const { window: w } = this;
    this.cursor ??= { x: w.x + w.side / 2, y: w.y + w.side / 2 };
    return this.cursor;
  }

  moveCursor(dx, dy) {
    const { x, y } = this.cursorPlace();
    const [u, v] = this.toPicture(x + dx, y + dy);
    const [nx, ny] = this.fromPicture(Math.min(Math.max(u, 0), SIZE), Math.min(Math.max(v, 0), SIZE));
    this.cursor = { x: nx, y: ny };
    this.say(`Cursor at ${nx}, ${ny}.`);
    this.drawPoints();
  }

  movePoint(index, dx, dy) {
    this.scene.remember();
    const { x, y } = this.scene.points[index];
    const [u, v] = this.toPicture(x + dx, y + dy);
    this.selected = index;
    this.scene.move(index, ...this.fromPicture(u, v));
    this.layers.points.children[index]?.focus();
  }

  removeSelected(index = this.selected) {
    if (index < 0) return;
    this.selected = -1;
    this.scene.remove(index);
    this.svg.focus();
  }

  // -- drawing

  drawAxes() {
    const { window: w } = this;
    const unit = 10 ** Math.floor(Math.log10(w.side / 3));
    const step = w.side / unit > 12 ? 5 * unit : w.side / unit > 6 ? 2 * unit : unit;
    const made = [];
    const label = (value) => String(Number(value.toPrecision(6)));
    for (let t = Math.ceil(w.x / step) * step; t < w.x + w.side; t += step) {
      const [u] = this.toPicture(t, 0);
      made.push(shape("line", { x1: u, x2: u, y1: 0, y2: SIZE }, "axis"));
      made.push(this.text(label(t), u + 3, SIZE - 4));
    }
    for (let t = Math.ceil(w.y / step) * step; t < w.y + w.side; t += step) {
      const [, v] = this.toPicture(0, t);
      made.push(shape("line", { x1: 0, x2: SIZE, y1: v, y2: v }, "axis"));
      made.push(this.text(label(t), 3, v - 3));
    }
    this.layers.axes.replaceChildren(...made);
  }

  text(content, x, y) {
    const made = shape("text", { x, y }, "tick");
    made.textContent = content;
    return made;
  }

  drawPoints() {
    const focused = document.activeElement?.dataset?.index;
    const made = this.scene.points.map((point, k) => {
      const [u, v] = this.toPicture(point.x, point.y);
      const plus = point.label > 0;
      const own = `point ${plus ? "plus-mark" : "minus-mark"}${k === this.selected ? " selected" : ""}`;
      const mark = plus
        ? shape("circle", { cx: u, cy: v, r: REACH - 1 }, own)
        : shape("rect", { x: u - REACH + 2, y: v - REACH + 2, width: 2 * REACH - 4, height: 2 * REACH - 4 }, own);
      mark.dataset.index = k;
      mark.setAttribute("tabindex", "0");
      mark.setAttribute("role", "button");
      mark.setAttribute("aria-label", `point ${k}, ${plus ? "plus" : "minus"}, at ${point.x}, ${point.y}`);
      return mark;
    });
    if (this.cursor !== null) {
      const [u, v] = this.toPicture(this.cursor.x, this.cursor.y);
      made.push(shape("path", { d: `M${u - 9} ${v}h18M${u} ${v - 9}v18` }, "cursor"));
    }
    this.layers.points.replaceChildren(...made);
    if (focused !== undefined) this.layers.points.children[focused]?.focus();
  }

  /** The part of w·x + b = 0 that the window shows; null where there is none. */
  line(w, b, className) {
    const { window: own } = this;
    const norm = Math.hypot(w[0], w[1]);
    if (!(norm > 0)) return null;
    const cx = own.x + own.side / 2, cy = own.y + own.side / 2;
    const away = (w[0] * cx + w[1] * cy + b) / norm ** 2;
    const fx = cx - away * w[0], fy = cy - away * w[1]; // the foot of the centre
    const far = (2 * own.side) / norm;
    const [x1, y1] = this.toPicture(fx - far * w[1], fy + far * w[0]);
    const [x2, y2] = this.toPicture(fx + far * w[1], fy - far * w[0]);
    return shape("line", { x1, y1, x2, y2 }, className);
  }

  /** The stripe |w·x + b| <= reach. */
  band(w, b, reach) {
    const norm = Math.hypot(w[0], w[1]);
    if (!(norm > 0)) return null;
    const width = ((2 * reach) / norm / this.window.side) * SIZE;
    const made = this.line(w, b, "band");
    made.setAttribute("stroke-width", width);
    return made;
  }

  ring(index, className, reach = 14) {
    const point = this.scene.points[index];
    if (point === undefined) return null;
    const [cx, cy] = this.toPicture(point.x, point.y);
    return shape("circle", { cx, cy, r: reach }, `ring ${className}`);
  }

  /** The convex hull of some points of one class. */
  hull(indices, className) {
    const places = indices.map((k) => this.scene.points[k]).filter(Boolean).map((p) => this.toPicture(p.x, p.y));
    if (places.length === 0) return null;
    const points = convexHull(places).map((place) => place.join(",")).join(" ");
    return shape("polygon", { points }, `hull ${className}`);
  }

  draw(behind, lines, marks) {
    this.layers.behind.replaceChildren(...behind.filter(Boolean));
    this.layers.lines.replaceChildren(...lines.filter(Boolean));
    this.layers.marks.replaceChildren(...marks.filter(Boolean));
  }
}

function convexHull(places) {
  const sorted = [...places].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const turn = (o, a, b) => (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
  const half = (ordered) => {
    const kept = [];
    for (const place of ordered) {
      while (kept.length > 1 && turn(kept.at(-2), kept.at(-1), place) <= 0) kept.pop();
      kept.push(place);
    }
    return kept.slice(0, -1);
  };
  return sorted.length < 3 ? sorted : [...half(sorted), ...half(sorted.reverse())];
}
