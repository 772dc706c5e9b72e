"""What was measured, on disk before it counts: an SQLite store in the folder of a run.

A measurement is kept under what was measured and by what, not under the study that requested it,
so a study that is changed uses again what still holds.  A row has a checksum of its own.

One program measures for a run: the place of a run is locked while it is written.  So designs are
not claimed before they are measured.  Any number of processes may read meanwhile.

May import `dse.contract`, `dse.errors` and `dse.files`.
"""
