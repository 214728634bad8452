"""Compression: a weight is compressed once, into a record that no target owns."""
