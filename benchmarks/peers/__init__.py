"""Peers: the same weights through other tools' usual routes. `tools` has a file each, and a registry finds them."""
