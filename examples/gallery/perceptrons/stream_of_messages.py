"""
Learning from a stream
======================

Rows arrive one at a time as dicts of features: predict, reveal, update. No table is ever built, and words that were never
seen get a weight when they appear.
"""

import matplotlib.pyplot as plt
import numpy as np

import separatrix as sx

rng = np.random.default_rng(0)
words = {"spam": ["offer", "winner", "link", "free", "now"], "ham": ["meeting", "lunch", "report", "thanks", "now"]}
model, wrong = sx.AveragedPerceptron(), []
for turn in range(400):
    label = ("spam", "ham")[rng.integers(2)]
    other = "ham" if label == "spam" else "spam"
    message = dict.fromkeys([*rng.choice(words[label], 3), rng.choice(words[other])], 1)
    if turn > 1:
        wrong.append(model.predict_one(message) != label)
    model.learn_one(message, label)
print(f"{np.mean(wrong[:100]):.1%} wrong in the first hundred, {np.mean(wrong[-100:]):.1%} in the last")

# %%

fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.plot(np.cumsum(wrong))
drawn = ax.set(xlabel="messages", ylabel="mistakes so far")
