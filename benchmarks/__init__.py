"""Measurements of what this project claims, one module each; their results are committed in `results/` as JSON."""
