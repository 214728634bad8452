"""Objectives: what a run makes small, one file each."""
