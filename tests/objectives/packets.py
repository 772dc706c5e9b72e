"""PCI Express packet by packet: what crosses the link for a batch of offloads, counted, not solved.

Sizes: PCI Express base specification 5.0.  A packet has 2 B of start symbols and 2 B of sequence
number before it, 4 B of link check after it, and a header of four words for a request with 64-bit
addresses or of three words for a completion with data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

TO_DEVICE, TO_HOST = "to device", "to host"
FRAME = 2 + 2 + 4
WORD = 4


class Packet(NamedTuple):
    direction: str
    header_words: int
    payload: int = 0

    @property
    def size(self) -> int:
        return FRAME + WORD * self.header_words + self.payload


def pieces(size: int, most: int) -> Iterator[int]:
    while size > 0:
        yield min(size, most)
        size -= most


def write(direction: str, size: int, most: int) -> Iterator[Packet]:
    yield from (Packet(direction, 4, piece) for piece in pieces(size, most))


def read(by: str, size: int, request: int, completion: int) -> Iterator[Packet]:
    """Yield the packets of a read by the device (to host) or by the host (to device)."""
    back = TO_DEVICE if by == TO_HOST else TO_HOST
    yield from (Packet(by, 4) for _ in pieces(size, request))
    for asked in pieces(size, request):  # no completion answers two requests
        yield from (Packet(back, 3, piece) for piece in pieces(asked, completion))


def batch(
    g: int, *, payload: int, request: int, completion: int, descriptors: int, offloads: int
) -> Iterator[Packet]:
    """Yield every packet of a batch of offloads of g bytes."""
    cut = min(payload, completion)
    ring = 16 * descriptors * offloads
    yield from write(TO_DEVICE, 4, payload)  # the doorbell
    yield from read(TO_HOST, ring, request, cut)
    for _ in range(offloads):
        yield from read(TO_HOST, g, request, cut)
        yield from write(TO_HOST, g, payload)
    yield from write(TO_HOST, ring, payload)  # the descriptors, written back
    yield from write(TO_HOST, 4, payload)  # the interrupt
    yield from read(TO_DEVICE, 4, request, cut)  # the head pointer


def counted(packets: Iterator[Packet]) -> dict[str, int]:
    """Return the bytes of packets by direction."""
    found = {TO_DEVICE: 0, TO_HOST: 0}
    for packet, count in Counter(packets).items():
        found[packet.direction] += count * packet.size
    return found


def packet_rate(link: str, payload: int) -> float:
    """Return B/s of packets, by adding up what a second of one lane after the other carries."""
    transfers = {"gen1": 2.5e9, "gen2": 5e9, "gen3": 8e9, "gen4": 16e9, "gen5": 32e9}
    generation, lanes = link.split(" x")
    bits = transfers[generation] * (8 / 10 if generation in ("gen1", "gen2") else 128 / 130)
    raw = sum(bits / 8 for _ in range(int(lanes)))
    between = INTERVALS[generation, int(lanes), payload]
    return raw - raw / between * 8 - raw / between * 8 - raw / 1538 * 4


INTERVALS = {
    ("gen1", 1, 128): 237,
    ("gen1", 16, 4096): 534,
    ("gen2", 2, 256): 268,
    ("gen2", 8, 256): 158,
    ("gen3", 4, 1024): 378,
    ("gen3", 8, 128): 163,
    ("gen3", 8, 256): 203,
    ("gen3", 8, 512): 182,
    ("gen3", 16, 256): 168,
    ("gen4", 8, 256): 203,
    ("gen4", 16, 256): 168,
    ("gen4", 16, 2048): 374,
    ("gen5", 16, 512): 182,
}
"""Bytes between acknowledgements, base specification 5.0, tables 3-7 to 3-9, one by one."""
