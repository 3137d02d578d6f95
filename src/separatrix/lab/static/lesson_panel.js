/* The panel of a lesson: its idea, its task, whether that is solved; exercises with solutions, and a sheet to print. */

import { isServed, NEEDS_PYTHON } from "./api.js";
import { exercisesOf, LESSONS } from "./lessons.js";
import { byId, element } from "./shapes.js";

const ON_SHEET = 4; // versions of each exercise

export class LessonPanel {
  lesson = null;
  #base = null;
  #seed = 1; // of the points
  #numbers = 1; // of the exercises
  #solved = new Set(JSON.parse(sessionStorage.getItem("solved") ?? "[]"));

  /** `begin` sets the page up for a lesson, `lab` gives what its check looks at. */
  constructor(begin, lab) {
    Object.assign(this, { begin, lab });
    this.buttons = LESSONS.map((lesson, k) => {
      const button = element("button", { type: "button", id: `lesson-${k}`, title: `Lesson ${k}: ${lesson.title}` });
      if (lesson.python && !isServed()) Object.assign(button, { disabled: true, title: NEEDS_PYTHON });
      button.addEventListener("click", () => this.open(k));
      return button;
    });
    byId("lessons").append(...this.buttons);
    const on = (id, act) => byId(id).addEventListener("click", act);
    on("lesson-next", () => this.open(LESSONS.indexOf(this.lesson) + 1));
    on("lesson-again", () => this.open(LESSONS.indexOf(this.lesson), this.#seed));
    on("lesson-anew", () => this.open(LESSONS.indexOf(this.lesson), this.#seed + 1));
    on("lesson-close", () => this.close());
    on("exercises-anew", () => { this.#numbers += 1; this.exercises(); });
    on("print", () => this.print());
    this.mark();
  }

  mark() {
    this.buttons.forEach((button, k) => {
      const done = this.#solved.has(k);
      button.textContent = `${done ? "✓" : k} ${LESSONS[k].short}`;
      button.setAttribute("aria-pressed", String(LESSONS[k] === this.lesson));
    });
  }

  /** Open lesson k, if there is one and the page can do it. */
  open(k, seed = 1) {
    if (LESSONS[k] === undefined || this.buttons[k].disabled) return;
    this.lesson = LESSONS[k];
    this.#base = null;
    this.#seed = seed;
    const next = LESSONS[k + 1];
    byId("lesson").hidden = false;
    document.documentElement.dataset.lesson = k;
    byId("lesson-title").textContent = `${k}. ${this.lesson.title}`;
    byId("lesson-text").textContent = this.lesson.text;
    byId("lesson-task").textContent = this.lesson.task;
    byId("lesson-next").disabled = next === undefined || (next.python === true && !isServed());
    byId("lesson-anew").hidden = this.lesson.anew !== true;
    this.begin(this.lesson, seed);
    this.lab().be.begin(this.lesson.be === true);
    this.exercises();
    this.mark();
    byId("lesson-title").focus({ preventScroll: true });
    byId("lesson").scrollIntoView({ block: "nearest" });
  }

  close() {
    this.lesson = null;
    byId("lesson").hidden = true;
    delete document.documentElement.dataset.lesson;
    this.mark();
  }

  exercises() {
    byId("exercises").replaceChildren(...exercisesOf(this.lesson, this.#numbers).map(({ question, answer }) =>
      element("li", {}, question, element("details", {}, element("summary", {}, "Solution"), answer))));
  }

  /** Both exercises in several versions on one page, and the key on another. */
  print() {
    const versions = Array.from({ length: ON_SHEET }, (_, k) => exercisesOf(this.lesson, this.#numbers * 100 + k));
    const list = (part) => versions.map((pair, k) => element("section", {}, element("h3", {}, `Version ${k + 1}`), element("ol", {}, ...pair.map((own) => element("li", {}, own[part])))));
    byId("sheet").replaceChildren(
      element("h2", {}, this.lesson.title), element("p", {}, this.lesson.text), ...list("question"),
      element("h2", { class: "key" }, `Key: ${this.lesson.title}`), ...list("answer"),
    );
    byId("sheet").hidden = false;
    window.print();
    byId("sheet").hidden = true;
  }

  /** Look at the page again: is the task solved? What the task compares with is kept once the first answers are there. */
  look() {
    if (this.lesson === null) return;
    const lab = this.lab();
    if (this.#base === null) {
      if (!(this.lesson.ready?.(lab) ?? true)) {
        this.say("Wait for the first answers.", false);
        return;
      }
      this.#base = this.lesson.keep?.(lab) ?? {};
    }
    const seen = { ...lab, base: this.#base };
    const missing = lab.learner.run === null ? "Deciding…" : this.lesson.check(seen);
    const done = missing === "", number = LESSONS.indexOf(this.lesson);
    if (done && !this.#solved.has(number)) {
      this.#solved.add(number);
      sessionStorage.setItem("solved", JSON.stringify([...this.#solved]));
      this.mark();
    }
    const { learned } = this.lesson;
    this.say(done ? (typeof learned === "function" ? learned(seen) : learned) : missing, done);
  }

  say(text, done) {
    const place = byId("lesson-status"), words = `${done ? "✓ Solved. " : "○ "}${text}`;
    place.className = done ? "holds" : "muted";
    if (place.textContent !== words) place.textContent = words;
  }
}
