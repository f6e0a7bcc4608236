//! Which addresses a name may lead to. A public name that leads into this machine or its network is refused: whoever
//! controls the name could reach what only insiders can (DNS rebinding).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Blocks that are not the public internet: IANA's special-purpose registries (RFC 6890 and later entries), multicast
/// and reserved space.
const SPECIAL_V4: [(Ipv4Addr, u32); 16] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    // 169.254.169.254 is where most clouds answer with credentials
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    (Ipv4Addr::new(240, 0, 0, 0), 4),
    // looks public, but is Azure's host node
    (Ipv4Addr::new(168, 63, 129, 16), 32),
];

/// Global unicast space, the only part of IPv6 that is the public internet.
const GLOBAL_V6: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);
/// Special blocks within it: protocol assignments (Teredo among them) and documentation.
const SPECIAL_V6: [(Ipv6Addr, u32); 3] = [
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

/// Returns whether an address belongs to the public internet.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => match embedded(address) {
            Some(address) => is_public_v4(address),
            None => {
                within_v6(address, GLOBAL_V6) && !SPECIAL_V6.iter().any(|block| within_v6(address, *block))
            }
        },
    }
}

/// Returns whether an address is this machine's own.
pub(super) fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    !SPECIAL_V4.iter().any(|(block, length)| (u32::from(address) ^ u32::from(*block)) >> (32 - length) == 0)
}

fn within_v6(address: Ipv6Addr, (block, length): (Ipv6Addr, u32)) -> bool {
    (u128::from(address) ^ u128::from(block)) >> (128 - length) == 0
}

/// The IPv4 address that an IPv6 one stands for: mapped (RFC 4291), translated (NAT64, RFC 6052) or tunnelled (6to4,
/// RFC 3056). Packets end up there, so that is what counts.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let join = |high: u16, low: u16| Ipv4Addr::from(u32::from(high) << 16 | u32::from(low));
    match [a, b, c, d, e, f] {
        [0, 0, 0, 0, 0, 0xffff] | [0x64, 0xff9b, 0, 0, 0, 0] => Some(join(g, h)),
        [0x2002, high, low, ..] => Some(join(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn public(text: &str) -> bool {
        is_public(text.parse().unwrap())
    }

    #[test]
    fn the_internet_is_public() {
        for text in [
            "1.1.1.1",
            "8.8.8.8",
            "172.15.255.255",
            "172.32.0.0",
            "100.63.0.1",
            "223.255.255.255",
            "2606:4700::1111",
        ] {
            assert!(public(text), "{text}");
        }
    }

    #[test]
    fn this_machine_its_network_and_its_cloud_are_not() {
        for text in [
            "127.0.0.1",
            "127.8.8.8",
            "0.0.0.0",
            "10.1.2.3",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.100.100.200",
            "192.0.0.192",
            "168.63.129.16",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "fe80::1",
            "fc00::1",
            "fd00:ec2::254",
            "ff02::1",
            "2001:db8::1",
            "2001::1",
        ] {
            assert!(!public(text), "{text}");
        }
    }

    /// The embedded spellings are where this kind of check is usually walked around.
    #[test]
    fn an_embedded_ipv4_address_counts_as_itself() {
        for text in [
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::169.254.169.254",
            "2002:7f00:1::",
            "2002:a9fe:a9fe::",
        ] {
            assert!(!public(text), "{text}");
        }
        for text in ["::ffff:1.1.1.1", "64:ff9b::1.1.1.1"] {
            assert!(public(text), "{text}");
        }
        assert!(is_loopback("::ffff:127.0.0.1".parse().unwrap()));
    }
}
