"""How well a model predicts rows that were not used for training, with intervals."""
