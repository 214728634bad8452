"""The schemes: one file each, a name for how weights are kept."""
