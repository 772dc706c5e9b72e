"""Which kind of file system a folder is on."""

from __future__ import annotations

import os
import re
from pathlib import Path

MOUNTS = Path("/proc/self/mountinfo")

NETWORK = frozenset(
    [
        *("9p", "afs", "beegfs", "ceph", "cifs", "coda", "glusterfs", "gpfs", "lustre", "ncpfs"),
        *("nfs", "nfs4", "orangefs", "panfs", "pvfs2", "smb3", "smbfs", "virtiofs"),
        *("fuse.ceph", "fuse.gcsfuse", "fuse.glusterfs", "fuse.juicefs", "fuse.rclone"),
        *("fuse.s3fs", "fuse.sshfs"),
    ]
)
"""Types of file systems that several machines can write to at a time, as Linux calls them."""


def network_type(folder: Path, mounts: Path = MOUNTS) -> str:
    """Return the type of the network file system that a folder is on, empty where it is on none.

    `mounts` lists what is mounted, as proc(5) says of ``/proc/pid/mountinfo``; where there is no
    such file (no Linux) nothing is known, and the text is empty.
    """
    try:
        lines = mounts.read_text(errors="surrogateescape").splitlines()
    except OSError:
        return ""
    place, found, longest = Path(os.path.realpath(folder)), "", -1
    for line in lines:
        fields, _, tail = line.partition(" - ")
        at = Path(_unescaped(fields.split()[4]))
        if len(at.parts) >= longest and place.is_relative_to(at):
            found, longest = tail.split()[0], len(at.parts)  # the last of equals hides the others
    return found if found in NETWORK else ""


def _unescaped(text: str) -> str:
    """Return a path in which spaces and the like are written as octal numbers."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)
