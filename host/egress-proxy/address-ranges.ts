/** One range that the proxy does not connect to. */
export interface AddressRange {
  readonly range: string;
  readonly what: string;
  readonly source: string;
  /** Byte at which an IPv4 address stands inside the IPv6 one; it is classified too. */
  readonly embeds?: number;
  /** The range itself is reachable: only the embedded address decides. */
  readonly transparent?: true;
}

/** Everything that is not the public internet, after the IANA special-purpose registries (RFC 6890) and beyond them. */
export const IPV4_RANGES: readonly AddressRange[] = [
  { range: '0.0.0.0/8', what: 'this network; Linux connects 0.0.0.0 to itself', source: 'RFC 791' },
  { range: '10.0.0.0/8', what: 'private use', source: 'RFC 1918' },
  { range: '100.64.0.0/10', what: 'carrier-grade NAT, cloud metadata', source: 'RFC 6598' },
  { range: '127.0.0.0/8', what: 'loopback', source: 'RFC 1122' },
  { range: '168.63.129.16/32', what: 'Azure platform and metadata', source: 'Azure virtual network documentation' },
  { range: '169.254.0.0/16', what: 'link-local, cloud metadata', source: 'RFC 3927' },
  { range: '172.16.0.0/12', what: 'private use', source: 'RFC 1918' },
  { range: '192.0.0.0/24', what: 'IETF protocol assignments', source: 'RFC 6890' },
  { range: '192.0.2.0/24', what: 'documentation', source: 'RFC 5737' },
  { range: '192.88.99.0/24', what: '6to4 relay anycast, deprecated', source: 'RFC 7526' },
  { range: '192.168.0.0/16', what: 'private use', source: 'RFC 1918' },
  { range: '198.18.0.0/15', what: 'benchmarking', source: 'RFC 2544' },
  { range: '198.51.100.0/24', what: 'documentation', source: 'RFC 5737' },
  { range: '203.0.113.0/24', what: 'documentation', source: 'RFC 5737' },
  { range: '224.0.0.0/4', what: 'multicast', source: 'RFC 5771' },
  { range: '255.255.255.255/32', what: 'limited broadcast', source: 'RFC 919' },
  { range: '240.0.0.0/4', what: 'reserved', source: 'RFC 1112' },
];

/** The first match decides, so the narrow ones come first. */
export const IPV6_RANGES: readonly AddressRange[] = [
  { range: '::/128', what: 'unspecified; Linux connects it to itself', source: 'RFC 4291' },
  { range: '::1/128', what: 'loopback', source: 'RFC 4291' },
  { range: '::ffff:0:0/96', what: 'IPv4-mapped', source: 'RFC 4291', embeds: 12 },
  { range: '::/96', what: 'IPv4-compatible, deprecated', source: 'RFC 4291', embeds: 12 },
  { range: '::ffff:0:0:0/96', what: 'IPv4-translated', source: 'RFC 2765', embeds: 12 },
  { range: '64:ff9b::/96', what: 'NAT64', source: 'RFC 6052', embeds: 12, transparent: true },
  { range: '64:ff9b:1::/48', what: 'NAT64, local use', source: 'RFC 8215' },
  { range: '100::/64', what: 'discard only', source: 'RFC 6666' },
  { range: '100:0:0:1::/64', what: 'dummy prefix', source: 'RFC 9780' },
  { range: '2001::/32', what: 'Teredo', source: 'RFC 4380', embeds: 4 },
  { range: '2001:2::/48', what: 'benchmarking', source: 'RFC 5180' },
  { range: '2001:10::/28', what: 'ORCHID, deprecated', source: 'RFC 4843' },
  { range: '2001:20::/28', what: 'ORCHIDv2', source: 'RFC 7343' },
  { range: '2001::/23', what: 'IETF protocol assignments', source: 'RFC 2928' },
  { range: '2001:db8::/32', what: 'documentation', source: 'RFC 3849' },
  { range: '2002::/16', what: '6to4, deprecated', source: 'RFC 3056', embeds: 2 },
  { range: '3fff::/20', what: 'documentation', source: 'RFC 9637' },
  { range: '5f00::/16', what: 'segment routing identifiers', source: 'RFC 9602' },
  { range: 'fc00::/7', what: 'unique local, cloud metadata', source: 'RFC 4193' },
  { range: 'fe80::/10', what: 'link-local', source: 'RFC 4291' },
  { range: 'fec0::/10', what: 'site-local, deprecated', source: 'RFC 3879' },
  { range: 'ff00::/8', what: 'multicast', source: 'RFC 4291' },
  // Only 2000::/3 is global unicast today; the halves around it are unassigned.
  { range: '::/3', what: 'not global unicast', source: 'RFC 4291' },
  { range: '4000::/2', what: 'not global unicast', source: 'RFC 4291' },
  { range: '8000::/1', what: 'not global unicast', source: 'RFC 4291' },
];
