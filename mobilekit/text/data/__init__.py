"""Labelled and plain text to train and measure on: readers of files, of hub data sets, and the built-in data."""
