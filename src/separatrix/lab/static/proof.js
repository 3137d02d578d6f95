/* The panel of the proof: the verdict and the facts in words, and what the checker says of the certificates. */

import { factsOf, verdictOf, withCheck } from "./sentences.js";
import { byId, element } from "./shapes.js";

export class ProofPanel {
  proof = null;

  constructor(scene) {
    this.scene = scene;
    byId("download").addEventListener("click", () => this.download());
  }

  set(proof, why = "") {
    this.proof = proof === null ? null : withCheck(proof);
    const bias = this.scene.choices.fit_intercept;
    const { kind, mark, text } = proof === null ? { kind: "", mark: "", text: why } : verdictOf(this.proof, bias);
    byId("verdict").className = `verdict ${kind}`;
    byId("verdict").textContent = text;
    byId("verdict").dataset.mark = mark;
    byId("facts").replaceChildren(...(proof === null ? [] : factsOf(this.proof, bias)).map((fact) => element("li", {}, fact)));
    byId("checked").replaceChildren(...this.checks());
    byId("download").disabled = proof === null;
  }

  checks() {
    if (this.proof === null) return [];
    const { check: { proved, lines }, certificates } = this.proof;
    const many = `${certificates.length} certificate${certificates.length === 1 ? "" : "s"}`;
    return [
      element("p", { class: `verdict ${proved ? "holds" : "fails"}` }, proved ? `✓ ${many} checked in this page, in exact arithmetic.` : "✗ Not proved: this is a bug."),
      element("ul", {}, ...lines.map((line) => element("li", {}, line))),
    ];
  }

  download() {
    this.proof.certificates.forEach((text, k) => save(`certificate-${k + 1}.json`, text));
    save("points.csv", this.proof.table);
  }
}

export function save(name, content, type = "text/plain") {
  const blob = content instanceof Blob ? content : new Blob([content], { type });
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
