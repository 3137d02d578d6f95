/* The panel of a lesson: its stops, its task, and whether that is solved. */

import { LESSONS } from "./lessons.js";
import { byId, element } from "./shapes.js";

export class LessonPanel {
  lesson = null;
  #stop = 0;
  #base = null;
  #solved = new Set(JSON.parse(sessionStorage.getItem("solved") ?? "[]"));

  /** `begin` sets the page up for a lesson, `lab` gives what its check looks at. */
  constructor(begin, lab) {
    Object.assign(this, { begin, lab });
    this.buttons = LESSONS.map((lesson, k) => {
      const made = element("button", { type: "button", id: `lesson-${k + 1}`, "aria-label": `Lesson ${k + 1}: ${lesson.title}` });
      made.addEventListener("click", () => this.open(k));
      return made;
    });
    byId("lessons").append(...this.buttons);
    const on = (id, act) => byId(id).addEventListener("click", act);
    on("lesson-back", () => this.go(this.#stop - 1));
    on("lesson-next", () => this.go(this.#stop + 1));
    on("lesson-again", () => this.open(LESSONS.indexOf(this.lesson)));
    on("lesson-close", () => this.close());
    this.mark();
  }

  mark() {
    this.buttons.forEach((button, k) => {
      const done = this.#solved.has(k);
      button.textContent = `${done ? "✓" : k + 1} ${LESSONS[k].short}`;
      button.setAttribute("aria-pressed", String(LESSONS[k] === this.lesson));
    });
  }

  open(k) {
    this.lesson = LESSONS[k];
    this.#base = null;
    byId("lesson").hidden = false;
    byId("lesson-title").textContent = `${k + 1}. ${this.lesson.title}`;
    byId("lesson-task").textContent = this.lesson.task;
    this.begin(this.lesson);
    this.go(0);
    this.mark();
    byId("lesson-title").focus({ preventScroll: true });
    byId("lesson").scrollIntoView({ block: "nearest" });
  }

  close() {
    this.lesson = null;
    byId("lesson").hidden = true;
    this.outline(null);
    this.mark();
  }

  go(stop) {
    const { stops } = this.lesson;
    this.#stop = Math.max(0, Math.min(stop, stops.length - 1));
    const [place, text] = stops[this.#stop];
    byId("lesson-text").textContent = text;
    byId("lesson-stop").textContent = `${this.#stop + 1} of ${stops.length}`;
    byId("lesson-back").disabled = this.#stop === 0;
    byId("lesson-next").disabled = this.#stop === stops.length - 1;
    this.outline(place);
  }

  outline(id) {
    for (const own of document.querySelectorAll(".toured")) own.classList.remove("toured");
    if (id !== null) byId(id)?.classList.add("toured");
  }

  /** Look at the page again: is the task solved? What the task compares with is kept once the first answers are there. */
  look() {
    if (this.lesson === null) return;
    const lab = this.lab();
    if (this.#base === null) {
      if (!(this.lesson.ready?.(lab) ?? true)) return this.say("Wait for the first answers.", false);
      this.#base = this.lesson.keep?.(lab) ?? {};
    }
    const missing = lab.learner.run === null ? "Deciding…" : this.lesson.check({ ...lab, base: this.#base });
    const done = missing === "";
    if (done && !this.#solved.has(LESSONS.indexOf(this.lesson))) {
      this.#solved.add(LESSONS.indexOf(this.lesson));
      sessionStorage.setItem("solved", JSON.stringify([...this.#solved]));
      this.mark();
    }
    const { learned } = this.lesson;
    return this.say(done ? (typeof learned === "function" ? learned({ ...lab, base: this.#base }) : learned) : missing, done);
  }

  say(text, done) {
    const place = byId("lesson-status"), own = `${done ? "✓ Solved. " : "○ "}${text}`;
    place.className = done ? "holds" : "muted";
    if (place.textContent !== own) place.textContent = own;
  }
}
