"""Recipes: ways for a student to learn from a teacher, one file each."""
