"""How it does on rows that were not used for training, said with intervals."""
