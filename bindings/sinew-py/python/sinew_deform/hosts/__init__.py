"""Adapters for other programs. They read the rig of the program, and give back deformed points."""
