"""The engines that run artifacts, one file each, behind one interface."""
