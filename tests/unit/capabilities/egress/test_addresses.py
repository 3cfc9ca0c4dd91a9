"""Which addresses are public."""

import pytest

from aeond.capabilities.egress.addresses import special_kind


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        *(
            ("93.184.215.14", ""),
            ("9.255.255.255", ""),
            ("11.0.0.0", ""),
            ("172.32.0.0", ""),
            ("100.128.0.0", ""),
        ),
        *(
            ("223.255.255.255", ""),
            ("192.0.1.0", ""),
            ("2606:4700::1", ""),
            ("2003::1", ""),
            ("2001:200::1", ""),
        ),
        *(("127.255.255.255", "loopback"), ("10.0.0.0", "private"), ("100.64.0.1", "shared")),
        *(("169.254.0.1", "link-local"), ("0.1.2.3", "unspecified"), ("239.1.1.1", "multicast")),
        *(("240.0.0.1", "reserved"), ("198.19.0.1", "reserved"), ("198.51.100.1", "documentation")),
        *(("::", "unspecified"), ("::1", "loopback"), ("::ffff:8.8.8.8", "embedded IPv4")),
        *(("2002:808:808::1", "embedded IPv4"), ("2001::1", "embedded IPv4"), ("2001:20::1", "reserved")),
        *(
            ("fe80::1", "link-local"),
            ("fe80::1%eth0", "link-local"),
            ("fd00::1", "private"),
            ("1::1", "reserved"),
        ),
        *(("ff0e::1", "multicast"), ("", "invalid"), ("1.2.3", "invalid"), ("example.org", "invalid")),
    ],
)
def test_every_address_has_a_kind(address: str, kind: str) -> None:
    """Public addresses have none; the borders of the ranges are exact."""
    assert special_kind(address) == kind
