"""How the host hands work to the accelerators."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator

from dse.contract import PCIE_LINKS
from dse.errors import nearest
from dse.study.fields import Amount, StudySection, Unit, fault

PACKET_SIZES = (128.0, 256.0, 512.0, 1024.0, 2048.0, 4096.0)
"""What PCI Express allows as the largest payload and the largest read request, in B."""


class InterfaceSection(StudySection):
    """How the host hands work to the accelerators: a device, fields that override it, or both."""

    device: Annotated[str | None, Field(description="Interface by name; `dse list` shows them")] = (
        None
    )
    host: Annotated[str | None, Field(description="Name of the host processor")] = None
    host_clock: Annotated[Amount, Unit("Clock of the host", "interface_host_clock_hz")] = None
    overhead: Annotated[
        Amount,
        Unit(
            "Host time to set up one offload (LogCA's o)",
            "interface_overhead_cycles",
            "interface_overhead_s",
            zero=True,
        ),
    ] = None
    latency: Annotated[
        Amount,
        Unit(
            "Time to cross the interface (LogCA's L), fixed or per byte",
            "interface_latency_cycles",
            "interface_latency_s",
            "interface_latency_cycles_per_byte",
            "interface_latency_s_per_byte",
            zero=True,
        ),
    ] = None
    switch: Annotated[
        Amount,
        Unit(
            "One thread switch, for wait: sync_os",
            "interface_switch_cycles",
            "interface_switch_s",
            zero=True,
        ),
    ] = None
    link: Annotated[
        Amount,
        Unit("Bandwidth of the link", "interface_link_byte_per_s", "interface_link_byte_per_cycle"),
    ] = None
    overhead_plus_latency: Annotated[
        Amount,
        Unit(
            "Sum of overhead and latency, where only that is known",
            "interface_overhead_plus_latency_cycles",
            "interface_overhead_plus_latency_s",
            zero=True,
        ),
    ] = None
    overhead_share: Annotated[
        Amount, Unit("Share of that sum which is overhead, up to 1", "interface_overhead_share")
    ] = None
    pcie: Annotated[
        str | None, Field(description="PCI Express link: gen1 to gen5, x1, x2, x4, x8 or x16")
    ] = None
    max_payload: Annotated[
        Amount,
        Unit(
            "Most payload of a PCI Express packet", "interface_max_payload_byte", among=PACKET_SIZES
        ),
    ] = None
    max_read_request: Annotated[
        Amount,
        Unit(
            "Most that one PCI Express read asks for",
            "interface_max_read_request_byte",
            among=PACKET_SIZES,
        ),
    ] = None
    completion: Annotated[
        Amount,
        Unit(
            "Payload at which the host cuts completions, if below the maximum payload",
            "interface_completion_byte",
            among=(64.0, *PACKET_SIZES),
        ),
    ] = None
    descriptors: Annotated[
        Amount,
        Unit("Descriptors of one offload", "interface_descriptors", integer=True, zero=True),
    ] = None
    batch: Annotated[
        Amount,
        Unit("Offloads that share a doorbell and an interrupt", "interface_batch", integer=True),
    ] = None
    round_trip: Annotated[
        Amount, Unit("Time of a read across the link", "interface_round_trip_s", zero=True)
    ] = None
    retransmit_share: Annotated[
        Amount,
        Unit(
            "Share of segments that are sent again, which an inline engine reads its record for",
            "interface_retransmit_share",
            zero=True,
        ),
    ] = None
    segment: Annotated[
        Amount, Unit("Payload of a segment of a record", "interface_segment_byte")
    ] = None
    acceleration: Annotated[
        Amount,
        Unit(
            "How many times faster than the host a whole accelerator computes (LogCA's A); "
            "without `stages`",
            "interface_acceleration",
        ),
    ] = None
    includes: Annotated[
        Literal["device"] | None,
        Field(description="`device`: its times hold the device's computing too; without `stages`"),
    ] = None
    wait: Annotated[
        Literal["sync", "sync_os", "async"] | None, Field(description="How the host waits")
    ] = None
    transfer: Annotated[
        Literal["cut_through", "store_and_forward"] | None,
        Field(description="Whether an offload is computed while it is transferred, or after"),
    ] = None
    in_flight: Annotated[
        Amount, Unit("Concurrent offloads", "interface_in_flight", integer=True)
    ] = None
    max_in_flight: Annotated[
        Amount, Unit("Most concurrent offloads", "interface_max_in_flight", integer=True)
    ] = None
    host_cores: Annotated[
        Amount, Unit("Cores of the host", "interface_host_cores", counts=True)
    ] = None
    host_power: Annotated[Amount, Unit("Power of the whole host", "interface_host_power_w")] = None
    buffer_area: Annotated[
        Amount, Unit("Area of buffer memory", "interface_buffer_area_m2_per_bit", zero=True)
    ] = None
    buffer_leakage: Annotated[
        Amount, Unit("Leakage of buffer memory", "interface_buffer_leakage_w_per_bit", zero=True)
    ] = None

    idle_power: Annotated[
        Amount,
        Unit("Power that the attachment draws anyway", "interface_idle_power_w", zero=True),
    ] = None
    transfer_energy: Annotated[
        Amount,
        Unit(
            "Energy to move a byte of payload in, and its result out",
            "interface_transfer_j_per_byte",
            zero=True,
        ),
    ] = None
    attachment_area: Annotated[
        Amount, Unit("Silicon area of the attachment", "interface_attachment_area_m2", zero=True)
    ] = None

    @field_validator("pcie")
    @classmethod
    def _known_link(cls, written: str | None) -> str | None:
        if written is not None and written not in PCIE_LINKS:
            rule = "PCI Express links are gen1 to gen5 with x1, x2, x4, x8 or x16 lanes"
            raise fault(rule, nearest(written, PCIE_LINKS))
        return written
