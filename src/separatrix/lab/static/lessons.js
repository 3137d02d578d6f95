/* Eight lessons. Each sets up the page, explains in a few stops, and has a task: `check` answers with "" when it is
 * solved, and else says what is missing. The lab that it sees: scene, proof, learner, fits, study, base (what `keep` kept). */

import { shown, percent } from "./shapes.js";

const angle = ([a, b], [c, d]) => Math.abs((Math.atan2(a * d - b * c, a * c + b * d) * 180) / Math.PI);
const right = ({ learner }) => learner.wrong === 0;
const fitNamed = ({ fits }, name) => fits?.find((fit) => fit.name === name && fit.problem === null) ?? null;

export const LESSONS = [
  {
    short: "Bias", title: "Halfspaces and the bias", preset: "bias", panel: "perceptron", choices: { fit_intercept: false }, room: 2.2,
    stops: [
      ["plane-part", "The line w·x + b = 0 cuts the plane into two halfspaces. w stands perpendicular to it and points to the side that is predicted plus; b moves the line away from the origin."],
      ["panel-perceptron", "Here the bias is off: b = 0, and every line passes through the origin. Seen from there, minus points lie on both sides of a plus point. Below the plane stands the verdict: no such line separates the classes, proved by the ringed points."],
      ["panel-perceptron", "With a bias each row x becomes x̂ = (x, 1). A line anywhere in the plane is then a plane through the origin in one dimension more."],
    ],
    task: "Switch the bias on, and go to the end of the run, so that the perceptron separates all points.",
    check(lab) {
      if (!lab.scene.choices.fit_intercept) return "The bias is off.";
      if (!lab.learner.atEnd) return "Go to the end of the run.";
      return right(lab) ? "" : "Some points are still misclassified.";
    },
    learned: "A bias lets the line leave the origin; the same classes are now separable.",
  },
  {
    short: "Mistakes", title: "Learning from mistakes", preset: "six-points", panel: "perceptron",
    stops: [
      ["panel-perceptron", "The perceptron looks at one row at a time. If the row is on its correct side, nothing happens. If not, it adds y·x̂ to ŵ: the line turns towards getting that row right."],
      ["weights", "The small picture shows the first two weights: grey before the update, red the vector y·x̂ that was added, black after it."],
      ["plane-part", "The red ring marks the row that was looked at; the dashed line is the line before the update."],
    ],
    task: "Press “Next update” until no point is misclassified, and stop at the update that achieved it.",
    check(lab) {
      if (lab.learner.last === null) return "Make the first update.";
      if (!right(lab)) return `After ${lab.learner.mistakes} updates ${lab.learner.wrong} of ${lab.scene.points.length} points are misclassified or on the line.`;
      return lab.learner.last.mistake ? "" : "That is past the update: use the slider to go back to it.";
    },
    learned: ({ learner }) => `It learns from mistakes only: ${learner.mistakes} update${learner.mistakes === 1 ? " was" : "s were"} enough here.`,
  },
  {
    short: "Bound", title: "Margin and bound", preset: "six-points", panel: "proof",
    stops: [
      ["plane-part", "The green band is the widest gap between the classes: its half-width is the margin. The ringed points lie on its edges."],
      ["bound-part", "Novikoff (1962): from a start at zero the perceptron makes at most (R/γ)² mistakes, in any order of the rows. R is the length of the longest lifted row, γ the lifted margin. The bar fills as mistakes are made."],
      ["bound-part", "Each mistake moves ŵ by at least γ along the best direction, and makes |ŵ|² grow by at most R². So k·γ ≤ |ŵ| ≤ √k·R: the two curves squeeze ŵ until they meet."],
    ],
    task: "Make the gap narrower, by moving or adding points, until the bound allows at least 50 mistakes. Then go to the end of the run.",
    check(lab) {
      const { bound } = lab.proof ?? { bound: null };
      if (bound === null) return lab.proof === null ? "Deciding…" : "The classes are no longer separable: move the point back a little.";
      if (bound.most < 50) return `The bound is ${bound.most}: bring points of different classes closer.`;
      return lab.learner.atEnd ? "" : `The bound is ${shown(bound.most, 15)}. Go to the end of the run (under Perceptron).`;
    },
    learned: "A narrow gap allows many mistakes; the run often makes far fewer than the bound.",
  },
  {
    short: "XOR", title: "Why XOR fails", preset: "xor", panel: "features",
    stops: [
      ["plane-part", "Plus points on one diagonal, minus points on the other. The segment between the plus points crosses the segment between the minus points, so no line can have them on different sides. That is the proof, and the page drew it."],
      ["plane-part", "Any line misclassifies at least one of the four, and one is enough: the minimum number of mistakes is 1, also proved (see Proof)."],
      ["panel-features", "A line needs more room. With another column, a function of x and y, each point gets a third coordinate, and a plane can pass between the classes. In the picture the boundary bends."],
    ],
    task: "Tick a feature with which the four points become separable. Leave the points as they are.",
    check(lab) {
      if (JSON.stringify(lab.scene.points) !== lab.base.points) return "The points have changed: undo that.";
      if (!lab.scene.bent) return "Tick a feature.";
      return lab.proof?.verdict === "complete" ? "" : lab.proof === null ? "Deciding…" : "With this column no plane separates them: try another.";
    },
    learned: "The product xy is 1 on one point only: with it the classes are separable. x² and y² equal x and y here, and do not help.",
    keep: (lab) => ({ points: JSON.stringify(lab.scene.points) }),
  },
  {
    short: "Max. margin", title: "Uniqueness and maximum margin", preset: "bias", panel: "perceptron", atEnd: true,
    stops: [
      ["plane-part", "Where one line separates the classes, infinitely many do. The perceptron ends at any one of them: which one depends on the start, on the order of the rows and on every point it made a mistake on."],
      ["plane-part", "The green line in the middle of the band is the one with the largest margin. It is unique. The ringed points lie on the edges; some of them are enough to determine it."],
    ],
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
    keep: (lab) => ({ w: lab.learner.weights.w, gap: lab.proof.gap.line.w, lower: lab.proof.gap.lower }),
    ready: (lab) => lab.proof !== null && lab.proof.gap !== null && lab.learner.atEnd,
  },
  {
    short: "LDA, logistic", title: "LDA against logistic regression", preset: "gaussians", panel: "learners", learners: ["lda", "logistic"], room: 2.2,
    stops: [
      ["panel-learners", "LDA estimates the two class means and one common covariance; its line follows from them. Logistic regression models the odds as linear in x and y. On two Gaussian clouds with one covariance both assumptions hold, and both come to nearly the same line."],
      ["plane-part", "Every point moves LDA’s means and covariance, also one that is far on its correct side. In logistic regression a point pulls with the weight 1 − φ(y·s), the probability of its wrong class: far on the correct side that is nearly 0."],
    ],
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
    keep: (lab) => ({ count: lab.scene.points.length, lda: fitNamed(lab, "lda").w, logistic: fitNamed(lab, "logistic").w }),
    ready: (lab) => fitNamed(lab, "lda") !== null && fitNamed(lab, "logistic") !== null,
  },
  {
    short: "Overfitting", title: "Overfitting and validation", preset: "ring", panel: "validation", learners: ["least-squares"],
    stops: [
      ["panel-validation", "A boundary of higher degree bends more. On the points that it was fitted on, its error falls and falls: the curve marked ○."],
      ["panel-validation", "On points that it has not seen the error (●) falls first and rises again: the boundary follows the flipped labels. Five folds use every point once for judging."],
      ["panel-validation", "So choose the degree by the validation error, never by the training error."],
    ],
    task: "Set the degree to one with the lowest validation error over the five folds.",
    check(lab) {
      const folds = lab.study?.folds ?? null;
      if (folds === null) return "Fitting…";
      const best = Math.min(...folds.mean_validation.filter((v) => v !== null));
      const now = folds.mean_validation[lab.scene.features.degree - 1];
      return now <= best + 1e-12 ? "" : `At degree ${lab.scene.features.degree} the validation error is ${percent(now)}; another degree is lower.`;
    },
    learned: "The classes lie inside and outside a circle: degree 2 holds it, and more only fits the noise.",
  },
  {
    short: "Precision", title: "Precision and recall", preset: "imbalanced", panel: "validation", learners: ["ridge-logistic"],
    stops: [
      ["panel-validation", "Ten plus points among sixty minus points. Always predicting minus is 86% correct, and useless. So two questions are asked: how many of the plus points are found (recall), and how many of those said to be plus are plus (precision)?"],
      ["roc-part", "The score orders the points; the threshold says from where on they count as plus. A lower threshold finds more of them, and raises more false alarms. The ROC curve shows every threshold at once; the dot is the present one."],
    ],
    task: "Move the threshold so that nine of the ten plus points are found (recall 90%) with a precision of at least 50%.",
    check(lab) {
      if (lab.study === null) return "Fitting…";
      const { recall, precision } = lab.rates;
      const said = `Recall ${percent(recall)}, precision ${percent(precision)}`;
      if (recall < 0.9) return `${said}: lower the threshold.`;
      return precision >= 0.5 ? "" : `${said}: the threshold is too low.`;
    },
    learned: "The threshold trades precision for recall; the model stays the same.",
  },
];
