/**
 * Tenant names reach nft, unit files, sudoers, user names and paths, so they are held to what is safe in all of them:
 * a lower-case letter first, then letters, digits and inner hyphens, 28 characters at most (a Linux user name holds 32
 * and ours begin with `wt-`).
 */
export const TENANT_NAME = /^[a-z](?:[a-z0-9-]{0,26}[a-z0-9])?$/;

/**
 * Unix users that may launch confined work: what useradd(8) recommends, which is also harmless in sudoers(5). Not root,
 * who may already, and not our own users: a confined process that may launch is none.
 */
export const UNIX_USER = /^(?!root$|watertight$|wt-)[a-z_][a-z0-9_-]{0,31}$/;

/** Hosts as the operator names them; never with a leading hyphen, which a program would read as an option. */
export const HOST_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?$/;

/** Host names and addresses to connect to; IPv6 without brackets, with a zone where it is link-local. */
export const CONNECT_ADDRESS = /^[A-Za-z0-9:][A-Za-z0-9._:%-]{0,252}$/;

/** Users of remote hosts; directories have them with dots and domains. */
export const REMOTE_USER = /^[A-Za-z0-9_][A-Za-z0-9._@-]{0,63}$/;

/** Bastion hosts as ssh -J takes them: `[user@]host[:port]`, several with commas between. */
export const JUMP = /^[A-Za-z0-9_[][A-Za-z0-9._@:[\],-]{0,1023}$/;

/** Methods of plain HTTP. A tunnel has none that could be told, so CONNECT is not among them. */
export const HTTP_METHOD = /^(?!CONNECT$)[A-Z][A-Z-]{0,31}$/;
