"""The mathematics in the book's notation: no input, no output, no printing."""
