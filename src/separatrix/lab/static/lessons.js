/* The lessons: one idea each, what to do, and how the page knows that it was done: `check` answers with "" when it is solved, and
 * else says what is missing. The lab that it sees: scene, proof, learner, hand, be, fits, study, base (what `keep` kept). */

import { fewestMistakes } from "./fewest.js";
import { perceptron, random } from "./perceptron.js";
import { percent, shown } from "./shapes.js";

const angle = ([a, b], [c, d]) => Math.abs((Math.atan2(a * d - b * c, a * c + b * d) * 180) / Math.PI);
const right = ({ learner }) => learner.wrong === 0;
const fitNamed = ({ fits }, name) => fits?.find((fit) => fit.name === name && fit.problem === null) ?? null;
const plural = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;

const BY_HAND = { tie: "positive", fit_intercept: false };

/** Small whole points on both sides of a line through the origin, in an order that makes mistakes. */
export function drawn(seed) {
  const chance = random(seed), whole = (most) => Math.floor(chance() * (2 * most + 1)) - most;
  for (;;) {
    const normal = [whole(3), whole(3)], points = [];
    while (points.length < 6) {
      const [x, y] = [whole(4), whole(4)], s = normal[0] * x + normal[1] * y;
      if (s !== 0 && !points.some((p) => p.x === x && p.y === y)) points.push({ x, y, label: Math.sign(s) });
      else if (normal[0] === 0 && normal[1] === 0) break;
    }
    if (points.length < 6 || Math.abs(points.reduce((sum, p) => sum + p.label, 0)) > 2) continue;
    const updates = perceptron(points.map((p) => [p.x, p.y]), points.map(({ label }) => label), BY_HAND).mistake.filter(Boolean).length;
    if (updates >= 3 && updates <= 5) return points;
  }
}

/** Twelve points on both sides of a line, two of them with the other label. */
export function flipped(seed) {
  const chance = random(seed), whole = () => Math.floor(chance() * 13) - 6, points = [];
  while (points.length < 12) {
    const [x, y] = [whole(), whole()], s = x + 2 * y - 1;
    if (Math.abs(s) > 2 && !points.some((p) => p.x === x && p.y === y)) points.push({ x, y, label: Math.sign(s) });
    if (points.length < 12) continue;
    for (const k of [3, 8]) points[k].label *= -1;
    const rows = points.map((p) => [p.x, p.y]), { count } = fewestMistakes(rows, points.map(({ label }) => label), rows.map((row) => row.map(BigInt)), true);
    if (count !== 2) points.length = 0; // the flips must not be repaired by another line
  }
  return points;
}

export const LESSONS = [
  {
    short: "Your line", title: "A line by hand", points: flipped, anew: true, panel: "hand", hand: { w: [3, -1], b: 0 },
    text: "The line w·x + b = 0 cuts the plane into two half-planes. w stands perpendicular to it and points to the side that is predicted plus. The points of some labels were flipped, so that no line has all of them right.",
    task: "Drag the tip of w and the foot of the line until as few points are misclassified as for the best of all lines.",
    check(lab) {
      if (lab.proof === null) return "Deciding…";
      if (lab.hand.wrong === null) return "Open the panel “By hand”.";
      const least = lab.proof.mistakes?.lower ?? 0, now = lab.hand.wrong.length;
      return now <= least ? "" : `Your line misclassifies ${now}; your best so far is ${lab.hand.best}, the minimum is ${least}.`;
    },
    learned: ({ learner, proof }) => `No line has fewer than ${proof.mistakes?.lower ?? 0}. The perceptron never ends on such points: after ${plural(learner.run.row.length, "look")} it stopped at a limit.`,
    exercises: [({ a, b, c }) => ({ question: `w = (${a}, ${b}) and b = ${c}. On which side of the line lies (${c}, ${a})?`, answer: `s = ${a}·${c} + ${b}·${a} + ${c} = ${a * c + b * a + c}, so ${a * c + b * a + c >= 0 ? "plus (s ≥ 0)" : "minus (s < 0)"}.` }),
      ({ a, b }) => ({ question: `Show that w = (${a}, ${b}) is perpendicular to the line w·x + b = 0.`, answer: "Take two points p and q of the line. w·p = −b = w·q, so w·(p − q) = 0: w is perpendicular to every direction along the line." })],
  },
  {
    short: "Be the perceptron", title: "You are the perceptron", points: drawn, panel: "perceptron", choices: BY_HAND, be: true, anew: true,
    text: "The perceptron starts at ŵ = 0 and looks at the rows in order, over and over. If the score ŵ·x has the sign of the class (0 counts as plus), nothing happens. If not, it adds y·x to ŵ. It knows no R, no γ and no distribution, and it has no step size to choose.",
    task: "Do its work: click the row that is its next mistake, then type the new ŵ. When no row is a mistake, say so.",
    check(lab) {
      if (!lab.be.on) return "Tick “I am the perceptron”.";
      if (lab.learner.atEnd && lab.be.done > 0) return "";
      return lab.be.done === 0 ? "Click the first mistake." : `${plural(lab.be.done, "update")} made.`;
    },
    learned: ({ learner }) => `It learns from mistakes only: ${plural(learner.mistakes, "update")} ${learner.mistakes === 1 ? "was" : "were"} enough here.`,
    exercises: [({ a, b, c }) => ({ question: `ŵ = (${a}, ${b}), no bias. The row (${c}, ${a}) is a minus. Is it a mistake, and what is ŵ afterwards?`, answer: a * c + a * b >= 0 ? `s = ${a * c + a * b} ≥ 0 predicts plus: a mistake. ŵ = (${a - c}, ${b - a}).` : `s = ${a * c + a * b} < 0: no mistake, ŵ stays.` }),
      () => ({ question: "Does an update always correct the row that it was made on?", answer: "No. It raises y·s(x) by ‖x̂‖², which need not be enough: y·s = −10 and ‖x̂‖² = 4 leave −6. It never makes that row worse." })],
  },
  {
    short: "The squeeze", title: "Margin and bound", preset: "six-points", panel: "perceptron",
    text: "Novikoff (1962): each mistake moves ŵ by at least γ along the best direction, and lengthens |ŵ|² by at most R². So k·γ ≤ |ŵ| ≤ √k·R: two curves squeeze |ŵ|, and after (R/γ)² mistakes there is no room left.",
    task: "Make the gap between the classes narrower until the bound allows at least 50 mistakes, and go to the end of the run. Then take one assumption away, and see which inequality breaks.",
    check(lab) {
      const { narrow = false } = lab.base;
      if (!narrow) {
        const { bound } = lab.proof ?? { bound: null };
        if (bound === null) return lab.proof === null ? "Deciding…" : "The classes are no longer separable: move the point back a little.";
        if (bound.most < 50) return `The bound is ${bound.most}: bring points of different classes closer.`;
        if (!lab.learner.atEnd) return `The bound is ${shown(bound.most, 15)}. Press End.`;
        lab.base.narrow = true;
      }
      return lab.squeeze.broken ? "" : "The run ended within the bound. Now tick one of the switches below the curves.";
    },
    learned: "Start at zero gives √k·R its first value, R bounds every step, and γ > 0 makes k·γ rise. Without any one of them the proof fails.",
    exercises: [({ a, b }) => ({ question: `R = ${a + b} and γ = ${a}. How many mistakes at most, and how often must passes over ${b + 3} rows look at a row at most?`, answer: `At most ⌊(${a + b}/${a})²⌋ = ${Math.floor(((a + b) / a) ** 2)} mistakes, so at most ${Math.floor(((a + b) / a) ** 2)} passes with a mistake and one without: ${(Math.floor(((a + b) / a) ** 2) + 1) * (b + 3)} looks.` }),
      () => ({ question: "Where does the proof use that the row was a mistake?", answer: "In |ŵ + y x̂|² = |ŵ|² + 2y ŵ·x̂ + |x̂|²: at a mistake y ŵ·x̂ ≤ 0, so the middle term does not lengthen ŵ. That the row keeps the margin, y w*·x̂ ≥ γ, is used for the other inequality only." })],
    keep: () => ({ narrow: false }),
  },
  {
    short: "Bias", title: "Half-planes and the bias", preset: "bias", panel: "perceptron", choices: { fit_intercept: false }, room: 2.2,
    text: "Here the bias is off: b = 0, and every line passes through the origin. Seen from there, minus points lie on both sides of a plus point: no such line separates the classes, proved by the ringed points. With a bias each row x becomes x̂ = (x, 1).",
    task: "Switch the bias on, and go to the end of the run, so that the perceptron separates all points.",
    check(lab) {
      if (!lab.scene.choices.fit_intercept) return "The bias is off.";
      if (!lab.learner.atEnd) return "Go to the end of the run.";
      return right(lab) ? "" : "Some points are still misclassified.";
    },
    learned: "A bias lets the line leave the origin; the same classes are now separable.",
    exercises: [({ a, b }) => ({ question: `On the line, ${a} is a minus and ${a + b} a plus. Show that no w without a bias has both right.`, answer: `w·${a} and w·${a + b} have the same sign for every w, since ${a} and ${a + b} are both positive.` }),
      ({ a, b }) => ({ question: `Give a w and b that do (${a} minus, ${a + b} plus).`, answer: `w = 1, b = −${a + b / 2}: the scores are −${b / 2} and ${b / 2}. A b far below 0 favours minus: only rows with w·x ≥ −b are predicted plus.` })],
  },
  {
    short: "XOR", title: "Why XOR fails", preset: "xor", panel: "features",
    text: "Plus points on one diagonal, minus points on the other. The segment between the plus points crosses the segment between the minus points, so no line can have them on different sides: that is the proof, and the page drew it. A line needs more room: with one more column each point gets a third coordinate.",
    task: "Tick a feature with which the four points become separable. Leave the points as they are.",
    check(lab) {
      if (JSON.stringify(lab.scene.points) !== lab.base.points) return "The points have changed: undo that.";
      if (!lab.scene.bent) return "Tick a feature.";
      return lab.proof?.verdict === "complete" ? "" : lab.proof === null ? "Deciding…" : "With this column no plane separates them: try another.";
    },
    learned: "The product xy is 1 on one point only: with it the classes are separable. x² and y² equal x and y here, and do not help.",
    exercises: [() => ({ question: "Prove without a picture that no line separates XOR.", answer: "Suppose s(0,0) < 0, s(1,1) < 0, s(1,0) ≥ 0, s(0,1) ≥ 0. But s(0,0) + s(1,1) = w₁ + w₂ + 2b = s(1,0) + s(0,1): one side is below 0, the other is not." }),
      () => ({ question: "Give a plane in (x, y, xy) that separates XOR.", answer: "s = x + y − 2xy − 1/2: −1/2 at (0,0) and (1,1), +1/2 at (1,0) and (0,1)." })],
    keep: (lab) => ({ points: JSON.stringify(lab.scene.points) }),
  },
  {
    short: "Max. margin", title: "Uniqueness and maximum margin", preset: "bias", panel: "perceptron", atEnd: true,
    text: "Where one line separates the classes, infinitely many do. The perceptron ends at any one of them: which one depends on the start, on the order of the rows and on every point it made a mistake on. The green line in the middle of the band has the largest margin, and is unique. The ringed points lie on its edges; some of them are enough to determine it.",
    task: "Move a point so that the perceptron’s line turns by at least 1°, while the green line stays exactly where it is.",
    check(lab) {
      const { gap } = lab.proof ?? { gap: null };
      if (gap === null || !lab.learner.atEnd) return lab.proof === null ? "Deciding…" : "Go to the end of the run; the classes must stay separable.";
      const turned = angle(lab.learner.weights.w, lab.base.w);
      const still = angle(gap.line.w, lab.base.gap) < 1e-6 && Math.abs(gap.lower - lab.base.lower) <= 1e-9 * gap.lower;
      if (!still) return "The green line moved: leave the points on the edges alone, and keep out of the band. Undo helps.";
      return turned >= 1 ? "" : `The perceptron’s line has turned by ${shown(turned, 2)}°: try another point.`;
    },
    learned: "A point off the edges can move without moving the maximum-margin line; the perceptron’s line depends on its whole history.",
    exercises: [({ a, b }) => ({ question: `The only plus lies at (0, ${a}), the only minus at (${b}, 0). What is the maximum margin?`, answer: `Half their distance: √(${a}² + ${b}²)/2 = ${shown(Math.hypot(a, b) / 2, 4)}.` }),
      () => ({ question: "Why is the maximum-margin line unique?", answer: "Its normal is the shortest vector between the two convex hulls. If there were two shortest ones, their mean would also join the hulls and be shorter; and the line lies in the middle of it." })],
    keep: (lab) => ({ w: lab.learner.weights.w, gap: lab.proof.gap.line.w, lower: lab.proof.gap.lower }),
    ready: (lab) => lab.proof !== null && lab.proof.gap !== null && lab.learner.atEnd,
  },
  {
    short: "LDA, logistic", title: "LDA against logistic regression", preset: "gaussians", panel: "learners", learners: ["lda", "logistic"], room: 2.2,
    text: "LDA estimates the two class means and one common covariance; its line follows from them, and every point moves them. Logistic regression models the odds as linear in x and y; there a point pulls with the weight 1 − φ(y·s), the probability of its wrong class: far on the correct side that is nearly 0. On two Gaussian clouds with one covariance both come to nearly the same line.",
    task: "Add at most five points so that LDA’s line turns by at least 10° and that of logistic regression by less than 3°.",
    check(lab) {
      const [lda, logistic] = ["lda", "logistic"].map((name) => fitNamed(lab, name));
      if (lda === null || logistic === null) return lab.fits === null ? "Fitting…" : "Both LDA and logistic regression must be among the learners.";
      const added = lab.scene.points.length - lab.base.count;
      const [a, b] = [angle(lda.w, lab.base.lda), angle(logistic.w, lab.base.logistic)];
      const said = `LDA turned by ${shown(a, 2)}°, logistic regression by ${shown(b, 2)}°`;
      if (added > 5) return `You have added ${added} points: undo some. ${said}.`;
      return a >= 10 && b < 3 ? "" : `${said}. Try points far away on their correct side.`;
    },
    learned(lab) {
      const logistic = fitNamed(lab, "logistic");
      const pull = Math.max(...lab.scene.points.slice(lab.base.count).map(({ x, y, label }) => 1 / (1 + Math.exp(label * (logistic.w[0] * x + logistic.w[1] * y + logistic.b)))));
      return `The points that you added pull with at most 1 − φ(y·s) = ${shown(pull, 2)} in logistic regression; in LDA’s means and covariance each counts as much as any other point.`;
    },
    exercises: [({ a }) => ({ question: `A plus has the score s = ${a}. With which weight does it pull in the gradient of logistic regression?`, answer: `1 − φ(${a}) = ${shown(1 / (1 + Math.exp(a)), 3)}, along its own x.` }),
      () => ({ question: "Show that φ′ = φ(1 − φ), and where the sigmoid is steepest.", answer: "φ = 1/(1 + e^−z), so φ′ = e^−z/(1 + e^−z)² = φ · e^−z/(1 + e^−z) = φ(1 − φ). p(1 − p) is largest at p = 1/2, so at z = 0, where it is 1/4." })],
    keep: (lab) => ({ count: lab.scene.points.length, lda: fitNamed(lab, "lda").w, logistic: fitNamed(lab, "logistic").w }),
    ready: (lab) => fitNamed(lab, "lda") !== null && fitNamed(lab, "logistic") !== null,
  },
  {
    short: "Overfitting", title: "Overfitting and validation", preset: "ring", panel: "validation", learners: ["least-squares"], python: true,
    text: "A boundary of higher degree bends more. On the points that it was fitted on, its error falls and falls: the curve marked ○. On points that it has not seen the error (●) falls first and rises again: the boundary follows the flipped labels. So choose the degree by the validation error, never by the training error.",
    task: "Set the degree to one with the lowest validation error over the five folds.",
    check(lab) {
      const folds = lab.study?.folds ?? null;
      if (folds === null) return "Fitting…";
      const best = Math.min(...folds.mean_validation.filter((v) => v !== null));
      const now = folds.mean_validation[lab.scene.features.degree - 1];
      return now <= best + 1e-12 ? "" : `At degree ${lab.scene.features.degree} the validation error is ${percent(now)}; another degree is lower.`;
    },
    learned: "The classes lie inside and outside a circle: degree 2 holds it, and more only fits the noise.",
    exercises: [({ a, b }) => ({ question: `${a * b * 5} rows, five folds. On how many rows is each fit made, and how often is each row judged?`, answer: `On ${a * b * 4} rows; each row is judged once, by the fit that has not seen it.` }),
      () => ({ question: "Why may the validation error of the chosen degree be optimistic?", answer: "It is the least of several noisy numbers. A test set that was used for no choice, once, is not optimistic." })],
  },
  {
    short: "Precision", title: "Precision and recall", preset: "imbalanced", panel: "validation", learners: ["ridge-logistic"], python: true,
    text: "Ten plus points among sixty minus points. Always predicting minus is 86% correct, and useless. How many of the plus points are found (recall), and how many of those predicted plus are plus (precision)? The score orders the points; the threshold says from where on they count as plus.",
    task: "Move the threshold so that nine of the ten plus points are found (recall 90%) with a precision of at least 50%.",
    check(lab) {
      if (lab.study === null) return "Fitting…";
      const { recall, precision } = lab.rates;
      const said = `Recall ${percent(recall)}, precision ${percent(precision)}`;
      if (recall < 0.9) return `${said}: lower the threshold.`;
      return precision >= 0.5 ? "" : `${said}: the threshold is too low.`;
    },
    learned: "The threshold trades precision for recall; the model stays the same.",
    exercises: [({ a, b, c }) => ({ question: `TP ${a + 4}, FN ${b}, FP ${c}, TN 40. Precision, recall and F₁?`, answer: `Precision ${a + 4}/${a + 4 + c} = ${percent((a + 4) / (a + 4 + c))}, recall ${a + 4}/${a + 4 + b} = ${percent((a + 4) / (a + 4 + b))}, F₁ = ${percent((2 * (a + 4)) / (2 * (a + 4) + b + c))}.` }),
      () => ({ question: "Can a lower threshold lower the recall?", answer: "No: every row that was predicted plus still is. Precision may go either way." })],
  },
];

/** The exercises of a lesson with numbers of their own. */
export function exercisesOf(lesson, seed) {
  const chance = random(seed), small = () => 2 + Math.floor(chance() * 6);
  return lesson.exercises.map((make) => make({ a: small(), b: small(), c: small() }));
}
