"""What has to be computed, and how long the host would take."""

from __future__ import annotations

from typing import Annotated

from pydantic import Discriminator, Field, Tag

from dse.study.fields import Amount, Given, StudySection, Unit, form
from dse.study.sizes import Sizes


class KernelSection(StudySection):
    """Time of the computation on the host, defined in place: offset + index * g ** exponent."""

    index: Annotated[Given, Unit("Host time per byte (LogCA's C)", "kernel_index_s_per_byte")]
    exponent: Annotated[Given, Unit("Complexity exponent (LogCA's beta)", "kernel_exponent")] = (
        Given(column="kernel_exponent", value=1.0)
    )
    offset: Annotated[Given, Unit("Fixed host time per call", "kernel_offset_s", zero=True)] = (
        Given(column="kernel_offset_s", value=0.0)
    )


class WorkloadSection(StudySection):
    """What has to be computed."""

    rate: Annotated[
        Amount, Unit("Payload rate demanded of every design", "workload_rate_bit_per_s")
    ] = None
    task_rate: Annotated[
        Amount,
        Unit(
            "Tasks demanded per second, each of them one offload: it stands for `rate`",
            "workload_task_rate_task_per_s",
        ),
    ] = None
    granularity: Annotated[
        Amount,
        Sizes(
            "Size of one offload (LogCA's g), or a mix: each size with its share of all offloads",
            "workload_granularity_byte",
            integer=True,
        ),
    ] = None
    offload_above: Annotated[
        Amount,
        Unit(
            "Sizes of a mix up to this one stay on the host, those above it are offloaded; 0 B "
            "offloads all",
            "workload_offload_above_byte",
            integer=True,
            zero=True,
        ),
    ] = None
    arrivals: Annotated[
        Amount,
        Unit(
            "How offloads arrive: steady (where it is left out), poisson, or the squared "
            "coefficient of variation of the gaps between them, {cv2: 4}",
            "workload_arrival_cv2",
            zero=True,
            words={"steady": 0.0, "poisson": 1.0},
            key="cv2",
        ),
    ] = None
    kernel: Annotated[
        Annotated[KernelSection, Tag("range")] | Annotated[str | None, Tag("one")],
        Discriminator(form),
        Field(description="Kernel by name, or in place"),
    ] = None
    streams: Annotated[
        Amount, Unit("Independent streams of tasks", "workload_streams", integer=True)
    ] = None
    chained: Annotated[
        bool,
        Field(description="Each task of a stream needs the one before it (CBC, for instance)"),
    ] = False
    program_share: Annotated[
        Amount,
        Unit(
            "Share of a program's host time that the kernel takes, up to 1 (Accelerometer's alpha)",
            "workload_program_share",
        ),
    ] = None
    program_offloads: Annotated[
        Amount,
        Unit(
            "Its calls of the kernel in a second of host time (Accelerometer's n / C)",
            "workload_program_offloads_hz",
        ),
    ] = None
    intensity: Annotated[
        Amount,
        Unit(
            "Operations per byte of memory traffic, for studies of platforms",
            "workload_intensity_op_per_byte",
        ),
    ] = None
