import type { Claim } from './claim.js';
import { bpfAddresses } from './claims/bpf-addresses.js';
import { directLoopback } from './claims/direct-loopback.js';
import { directMetadata } from './claims/direct-metadata.js';
import { directOwnAddress } from './claims/direct-own-address.js';
import { directTcp4 } from './claims/direct-tcp4.js';
import { directTcp6 } from './claims/direct-tcp6.js';
import { icmp } from './claims/icmp.js';
import { identityCgroup } from './claims/identity-cgroup.js';
import { identityHook } from './claims/identity-hook.js';
import { identityLevel } from './claims/identity-level.js';
import { identityRuleset } from './claims/identity-ruleset.js';
import { inboundTcp } from './claims/inbound-tcp.js';
import { ledgerCounters } from './claims/ledger-counters.js';
import { policyInForce } from './claims/policy-in-force.js';
import { proxyAnswersClaim } from './claims/proxy-answers.js';
import { proxyListedConnect } from './claims/proxy-listed-connect.js';
import { proxyListedHttp } from './claims/proxy-listed-http.js';
import { proxyUnlisted } from './claims/proxy-unlisted.js';
import { sandboxDoors } from './claims/sandbox-doors.js';
import { sandboxProcess } from './claims/sandbox-process.js';
import { udp4 } from './claims/udp4.js';
import { udp6 } from './claims/udp6.js';
import { udplite } from './claims/udplite.js';
import { unknownProtocol } from './claims/unknown-protocol.js';

/** Every claim, in the order in which it is tried: identity first, since it explains what fails after it. */
export const CATALOGUE: readonly Claim[] = [
  identityRuleset,
  identityCgroup,
  identityLevel,
  identityHook,
  sandboxProcess,
  sandboxDoors,
  bpfAddresses,
  policyInForce,
  proxyAnswersClaim,
  proxyListedHttp,
  proxyListedConnect,
  proxyUnlisted,
  directTcp4,
  directTcp6,
  directOwnAddress,
  directLoopback,
  directMetadata,
  udp4,
  udp6,
  icmp,
  udplite,
  unknownProtocol,
  inboundTcp,
  ledgerCounters,
];
