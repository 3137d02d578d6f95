"""What is true of labelled data, proved in exact arithmetic; independent of every model."""
