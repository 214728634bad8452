"""Exporters: each target in a folder of its own, the graph they trace, and the checks on what they wrote."""
