"""MIL's operations in numpy, by theme. Each takes float32 for any float type; the caller rounds the result."""
