"""Engines on the way of the data: what a segment that is sent again makes them read again.

An engine inline in a network card takes no offload: overhead and latency are 0, and a record passes
it once.  A segment that is sent again finds the state behind it gone, so the card reads the record
again from its beginning to that segment.
"""

from __future__ import annotations

import numpy as np

from dse.contract import ATTACHMENTS, Column, Rising, objective

FREEBSD = "Gallatin, FreeBSD review D30908 and commit 28d0a740dd9a, 2021"


@objective(source=FREEBSD, over_sizes="mean")
def reread_byte(
    *,
    workload_granularity_byte: Rising[Column],
    interface_attachment: Rising[Column],
    interface_retransmit_share: Rising[Column],
    interface_segment_byte: Column,
) -> Column:
    """Bytes of a record that are read again for segments that are sent again.

    ``r (s n (n - 1) / 2 + g)``, in B, with n = ceil(g / s) segments of s bytes in a record of g,
    the last one shorter, and the share r of them that is sent again: segment i takes i s bytes,
    the last one g.  Every segment is as likely as any other.  Only an engine inline reads again.

    References
    ----------
    FreeBSD review D30908: above 10 times the data for the last segment of a record of 16 KiB.
    """
    segments = np.ceil(workload_granularity_byte / interface_segment_byte)
    before = interface_segment_byte * segments * (segments - 1.0) / 2.0
    inline = np.equal(interface_attachment, ATTACHMENTS.index("inline"))
    return inline * interface_retransmit_share * (before + workload_granularity_byte)


@objective(source=FREEBSD)
def reread_ratio(*, reread_byte: Rising[Column], workload_granularity_byte: Column) -> Column:
    """Bytes that are read again, per byte of payload.

    ``reread / g``, a number; a mix has the mean of both.
    """
    return reread_byte / workload_granularity_byte
