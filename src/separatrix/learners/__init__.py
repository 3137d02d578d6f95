"""The estimators: scikit-learn's protocol around the mathematics."""
