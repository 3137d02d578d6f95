"""What is true of labelled data, proved in exact arithmetic apart from what is learned."""
