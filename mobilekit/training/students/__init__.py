"""Students made from a teacher, one file each."""
