"""Artifacts packed for download: weights Huffman coded, the rest deflated, byte for byte back (docs/pack-format.md)."""
