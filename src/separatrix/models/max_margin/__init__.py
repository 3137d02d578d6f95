"""The maximum-margin hyperplane and its soft version."""
