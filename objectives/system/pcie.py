"""PCI Express as the link of an interface: packets in both directions, and the payload rate.

One offload of g bytes: the device reads g bytes of host memory and writes g bytes of results,
which leave by the wire instead if the attachment is inline.
d descriptors of 16 B give the addresses.  A batch of b offloads takes one doorbell (a write of 4 B
by the host), one fetch of its descriptors, one write-back of as many bytes, one interrupt (a write
of 4 B) and one read of a 4 B head pointer by the host (the simple device of Neugebauer et al.).

On the link a write of s bytes is ceil(s / P) packets of 24 B and their payload.  A read is
ceil(s / Q) requests of 24 B in one direction, and ceil(s / C) completions of 20 B and their payload
in the other, with the maximum payload P, the maximum read request Q, and C the least of P, Q and
the host's limit of the size of completions.  24 B are 8 B of the link, 4 B and 12 B of header with
64-bit addresses.  A completion's header is 4 B shorter.  Offloads are aligned.

References
----------
Neugebauer et al., "Understanding PCIe performance for end host networking", SIGCOMM 2018,
section 3 and its model code.  Sizes: PCI Express base specification, revision 5.0.
"""

from __future__ import annotations

import numpy as np

from dse.contract import PCIE_LINKS, Column, Falling, Rising, SizeColumn, objective
from dse.objectives.catalogue import read_catalogue
from dse.objectives.system.inline import returns
from dse.objectives.system.offload_terms import BIT_PER_BYTE
from dse.objectives.system.sources import PCIE

REQUEST_BYTE = 24.0
"""Framing and header of a write or of a read request, with 64-bit addresses."""

COMPLETION_BYTE = 20.0
"""Framing and header of a completion with data."""

DESCRIPTOR_BYTE, POINTER_BYTE = 16.0, 4.0
"""A descriptor, and a doorbell, an interrupt or a head pointer."""

CONTROL_BYTE, SKIP_BYTE, SKIP_INTERVAL_BYTE = 8.0, 4.0, 1538.0
"""An acknowledgement or update of flow control, clock compensation, and its interval."""

LEAST_PAYLOAD_BYTE = 128.0


def _packet_rates() -> Column:
    """Return B/s of packets by position in `PCIE_LINKS` and by doubling of the maximum payload."""
    generations = {row["generation"]: row for row in read_catalogue("pcie.csv")}
    intervals = {row["lanes"]: [*row.values()][1:] for row in read_catalogue("pcie_intervals.csv")}
    rates = [np.full(len(intervals["1"]), np.inf)]
    for link in PCIE_LINKS[1:]:
        number, lanes = link.removeprefix("gen").split(" x")
        row = generations[number]
        code = float(row["data_bit"]) / float(row["code_bit"])
        raw = float(row["giga_transfer_per_s"]) * 1e9 * code * float(lanes) / BIT_PER_BYTE
        between = np.array([float(cell) for cell in intervals[lanes]]) + float(row["delay_byte"])
        lost = 2.0 * CONTROL_BYTE / between + SKIP_BYTE / SKIP_INTERVAL_BYTE
        rates.append(raw * (1.0 - lost))
    return np.array(rates)


_PACKET_RATES = _packet_rates()


def _packets_byte(size: Column, most: Column, header_byte: float) -> Column:
    """Return the bytes of packets that carry `size`, at most `most` each."""
    return size + header_byte * np.ceil(size / most)


@objective(
    source=PCIE,
    simulated="packet_rate",
)
def pcie_packet_byte_per_s(*, interface_pcie: Column, interface_max_payload_byte: Column) -> Column:
    """Bytes of packets that the link carries in each direction, infinite without PCI Express.

    ``GT/s * lanes * code / 8 * (1 - 8 / ack - 8 / fc - 4 / 1538)``, in B/s, for generations 1 to 5
    and maximum payloads of 128 B to 4 KiB.

    References
    ----------
    Neugebauer et al., SIGCOMM 2018, and base specification 5.0, tables 2-46 to 2-48, 3-7 to 3-9.
    """
    link = np.asarray(interface_pcie).astype(np.int64)
    doubled = np.log2(np.asarray(interface_max_payload_byte) / LEAST_PAYLOAD_BYTE)
    size = np.clip(np.ceil(doubled), 0, _PACKET_RATES.shape[1] - 1).astype(np.int64)
    return _PACKET_RATES[link, size]


@objective(source=PCIE, over_sizes="mean")
def pcie_to_device_byte(
    *,
    workload_granularity_byte: Rising[Column],
    interface_max_payload_byte: Falling[Column],
    interface_max_read_request_byte: Falling[Column],
    interface_completion_byte: Falling[Column],
    interface_descriptors: Rising[Column],
    interface_batch: Column,
) -> Column:
    """Bytes on the link from host to device for one offload, its share of a batch included.

    ``g + 20 ceil(g / C) + (16 d b + 20 ceil(16 d b / C) + 28 + 24) / b``, in B: completions of the
    payload, of the descriptors, the doorbell, and the request for the head pointer.

    References
    ----------
    Neugebauer et al., SIGCOMM 2018, section 3.
    """
    most = np.minimum(interface_max_payload_byte, interface_max_read_request_byte)
    cut = np.minimum(most, interface_completion_byte)
    block = DESCRIPTOR_BYTE * interface_descriptors * interface_batch
    payload = _packets_byte(workload_granularity_byte, cut, COMPLETION_BYTE)
    fetched = _packets_byte(block, cut, COMPLETION_BYTE)
    host = REQUEST_BYTE + POINTER_BYTE + REQUEST_BYTE
    return payload + (fetched + host) / interface_batch


@objective(source=PCIE, over_sizes="mean")
def pcie_to_host_byte(
    *,
    workload_granularity_byte: Rising[Column],
    interface_max_payload_byte: Falling[Column],
    interface_max_read_request_byte: Falling[Column],
    interface_descriptors: Rising[Column],
    interface_batch: Column,
    interface_attachment: Falling[Column | float] = 0.0,
) -> Column:
    """Bytes on the link from device to host for one offload, its share of a batch included.

    ``24 ceil(g / Q) + g + 24 ceil(g / P) + (24 ceil(16 d b / Q) + 16 d b + 24 ceil(16 d b / P) +
    28 + 24) / b``, in B: requests for the payload, the results, requests for descriptors, their
    write-back, the interrupt, and the head pointer.  Inline has no ``g + 24 ceil(g / P)``.

    References
    ----------
    Neugebauer et al., SIGCOMM 2018, section 3.
    """
    block = DESCRIPTOR_BYTE * interface_descriptors * interface_batch

    def moved(size: Column, back: Column | float) -> Column:
        reading = REQUEST_BYTE * np.ceil(size / interface_max_read_request_byte)
        return reading + back * _packets_byte(size, interface_max_payload_byte, REQUEST_BYTE)

    fixed = REQUEST_BYTE + POINTER_BYTE + COMPLETION_BYTE + POINTER_BYTE
    payload = moved(workload_granularity_byte, returns(interface_attachment))
    return payload + (moved(block, 1.0) + fixed) / interface_batch


@objective(source=PCIE)
def pcie_payload_bit_per_s(
    *,
    pcie_packet_byte_per_s: Rising[Column],
    workload_granularity_byte: Rising[Column],
    pcie_to_device_byte: Falling[Column],
    pcie_to_host_byte: Falling[Column],
) -> Column:
    """Payload rate of the link: both directions at once, the fuller one limits.

    ``8 g * packet rate / max(to device, to host)``, in bit/s.

    References
    ----------
    Neugebauer et al., SIGCOMM 2018, section 3.
    """
    fuller = np.maximum(pcie_to_device_byte, pcie_to_host_byte)
    return BIT_PER_BYTE * pcie_packet_byte_per_s * (workload_granularity_byte / fuller)


@objective(source=PCIE)
def round_trips_s(
    *,
    interface_round_trip_s: Rising[Column],
    interface_descriptors: Rising[Column | float] = 0.0,
    interface_attachment: Falling[Column | float] = 0.0,
) -> Column:
    """Time of the reads and writes of an offload that wait for each other across the link.

    ``(2 + min(d, 1)) round trip``, in s: the doorbell and the last write cross once each, the
    payload is read, and before it the descriptor, if there is one.  Inline has no last write, so
    1.5 in place of 2.  A write is taken to cross in half of the time of a read.  Measured
    round trips hold the time of 64 B on the link, which the payload's passage counts again.

    References
    ----------
    Neugebauer et al., SIGCOMM 2018, section 6.1, for the time of a read.  The sum is ours.
    """
    back = returns(interface_attachment) / 2.0
    return (1.5 + back + np.minimum(interface_descriptors, 1.0)) * interface_round_trip_s


@objective(
    source=PCIE,
    over_sizes="together",
)
def pcie_cv2(
    *,
    workload_granularity_byte: SizeColumn,
    interface_max_payload_byte: Column,
    interface_completion_byte: Column,
    interface_max_read_request_byte: Column,
    interface_descriptors: Column,
    interface_batch: Column,
    interface_attachment: Column | float = 0.0,
) -> Column:
    """Squared coefficient of variation of the bytes on PCI Express for one offload.

    ``E b^2 / (E b)^2 - 1``, a number, of the direction that is the fuller on average.  At most the
    sizes' variation, as headers and control are for all offloads.

    References
    ----------
    Neugebauer et al., SIGCOMM 2018, section 3.
    """
    given = {
        "interface_descriptors": interface_descriptors,
        "interface_batch": interface_batch,
        "interface_max_payload_byte": interface_max_payload_byte,
        "interface_max_read_request_byte": interface_max_read_request_byte,
    }
    sizes = workload_granularity_byte
    pairs = sizes if isinstance(sizes, tuple) else ((sizes, 1.0),)
    moments = []
    completion = {"interface_completion_byte": interface_completion_byte}
    attached = {"interface_attachment": interface_attachment}
    for function, besides in ((pcie_to_device_byte, completion), (pcie_to_host_byte, attached)):
        each = [
            (function(workload_granularity_byte=size, **given, **besides), share)
            for size, share in pairs
        ]
        mean = sum(share * one for one, share in each)
        square = sum(share * (one / mean - 1.0) ** 2 for one, share in each)
        moments.append((mean, square))
    (to_device, device_cv2), (to_host, host_cv2) = moments
    return np.where(np.greater(to_device, to_host), device_cv2, host_cv2)
