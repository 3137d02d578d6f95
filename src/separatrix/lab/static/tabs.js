/* Tabs: one panel is shown at a time; arrow keys go from tab to tab. */

export class Tabs extends EventTarget {
  constructor(list) {
    super();
    this.tabs = [...list.querySelectorAll("[role=tab]")];
    for (const tab of this.tabs) tab.addEventListener("click", () => this.show(tab.dataset.panel));
    list.addEventListener("keydown", (event) => {
      const at = this.tabs.indexOf(document.activeElement);
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: this.tabs.length - 1 }[event.key];
      if (at < 0 || to === undefined) return;
      event.preventDefault();
      const next = this.tabs[(to + this.tabs.length) % this.tabs.length];
      this.show(next.dataset.panel);
      next.focus();
    });
    this.show(this.tabs[0].dataset.panel);
  }

  show(name) {
    this.name = name;
    for (const tab of this.tabs) {
      const own = tab.dataset.panel === name;
      tab.setAttribute("aria-selected", String(own));
      tab.tabIndex = own ? 0 : -1;
      document.getElementById(`panel-${tab.dataset.panel}`).hidden = !own;
    }
    this.dispatchEvent(new Event("show"));
  }
}
