"""Streams: rows that are predicted, scored and then learned, from sources that may be interrupted at any moment."""
