/* The plane: points to add, drag and delete by mouse, touch and keyboard; lines, bands, hulls and rings around them. */

import { Grid, segment, stripe } from "./boundary.js";
import { convexHull, shape, words } from "./shapes.js";

const SIZE = 600;
const FAR = 8; // how much longer an axis must be to have a scale of its own
const REACH = 9; // of a point, in the units of the picture

export class Plane {
  constructor(svg, scene, newLabel, say) {
    Object.assign(this, { svg, scene, newLabel, say, selected: -1, drag: null, cursor: null, held: new Set() });
    this.grid = new Grid(this);
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

  /** A window around the points, `room` times as wide as they need: square, unless one axis is far longer. */
  fit(room = 1) {
    const { points } = this.scene;
    const [xs, ys] = [points.map((p) => p.x), points.map((p) => p.y)];
    const middle = (v) => (v.length ? (Math.min(...v) + Math.max(...v)) / 2 : 0);
    const span = (v) => (v.length ? Math.max(...v) - Math.min(...v) : 0);
    const most = Math.max(span(xs), span(ys));
    const size = (v) => (span(v) * FAR < most && span(v) > 0 ? span(v) : most) * 1.24 * room || 6;
    const [wide, high] = [size(xs), size(ys)];
    this.window = { x: middle(xs) - wide / 2, y: middle(ys) - high / 2, wide, high };
    this.cursor = null;
    this.drawAxes();
  }

  toPicture(x, y) {
    const { window: w } = this;
    return [((x - w.x) / w.wide) * SIZE, SIZE - ((y - w.y) / w.high) * SIZE];
  }

  fromPicture(u, v) {
    const { window: w } = this;
    const rounded = (t, side) => Number(t.toFixed(Math.min(Math.max(0, 2 - Math.floor(Math.log10(side))), 12)));
    return [rounded(w.x + (u / SIZE) * w.wide, w.wide), rounded(w.y + ((SIZE - v) / SIZE) * w.high, w.high)];
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
    const moved = this.drag?.moved ?? false;
    this.drag = null;
    if (moved) this.scene.changed();
  }

  add(x, y, label) {
    const was = this.selected;
    this.selected = this.scene.points.length;
    if (this.scene.add(x, y, label) >= 0) return;
    this.selected = was;
    this.say("There are 500 points; the lab takes no more.");
  }

  /** Mark a point; the marks stay the same elements, since a finger may lie on one. */
  select(index) {
    const was = this.selected;
    this.selected = index;
    for (const k of [was, index]) if (this.layers.points.children[k] !== undefined && this.scene.points[k] !== undefined) this.drawPoint(k);
  }

  // -- keyboard

  key(event) {
    const index = event.target.dataset?.index;
    const share = 1 / (event.shiftKey ? 10 : 50);
    const [across, up] = [this.window.wide * share, this.window.high * share];
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    if (event.key in moves) {
      const [dx, dy] = moves[event.key];
      event.preventDefault();
      if (index === undefined) this.moveCursor(dx * across, dy * up);
      else this.movePoint(Number(index), dx * across, dy * up);
    } else if ((event.key === "Delete" || event.key === "Backspace") && index !== undefined) {
      event.preventDefault();
      this.removeSelected(Number(index));
    } else if (index === undefined && (event.key === "p" || event.key === "n")) {
      const { x, y } = this.cursorPlace();
      this.add(x, y, event.key === "p" ? 1 : -1);
    }
  }

  cursorPlace() {
    const [x, y] = this.fromPicture(SIZE / 2, SIZE / 2);
    this.cursor ??= { x, y };
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
    const made = [];
    const ticks = (from, side) => {
      const unit = 10 ** Math.floor(Math.log10(side / 3));
      const step = side / unit > 12 ? 5 * unit : side / unit > 6 ? 2 * unit : unit;
      const first = Math.ceil(from / step);
      return Array.from({ length: Math.floor((from + side) / step) - first + 1 }, (_, k) => (first + k) * step);
    };
    const label = (value) => String(Number(value.toPrecision(6)));
    for (const t of ticks(w.x, w.wide)) {
      const [u] = this.toPicture(t, 0);
      made.push(shape("line", { x1: u, x2: u, y1: 0, y2: SIZE }, "axis"), words(label(t), u + 3, SIZE - 4));
    }
    for (const t of ticks(w.y, w.high)) {
      const [, v] = this.toPicture(0, t);
      made.push(shape("line", { x1: 0, x2: SIZE, y1: v, y2: v }, "axis"), words(label(t), 3, v - 3));
    }
    const [across, up] = this.scene.axes;
    made.push(words(across, SIZE - 6, SIZE - 20, "tick name", { "text-anchor": "end" }), words(up, 30, 16, "tick name"));
    this.layers.axes.replaceChildren(...made);
  }

  /** One mark a point: a disc for plus, a square for minus; held-out points are hollow. */
  drawPoints() {
    const focused = document.activeElement?.dataset?.index;
    const made = this.scene.points.map((point, k) => {
      const mark = point.label > 0 ? shape("circle", { r: REACH - 1 }) : shape("rect", { width: 2 * REACH - 4, height: 2 * REACH - 4 });
      mark.dataset.index = k;
      mark.setAttribute("tabindex", "0");
      mark.setAttribute("role", "button");
      this.put(mark, point, k);
      return mark;
    });
    if (this.cursor !== null) {
      const [u, v] = this.toPicture(this.cursor.x, this.cursor.y);
      made.push(shape("path", { d: `M${u - 9} ${v}h18M${u} ${v - 9}v18` }, "cursor"));
    }
    this.layers.points.replaceChildren(...made);
    if (focused !== undefined) this.layers.points.children[focused]?.focus();
  }

  put(mark, point, k) {
    const [u, v] = this.toPicture(point.x, point.y);
    const plus = point.label > 0;
    const kind = `${plus ? "plus-mark" : "minus-mark"}${k === this.selected ? " selected" : ""}${this.held.has(k) ? " held" : ""}`;
    mark.setAttribute("class", `point ${kind}`);
    mark.setAttribute(plus ? "cx" : "x", plus ? u : u - REACH + 2);
    mark.setAttribute(plus ? "cy" : "y", plus ? v : v - REACH + 2);
    mark.setAttribute("aria-label", `point ${k}, ${plus ? "plus" : "minus"}${this.held.has(k) ? ", held out" : ""}, at ${point.x}, ${point.y}`);
  }

  /** Only the mark of one point: for drags. */
  drawPoint(k) {
    this.put(this.layers.points.children[k], this.scene.points[k], k);
  }

  /** The stripe |w·x + b| <= reach, with its edges. */
  band({ w, b }, reach) {
    const group = shape("g", {});
    group.append(shape("polygon", { points: stripe(this.window, w, b, reach) }, "band"));
    for (const level of [-reach, reach]) {
      const ends = segment(this.window, w, b, level);
      if (ends !== null) group.append(shape("line", { x1: ends[0][0], y1: ends[0][1], x2: ends[1][0], y2: ends[1][1] }, "edge"));
    }
    return group;
  }

  /** Small text beside a point. */
  note(index, content) {
    const point = this.scene.points[index];
    if (point === undefined) return null;
    const [u, v] = this.toPicture(point.x, point.y);
    return words(content, u + 9, v - 7, "tick note");
  }

  ring(index, className, reach = 14) {
    const point = this.scene.points[index];
    if (point === undefined) return null;
    const [cx, cy] = this.toPicture(point.x, point.y);
    return shape("circle", { cx, cy, r: reach }, `ring ${className}`);
  }

  /** The convex hull of some points of one class; with the origin it shows the cone of lines through it. */
  hull(indices, className, origin = false) {
    const places = indices.map((k) => this.scene.points[k]).filter(Boolean).map((p) => this.toPicture(p.x, p.y));
    if (places.length === 0) return null;
    if (origin) places.push(this.toPicture(0, 0));
    const corners = convexHull(places);
    const points = corners.map((place) => place.join(",")).join(" ");
    return shape(corners.length > 2 ? "polygon" : "polyline", { points }, `hull ${className}`);
  }

  draw(behind, lines, marks) {
    this.layers.behind.replaceChildren(...behind.filter(Boolean));
    this.layers.lines.replaceChildren(...lines.filter(Boolean));
    this.layers.marks.replaceChildren(...marks.filter(Boolean));
  }
}
