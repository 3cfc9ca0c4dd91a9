"""Which IP addresses are part of the public network, and what the others are for."""

import ipaddress
from typing import Final

_KINDS: Final = {
    # IPv4: the registry of special purpose addresses (RFC 6890 and its updates), multicast and reserved ranges
    "0.0.0.0/8": "unspecified",
    "10.0.0.0/8": "private",
    "100.64.0.0/10": "shared",
    "127.0.0.0/8": "loopback",
    "168.63.129.16/32": "link-local",  # the metadata service of a cloud, on an address of the public range
    "169.254.0.0/16": "link-local",
    "172.16.0.0/12": "private",
    "192.0.0.0/24": "reserved",
    "192.0.2.0/24": "documentation",
    "192.88.99.0/24": "reserved",
    "192.168.0.0/16": "private",
    "198.18.0.0/15": "reserved",
    "198.51.100.0/24": "documentation",
    "203.0.113.0/24": "documentation",
    "224.0.0.0/4": "multicast",
    "240.0.0.0/4": "reserved",
    # IPv6: outside 2000::/3 nothing is public
    "::/128": "unspecified",
    "::1/128": "loopback",
    "::/96": "embedded IPv4",
    "::ffff:0:0/96": "embedded IPv4",
    "::ffff:0:0:0/96": "embedded IPv4",
    "64:ff9b::/96": "embedded IPv4",
    "64:ff9b:1::/48": "embedded IPv4",
    "2001::/32": "embedded IPv4",
    "2001::/23": "reserved",
    "2001:db8::/32": "documentation",
    "2002::/16": "embedded IPv4",
    "3fff::/20": "documentation",
    "5f00::/16": "reserved",
    "fc00::/7": "private",
    "fe80::/10": "link-local",
    "fec0::/10": "private",
    "ff00::/8": "multicast",
}
_NETWORKS: Final = tuple((ipaddress.ip_network(network), kind) for network, kind in _KINDS.items())
_GLOBAL_UNICAST: Final = ipaddress.IPv6Network("2000::/3")

LOCAL_KINDS: Final = frozenset({"loopback", "private", "shared"})
"""The kinds that an owner may allow by name. The others have no services that a tool should reach."""


def special_kind(address: str) -> str:
    """What the address is for if it is not public, "" if it is. A text that is no IP address is "invalid"."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return "invalid"
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.scope_id is not None:
        return "link-local"
    for network, kind in _NETWORKS:
        if parsed.version == network.version and parsed in network:
            return kind
    if isinstance(parsed, ipaddress.IPv6Address) and parsed not in _GLOBAL_UNICAST:
        return "reserved"
    return ""
