"""The perceptron and its family: learners that move on mistakes."""
