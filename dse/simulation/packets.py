"""What crosses PCI Express for one offload, packet by packet and in each direction."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

TO_DEVICE, TO_HOST = 0, 1
FRAME_BYTE = 2 + 2 + 4
"""Start symbols, sequence number, link check."""

ADDRESSED_BYTE, ANSWERING_BYTE = 16, 12
"""Header of a request with a 64-bit address, and of a completion with data."""

DESCRIPTOR_BYTE, WORD_BYTE = 16, 4


@dataclass
class _Wire:
    """Packets that are sent one after the other, and their bytes in each direction."""

    payload: float
    request: float
    completion: float
    byte: list[float] = field(default_factory=lambda: [0.0, 0.0], init=False)

    def write(self, way: int, size: float) -> None:
        self._packets(way, size, self.payload, ADDRESSED_BYTE)

    def read(self, way: int, size: float) -> None:
        requests = math.ceil(size / self.request)
        self.byte[way] += requests * (FRAME_BYTE + ADDRESSED_BYTE)
        self._packets(1 - way, size, min(self.payload, self.completion), ANSWERING_BYTE)

    def _packets(self, way: int, size: float, most: float, header: int) -> None:
        left = size
        while left > 0:
            carried = min(left, most)
            self.byte[way] += FRAME_BYTE + header + carried
            left -= carried


def wire_byte(columns: Mapping[str, float], size: float) -> tuple[float, float]:
    """Return the bytes to the device and to the host of an offload of so many bytes.

    The device reads the offload and writes a result of the same size.  A batch shares a doorbell,
    one fetch and one write-back of its descriptors, an interrupt, and the read of a head pointer.

    References
    ----------
    PCI Express base specification 5.0, for packets; Neugebauer et al., SIGCOMM 2018, section 3, for
    a batch.
    """
    sizes = [
        columns[f"interface_{name}_byte"]
        for name in ("max_payload", "max_read_request", "completion")
    ]
    own, shared = _Wire(*sizes), _Wire(*sizes)
    own.read(TO_HOST, size)
    own.write(TO_HOST, size)
    batch = columns["interface_batch"]
    ring = DESCRIPTOR_BYTE * columns["interface_descriptors"] * batch
    shared.write(TO_DEVICE, WORD_BYTE)
    shared.read(TO_HOST, ring)
    shared.write(TO_HOST, ring)
    shared.write(TO_HOST, WORD_BYTE)
    shared.read(TO_DEVICE, WORD_BYTE)
    to_device, to_host = (
        one + other / batch for one, other in zip(own.byte, shared.byte, strict=True)
    )
    return to_device, to_host
