"""From tables to numbers, and maps of rows into other spaces."""
