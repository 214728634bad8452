"""Packs for tests: built by hand, decoded by a plain decoder, and the committed ones in tests/vectors/pack/."""
