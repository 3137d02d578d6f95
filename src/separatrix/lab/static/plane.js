/* The plane: points to add, drag, flip and delete by mouse, touch and keyboard; a line to drag by its normal; and what is drawn
 * around them. Sizes are in 600ths of the picture; `unit` is a pixel of the screen in them. */

import { Grid, halfspaces, segment, stripe } from "./boundary.js";
import { Handles } from "./handles.js";
import { convexHull, shape, words } from "./shapes.js";

const SIZE = 600;
const FAR = 8; // how much longer an axis must be to have a scale of its own
const NUMBERED = 24; // points that are numbered
const MARK = 8; // pixels: half the size of a mark
const TARGET = 14; // pixels: half the size of what a finger hits

export class Plane {
  unit = 1;

  constructor(svg, scene, newLabel, say) {
    Object.assign(this, { svg, scene, newLabel, say, selected: -1, drag: null, cursor: null, held: new Set() });
    this.grid = new Grid(this);
    this.layers = Object.fromEntries(["behind", "axes", "lines", "points", "marks", "handles"].map((name) => [name, shape("g", {})]));
    svg.append(...Object.values(this.layers));
    this.handles = new Handles(this);
    this.fit();
    svg.addEventListener("pointerdown", (event) => this.down(event));
    svg.addEventListener("pointermove", (event) => this.dragged(event));
    svg.addEventListener("pointerup", () => this.up());
    svg.addEventListener("pointercancel", () => this.up());
    // else a finger that drags upwards scrolls the page: touch-action is not heeded within a picture
    svg.addEventListener("touchmove", (event) => { if (this.drag !== null || this.handles.busy) event.preventDefault(); }, { passive: false });
    svg.addEventListener("click", (event) => this.click(event));
    svg.addEventListener("dblclick", () => this.flip(this.pressed ?? -1));
    svg.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.resize()).observe(svg);
  }

  resize() {
    const { width, height } = this.svg.getBoundingClientRect();
    const unit = SIZE / Math.max(1, Math.min(width, height));
    if (width === 0 || Math.abs(unit - this.unit) < 0.01) return;
    this.unit = unit;
    this.svg.style.setProperty("--unit", `${unit}px`);
    this.drawAxes();
    this.drawPoints();
    this.handles.draw();
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
    this.handles.draw();
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
    const inside = (t) => Math.min(Math.max(t, 0), SIZE);
    const u = inside(((event.clientX - box.left - (box.width - side) / 2) / side) * SIZE);
    const v = inside(((event.clientY - box.top - (box.height - side) / 2) / side) * SIZE);
    return this.fromPicture(u, v);
  }

  indexAt(event) {
    const index = event.target.closest?.("[data-index]")?.dataset.index;
    return index === undefined ? -1 : Number(index);
  }

  // -- mouse and touch: a point is added by a click, so that a finger that swipes scrolls the page

  down(event) {
    this.pressed = null; // what a click that follows is about: a point, or -1 for the line
    this.moved = false;
    if (this.handles.down(event)) this.pressed = -1;
    const index = this.indexAt(event);
    if (index < 0) return;
    this.select(index);
    this.pressed = index;
    this.drag = { index, moved: false };
    this.svg.setPointerCapture(event.pointerId);
  }

  dragged(event) {
    if (this.handles.dragged(event) || this.drag === null || this.scene.fixed) return;
    if (!this.drag.moved) this.scene.remember();
    this.drag.moved = true;
    this.scene.move(this.drag.index, ...this.at(event));
  }

  up() {
    this.handles.up();
    this.moved = this.drag?.moved ?? false;
    this.drag = null;
    if (this.moved) this.scene.changed();
  }

  click(event) {
    if (this.pressed !== null) {
      if (this.pressed >= 0 && !this.moved) this.onPoint?.(this.pressed);
      return;
    }
    if (!this.scene.fixed) this.add(...this.at(event), this.newLabel());
  }

  add(x, y, label) {
    const was = this.selected;
    this.selected = this.scene.points.length;
    if (this.scene.add(x, y, label) >= 0) return;
    this.selected = was;
    this.say("There are 500 points; the plane takes no more.");
  }

  flip(index = this.selected) {
    if (index >= 0 && !this.scene.fixed) this.scene.flip(index);
  }

  /** Mark a point; the marks stay the same elements, since a finger may lie on one. */
  select(index) {
    const was = this.selected;
    this.selected = index;
    for (const k of [was, index]) if (this.layers.points.children[k] !== undefined && this.scene.points[k] !== undefined) this.drawPoint(k);
  }

  // -- keyboard

  key(event) {
    if (this.handles.key(event)) return;
    const index = this.indexAt(event);
    const share = 1 / (event.shiftKey ? 10 : 50);
    const [across, up] = [this.window.wide * share, this.window.high * share];
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const act = {
      Delete: () => this.removeSelected(index), Backspace: () => this.removeSelected(index), f: () => this.flip(index),
      Enter: () => this.onPoint?.(index), " ": () => this.onPoint?.(index),
    };
    if (event.key in moves) {
      const [dx, dy] = moves[event.key];
      event.preventDefault();
      if (index < 0) this.moveCursor(dx * across, dy * up);
      else this.movePoint(index, dx * across, dy * up);
    } else if (index >= 0 && event.key in act && !event.ctrlKey) {
      event.preventDefault();
      act[event.key]();
    } else if (index < 0 && (event.key === "p" || event.key === "n") && !this.scene.fixed) {
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
    if (this.scene.fixed) return;
    this.scene.remember();
    const { x, y } = this.scene.points[index];
    const [u, v] = this.toPicture(x + dx, y + dy);
    this.selected = index;
    this.scene.move(index, ...this.fromPicture(u, v));
    this.layers.points.children[index]?.focus();
  }

  removeSelected(index = this.selected) {
    if (index < 0 || this.scene.fixed) return;
    this.selected = -1;
    this.scene.remove(index);
    this.svg.focus();
  }

  // -- drawing

  drawAxes() {
    const { window: w, unit } = this, parts = [];
    const ticks = (from, side) => {
      const step0 = 10 ** Math.floor(Math.log10(side / 3));
      const step = side / step0 > 12 ? 5 * step0 : side / step0 > 6 ? 2 * step0 : step0;
      const first = Math.ceil(from / step);
      return Array.from({ length: Math.floor((from + side) / step) - first + 1 }, (_, k) => (first + k) * step);
    };
    const label = (value) => String(Number(value.toPrecision(6))).replace("-", "−");
    for (const t of ticks(w.x, w.wide)) {
      const [u] = this.toPicture(t, 0);
      parts.push(shape("line", { x1: u, x2: u, y1: 0, y2: SIZE }, t === 0 ? "axis zero" : "axis"), words(label(t), u + 3 * unit, SIZE - 4 * unit));
    }
    for (const t of ticks(w.y, w.high)) {
      const [, v] = this.toPicture(0, t);
      parts.push(shape("line", { x1: 0, x2: SIZE, y1: v, y2: v }, t === 0 ? "axis zero" : "axis"), words(label(t), 3 * unit, v - 3 * unit));
    }
    const [across, up] = this.scene.axes;
    parts.push(words(across, SIZE - 6 * unit, SIZE - 20 * unit, "tick name", { "text-anchor": "end" }), words(up, 30 * unit, 16 * unit, "tick name"));
    this.layers.axes.replaceChildren(...parts);
  }

  /** One mark a point: a disc for plus, a square for minus; held-out points are hollow. Marks that are there are used again. */
  drawPoints() {
    const layer = this.layers.points, { points } = this.scene, old = [...layer.querySelectorAll(".point")];
    const marks = points.map((point, k) => {
      const mark = old[k] ?? shape("g", { tabindex: "0", role: "button", "data-index": k });
      this.put(mark, point, k);
      return mark;
    });
    for (const other of [...layer.children]) if (!marks.includes(other)) other.remove();
    layer.append(...marks.filter((mark) => mark.parentNode === null));
    if (this.cursor !== null) {
      const [u, v] = this.toPicture(this.cursor.x, this.cursor.y), r = 9 * this.unit;
      layer.append(shape("path", { d: `M${u - r} ${v}h${2 * r}M${u} ${v - r}v${2 * r}` }, "cursor"));
    }
    if (marks.length === 0) layer.append(words("click or tap to add points", SIZE / 2, SIZE / 2, "tick empty", { "text-anchor": "middle" }));
  }

  /** The parts stay the same elements while a finger or a button is down on them: else no click would follow. */
  put(mark, point, k) {
    const [u, v] = this.toPicture(point.x, point.y), plus = point.label > 0, r = MARK * this.unit, held = this.held.has(k);
    const kind = `${plus ? "plus-mark" : "minus-mark"}${k === this.selected ? " selected" : ""}${held ? " held" : ""}`;
    const numbered = this.scene.points.length <= NUMBERED;
    const tags = ["circle", plus ? "circle" : "rect", ...(numbered ? ["text"] : [])];
    if (tags.join() !== [...mark.children].map((own) => own.tagName).join()) mark.replaceChildren(...tags.map((tag) => shape(tag, {})));
    const [target, sign, number] = mark.children;
    const set = (part, attributes) => { for (const [name, value] of Object.entries(attributes)) part.setAttribute(name, value); };
    set(target, { cx: u, cy: v, r: TARGET * this.unit, class: "target" });
    set(sign, { ...(plus ? { cx: u, cy: v, r } : { x: u - r * 0.9, y: v - r * 0.9, width: 1.8 * r, height: 1.8 * r }), class: `sign ${kind}` });
    if (numbered) {
      set(number, { x: u, y: v + 4 * this.unit, "text-anchor": "middle", class: `number${held ? " held" : ""}` });
      number.textContent = k;
    }
    set(mark, { class: `point ${kind}`, "aria-label": `point ${k}, ${plus ? "plus" : "minus"}${held ? ", held out" : ""}, at ${point.x}, ${point.y}` });
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

  halfspaces(line) {
    return halfspaces(this.window, line);
  }

  /** Small text beside a point. */
  note(index, content) {
    const point = this.scene.points[index];
    if (point === undefined) return null;
    const [u, v] = this.toPicture(point.x, point.y);
    const right = u > SIZE - 90 * this.unit;
    return words(content, u + (right ? -11 : 11) * this.unit, v - 9 * this.unit, "tick note", right ? { "text-anchor": "end" } : {});
  }

  ring(index, className, reach = 14) {
    const point = this.scene.points[index];
    if (point === undefined) return null;
    const [cx, cy] = this.toPicture(point.x, point.y);
    return shape("circle", { cx, cy, r: reach * this.unit }, `ring ${className}`);
  }

  /** An arrow between two places of the plane. */
  arrow(from, to, className) {
    const [[x1, y1], [x2, y2]] = [this.toPicture(...from), this.toPicture(...to)];
    const long = Math.hypot(x2 - x1, y2 - y1), { unit } = this;
    if (long < unit) return null;
    const [du, dv] = [((x2 - x1) / long) * unit, ((y2 - y1) / long) * unit];
    const group = shape("g", {}, `arrow-part ${className}`);
    group.append(shape("line", { x1, y1, x2: x2 - 6 * du, y2: y2 - 6 * dv }, `arrow ${className}`), shape("path", { d: `M${x2} ${y2}l${-10 * du - 5 * dv} ${-10 * dv + 5 * du}l${10 * dv} ${-10 * du}z` }, `tip ${className}`));
    return group;
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
    this.layers.behind.replaceChildren(...behind.flat().filter(Boolean));
    this.layers.lines.replaceChildren(...lines.filter(Boolean));
    this.layers.marks.replaceChildren(...marks.filter(Boolean));
    this.handles.draw();
  }
}
