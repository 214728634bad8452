"""The families: one file each, a map between a checkpoint's layout and ours."""
