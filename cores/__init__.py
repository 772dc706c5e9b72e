"""The built-in accelerator cores, registered through the same entry points as anyone's."""
