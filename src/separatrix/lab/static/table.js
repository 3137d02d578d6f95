/* The user's table: which two of its columns, or directions, the plane shows. */

import { byId, element } from "./shapes.js";

export class TableForm {
  constructor(table, show) {
    this.selects = [];
    if (table === null) return;
    const place = byId("table-columns");
    place.hidden = false;
    this.selects = ["Across", "Up"].map((title, k) => {
      const select = element("select", { id: `table-${k === 0 ? "x" : "y"}` });
      select.append(...table.names.map((name) => new Option(name, name)));
      select.addEventListener("change", () => {
        const chosen = this.selects.map(({ value }) => table.names.indexOf(value));
        const [xs, ys] = chosen.map((j) => table.columns[j]);
        byId("preset").value = "table";
        show({ points: table.labels.map((label, i) => ({ x: xs[i], y: ys[i], label })), axes: chosen.map((j) => table.names[j]), about: table.about });
      });
      place.append(element("label", {}, `${title} `, select));
      return select;
    });
  }

  fill(axes) {
    this.selects.forEach((select, k) => { select.value = axes[k]; });
  }
}
