"""The tools: each file registers the peers that are made with one."""
