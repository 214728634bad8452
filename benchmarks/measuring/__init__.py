"""Timing and memory of artifacts and peers: each in a process of its own, measured in turn."""
