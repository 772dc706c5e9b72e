"""Engines on the way of the data: results leave by the wire, segments sent again are read again.

An engine inline in a network card takes no offload: overhead and latency are 0, and a record passes
it once without a result to the host.  A segment that is sent again finds its state
gone, so the card reads the record again from its beginning to that segment.

In the equations, a record of g bytes has n = ceil(g / s) segments of s bytes, the last one shorter,
of which the share r is sent again, each independently of the others: segment i takes i s bytes,
the last one g.
"""

from __future__ import annotations

import numpy as np

from dse.contract import ATTACHMENTS, Column, Falling, Rising, SizeColumn, objective

FREEBSD = "Gallatin, FreeBSD review D30908 and commit 28d0a740dd9a, 2021"


def returns(interface_attachment: Column | float) -> Column:
    """Return 1 if results come back to the host, 0 if they leave by the wire."""
    return np.not_equal(interface_attachment, ATTACHMENTS.index("inline")) * 1.0


def _taken(sizes: SizeColumn, segment: Column) -> tuple[Column, Column, Column]:
    """Return the mean size, and the means of the bytes for all segments, and of their squares."""
    once, again, squares = (np.zeros(1),) * 3
    for size, share in sizes if isinstance(sizes, tuple) else ((sizes, 1.0),):
        count = np.ceil(size / segment)
        before = segment * count * (count - 1.0) / 2.0
        square = segment * before * (2.0 * count - 1.0) / 3.0
        once, again = once + share * size, again + share * (before + size)
        squares = squares + share * (square + size**2)
    return once, again, squares


@objective(source=FREEBSD, over_sizes="together")
def reread_ratio(
    *,
    workload_granularity_byte: SizeColumn,
    interface_attachment: Rising[Column],
    interface_retransmit_share: Rising[Column],
    interface_segment_byte: Column,
) -> Column:
    """Bytes of a record that are read again for segments that are sent again, over its size.

    ``rho = r (s n (n - 1) / 2 + g) / g``, a number.  A mix has the mean of both.  Only an engine
    inline reads again.

    References
    ----------
    FreeBSD review D30908: above 10 times the data for the last segment of a record of 16 KiB.
    """
    once, again, _ = _taken(workload_granularity_byte, interface_segment_byte)
    inline = 1.0 - returns(interface_attachment)
    return inline * interface_retransmit_share * (again / once)


@objective(source="independent segments", over_sizes="together")
def reread_cv2(
    *,
    workload_granularity_byte: SizeColumn,
    reread_ratio: Falling[Column],
    interface_attachment: Column,
    interface_retransmit_share: Column,
    interface_segment_byte: Column,
) -> Column:
    """Squared coefficient of variation of the bytes read of a record, beside the sizes' variation.

    ``r (1 - r) (s^2 n (n - 1) (2 n - 1) / 6 + g^2) / (g (1 + rho))^2``, a number.  A mix has the
    mean of the dividend, and of g.

    References
    ----------
    As `reread_ratio`.
    """
    once, _, squares = _taken(workload_granularity_byte, interface_segment_byte)
    share = (1.0 - returns(interface_attachment)) * interface_retransmit_share
    varied = share * np.maximum(1.0 - share, 0.0) * squares
    return varied / (once * (1.0 + reread_ratio)) ** 2
