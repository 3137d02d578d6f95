/* Small things that every picture and panel uses: SVG elements, HTML elements, numbers as they are shown. */

const SVG = "http://www.w3.org/2000/svg";

export const byId = (id) => document.getElementById(id);

export const shown = (value, digits = 4) =>
  value === null ? "–" : (Math.abs(value) >= 2 ** 53 ? value.toExponential(digits - 1) : String(Number(value.toPrecision(digits)))).replaceAll("-", "−");

export const percent = (share) => (share === null ? "–" : `${Number((100 * share).toFixed(1))}%`);

export function shape(name, attributes, className) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (className !== undefined) made.setAttribute("class", className);
  return made;
}

export function words(content, x, y, className = "tick", attributes = {}) {
  const made = shape("text", { x, y, ...attributes }, className);
  made.textContent = content;
  return made;
}

/** An HTML element with its text, attributes and children; text is never markup. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export const path = (places) => places.map(([u, v], k) => `${k ? "L" : "M"}${u.toFixed(1)} ${v.toFixed(1)}`).join("");

/** A picture with axes from 0: `place` puts a pair of values into the SVG. */
export function chart(svg, { left = 36, right = 350, top = 10, bottom = 175, x, y, ticks = [] }, ...parts) {
  svg.replaceChildren(
    shape("path", { d: `M${left} ${top}V${bottom}H${right}` }, "curve axis"),
    words(x, right, bottom + 28, "tick", { "text-anchor": "end" }),
    words(y, left + 4, top + 4),
    ...ticks, ...parts.filter(Boolean),
  );
}

export function convexHull(places) {
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
