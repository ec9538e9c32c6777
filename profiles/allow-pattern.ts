/** The grammar of allowlist entries stands in core, where the configuration's errors need it too. */
export {
  type AllowPattern,
  type AllowPatternResult,
  DEFAULT_PORTS,
  type PortRange,
  parseAllowPattern,
  RESERVED_DOMAIN,
} from '../core/configuration/allow-pattern.js';
