"""Core ML packages without Core ML: read an `.mlpackage` and evaluate its program (MIL) in numpy."""
