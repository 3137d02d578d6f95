"""The report: one self-contained HTML page, made of audit.json and nothing else."""
