import ssh2, {
  BaseAgent,
  type IdentityCallback,
  type KnownPublicKeys,
  type ParsedKey,
  type SignCallback,
  type SigningRequestOptions,
} from 'ssh2';

type PublicKey = string | Buffer | ParsedKey;

/**
 * An agent whose failures are not the connection's: ssh2 reports an agent that is gone as an error of the client, and
 * node-ssh gives up at the first one although other methods follow.
 */
export class Agent extends BaseAgent<PublicKey> {
  readonly #agent: BaseAgent;
  readonly #only: readonly Buffer[] | null;

  /** `only`: the keys that may be offered; null for all. */
  constructor(socket: string, only: readonly Buffer[] | null) {
    super();
    this.#agent = ssh2.createAgent(socket);
    this.#only = only;
  }

  override getIdentities(callback: IdentityCallback<PublicKey>): void {
    this.#agent.getIdentities((error, keys) => {
      const offered = error ? [] : (keys ?? []);
      callback(null, this.#only === null ? offered : offered.filter((key) => this.#allows(key)));
    });
  }

  override sign(
    key: PublicKey,
    data: Buffer,
    options: SigningRequestOptions | SignCallback,
    callback?: SignCallback,
  ): void {
    if (typeof options === 'function') this.#agent.sign(key, data, options);
    else this.#agent.sign(key, data, options, callback);
  }

  #allows(key: KnownPublicKeys[number]): boolean {
    const bare = typeof key === 'object' && 'pubKey' in key ? key.pubKey : key;
    const parsed = ssh2.utils.parseKey(typeof bare === 'object' && 'pubKey' in bare ? bare.pubKey : bare);
    return !(parsed instanceof Error) && (this.#only ?? []).some((allowed) => allowed.equals(parsed.getPublicSSH()));
  }
}
