"""A phone's instruction set on this machine: files run by an arm64 Python in QEMU's user-mode emulation."""
