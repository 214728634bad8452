"""Measuring on phones: artifacts there, the report back."""
