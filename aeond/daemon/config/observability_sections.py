"""The configuration sections for metrics and traces."""

from pydantic import Field

from aeond.daemon.config.section import PathText, Section, UrlText


class MetricsSection(Section):
    """Metrics for Prometheus, described in docs/observability.md. They cover the runs of all users."""

    enabled: bool = Field(
        False,
        description="Whether the daemon counts and serves metrics, at /metrics on a socket that only the daemon's own user"
        " and root can open.",
    )
    path: PathText = Field(
        "",
        description="Path of that socket. Empty: with -metrics added to the name of the daemon's socket, in the folder of"
        " the daemon's private sockets: aeond-metrics.sock.",
    )
    textfile: PathText = Field(
        "",
        description="File for the textfile collector of node_exporter, such as"
        " /var/lib/prometheus/node-exporter/aeond.prom. Every user can read it. Empty: none.",
    )
    textfile_seconds: float = Field(15.0, ge=1, le=3600, description="How often the file is written.")
    port: int = Field(
        0,
        ge=0,
        le=65535,
        description="Port at 127.0.0.1 that serves /metrics as well, to clients with the key. 0: none.",
    )
    key_credential: str = Field(
        "", max_length=255, description="Name of the systemd credential with the key for the port."
    )
    key_file: PathText = Field(
        "",
        description="File with the key if there is no credential; only its owner may have read permission.",
    )


class TracesSection(Section):
    """Traces of runs, exported by OTLP when a run ends. They contain names, states, durations and amounts, no texts."""

    endpoint: UrlText = Field(
        "",
        max_length=500,
        pattern=r"^(https?://[^/]+:[0-9]+)?$",
        description="Address of a collector that accepts OTLP over gRPC: http://HOST:PORT or https://HOST:PORT. Empty: no"
        " traces. Needs the extra otlp of the package.",
    )
