"""The main job: a table in, five answers out, as a screen, as JSON, and as a report that explains itself."""
