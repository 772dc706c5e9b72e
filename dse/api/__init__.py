"""The public face: functions that compose the packages, return objects and print nothing.

`dse` offers them by name.  May import everything but `dse.cli`, which calls them.
"""
