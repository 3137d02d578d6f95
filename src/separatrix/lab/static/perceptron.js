/* The perceptron in all its versions, look by look. Rows, weights and scores are integers over one power of two, so that no
 * score is rounded; rows scaled to length 1 are the exception, since their lengths are roots. */

import { dot, integers, quotient } from "./exact.js";

export const DEFAULTS = { start: "zeros", order: "cyclic", tie: "mistake", stop: "pass", normalize_rows: false, fit_intercept: true, max_iter: 100, random_state: 0 };
export const RECIPES = {
  default: {},
  online: { tie: "positive", fit_intercept: false, max_iter: 1 },
  repeated: { tie: "positive", fit_intercept: false },
  batch: { tie: "positive", fit_intercept: false, stop: "streak" },
  restart: { order: "restart" },
  normalised: { tie: "positive", fit_intercept: false, normalize_rows: true },
  rosenblatt: { start: "random" },
};
export const CHOICES = { start: ["zeros", "ones", "random"], order: ["cyclic", "restart", "shuffle", "any", "worst"], tie: ["mistake", "positive"], stop: ["pass", "streak"] };
const MOST_LOOKS = 20000;

/** Numbers in [0, 1) from a seed (mulberry32). */
export function random(seed) {
  let state = (seed + 0x9e3779b9) | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

function startOf({ start, random_state: seed }, width) {
  if (Array.isArray(start)) return start;
  if (start !== "random") return new Array(width).fill(start === "ones" ? 1 : 0);
  const chance = random(seed);
  return Array.from({ length: width }, () => Math.sqrt(-2 * Math.log(1 - chance())) * Math.cos(2 * Math.PI * chance()));
}

/** Arithmetic on lifted rows: exact, or in doubles where rows are scaled. */
function arithmetic(lifted, start, scaled) {
  if (!scaled) {
    const { shift, vectors } = integers([...lifted, start]);
    const unit = 1n << BigInt(shift), square = unit * unit;
    return {
      rows: vectors.slice(0, -1), start: vectors.at(-1), zero: 0n, score: dot,
      plus: (w, row, sign) => w.map((v, j) => (sign > 0 ? v + row[j] : v - row[j])),
      weights: (w) => w.map((v) => quotient(v, unit)), shown: (s) => quotient(s, square), signed: (s, sign) => (sign > 0 ? s : -s),
    };
  }
  const long = (row) => Math.hypot(...row) || 1;
  return {
    rows: lifted, start, zero: 0, score: (w, row) => row.reduce((sum, v, j) => sum + v * w[j], 0),
    plus: (w, row, sign) => { const step = sign / long(row); return w.map((v, j) => v + step * row[j]); },
    weights: (w) => w, shown: (s, row) => s / long(row), signed: (s, sign) => s * sign,
  };
}

/** The looks in order: row, pass, score before it, whether it was a mistake, and the weights after it; w[0] is the start. */
export function perceptron(rows, labels, choices) {
  const { order, tie, stop, normalize_rows: scaled, fit_intercept: bias, max_iter: most, random_state: seed } = { ...DEFAULTS, ...choices };
  const n = rows.length, lifted = bias ? rows.map((row) => [...row, 1]) : rows;
  const start = startOf({ start: choices.start ?? DEFAULTS.start, random_state: seed }, lifted[0].length);
  const math = arithmetic(lifted, start, scaled), chance = random(seed + 1);
  const run = { row: [], epoch: [], score: [], mistake: [], lifted: [math.weights(math.start)], ended: "", clean: false };
  let w = math.start, streak = 0;
  const isMistake = (s, sign) => { const m = math.signed(s, sign); return m < math.zero || (m === math.zero && (tie === "mistake" || sign < 0)); };
  const look = (i, epoch) => {
    const s = math.score(w, math.rows[i]), wrong = isMistake(s, labels[i]);
    if (wrong) w = math.plus(w, math.rows[i], labels[i]);
    streak = wrong ? 0 : streak + 1;
    run.row.push(i);
    run.epoch.push(epoch);
    run.score.push(math.shown(s, math.rows[i]));
    run.mistake.push(wrong);
    run.lifted.push(wrong ? math.weights(w) : run.lifted.at(-1));
    return wrong;
  };
  const full = () => run.row.length >= MOST_LOOKS;
  let epoch = 0;
  if (order === "restart") {
    for (let at = 0; at < n && !full(); at += 1) if (look(at, 1)) at = -1;
    run.clean = !full();
  } else if (order === "any" || order === "worst") {
    for (;;) {
      const margins = math.rows.map((row, i) => math.score(w, row)), wrong = margins.map((s, i) => (isMistake(s, labels[i]) ? i : -1)).filter((i) => i >= 0);
      run.clean = wrong.length === 0;
      if (run.clean || full()) break;
      const worst = wrong.reduce((a, b) => (math.signed(margins[b], labels[b]) < math.signed(margins[a], labels[a]) ? b : a));
      look(order === "worst" ? worst : wrong[Math.floor(chance() * wrong.length)], 1);
    }
  } else {
    while (epoch < most && !run.clean && !full()) {
      epoch += 1;
      const sequence = Array.from({ length: n }, (_, i) => i);
      if (order === "shuffle") for (let k = n - 1; k > 0; k -= 1) { const j = Math.floor(chance() * (k + 1)); [sequence[k], sequence[j]] = [sequence[j], sequence[k]]; }
      let mistakes = 0;
      for (const i of sequence) {
        if (look(i, epoch)) mistakes += 1;
        if ((stop === "streak" && streak >= n) || full()) break;
      }
      run.clean = stop === "streak" ? streak >= n : mistakes === 0 && !full();
    }
  }
  run.ended = ending(run, { passes: epoch, most, full: full(), order });
  return run;
}

function ending(run, { passes, most, full, order }) {
  const updates = run.mistake.filter(Boolean).length, looks = run.row.length;
  const counted = `${updates} update${updates === 1 ? "" : "s"} in ${looks} look${looks === 1 ? "" : "s"}`;
  if (run.clean) return `${counted}; converged: the last ${order === "cyclic" || order === "shuffle" ? "pass" : "look over all rows"} had no mistake`;
  if (full) return `${counted}; stopped after ${looks} looks`;
  return passes < most ? counted : `${counted}; stopped after ${most} pass${most === 1 ? "" : "es"}`;
}
