"""Features: maps of rows into other spaces."""
