import { REASONS, type Reason } from './reasons.js';

/** One line of the audit, as JSON. Every key is always there, in this order. */
export interface DecisionLine {
  /** `decision`: exactly one a request. `end`: when an exchange that reached the far side is over. */
  readonly event: 'decision' | 'end';
  /** Joins an end to its decision; unique in the process. */
  readonly id: string;
  readonly time: string;
  readonly tenant: string;
  readonly client: string;
  readonly method: string;
  readonly host: string;
  readonly port: number;
  readonly address: string;
  readonly verdict: 'allow' | 'deny';
  readonly reason: Reason;
  readonly rule: string;
  /** 0 where the client left before an answer. */
  readonly status: number;
  /** From the complete request head to this line. */
  readonly duration_ms: number;
  readonly bytes_up: number;
  readonly bytes_down: number;
  /** Of `duration_ms`: resolving the name; 0 where nothing was resolved. */
  readonly dns_ms: number;
  /** Of `duration_ms`: connecting to the far side; 0 where that was not tried. */
  readonly connect_ms: number;
  /** How the exchange ended; empty in a decision. */
  readonly ended: Ending | '';
}

/** `closed`: both sides were done. `reset`: one of them broke off. `idle`: it was silent for too long. */
export type Ending = 'closed' | 'reset' | 'idle';

/** Where the time before an answer went, in ms. */
export interface Spent {
  readonly dnsMs: number;
  readonly connectMs: number;
}

/** What is known of a request when its head has been read. */
export interface Subject {
  readonly tenant: string;
  readonly client: string;
  readonly method: string;
  readonly host: string;
  readonly port: number;
}

/** What was decided. */
export interface Outcome {
  readonly reason: Reason;
  readonly rule: string;
  readonly address: string;
  readonly status: number;
  /** Absent where nothing was looked up or connected to. */
  readonly spent?: Spent;
}

/** Who counts. */
export interface Tally {
  readonly decided: (reason: Reason) => void;
  readonly ended: (bytesUp: number, bytesDown: number) => void;
}

/** The account of one request: one decision line, then at most one end line. */
export interface Account {
  readonly decided: (outcome: Outcome) => void;
  readonly ended: (bytesUp: number, bytesDown: number, ending: Ending) => void;
  readonly isDecided: () => boolean;
}

let serial = 0;

/** Opens the account of a request whose head is complete now. */
export function openAccount(subject: Subject, write: (line: string) => void, tally: Tally): Account {
  const startedAt = performance.now();
  let outcome: Outcome | null = null;
  let over = false;
  serial += 1;
  const id = serial.toString(36);
  const line = (event: DecisionLine['event'], of: Outcome, bytesUp: number, bytesDown: number, ended: Ending | '') => {
    const entry: DecisionLine = {
      event,
      id,
      time: new Date().toISOString(),
      tenant: subject.tenant,
      client: subject.client,
      method: subject.method,
      host: subject.host,
      port: subject.port,
      address: of.address,
      verdict: REASONS[of.reason].verdict,
      reason: of.reason,
      rule: of.rule,
      status: of.status,
      duration_ms: micros(performance.now() - startedAt),
      bytes_up: bytesUp,
      bytes_down: bytesDown,
      dns_ms: micros(of.spent?.dnsMs ?? 0),
      connect_ms: micros(of.spent?.connectMs ?? 0),
      ended,
    };
    write(JSON.stringify(entry));
  };
  return {
    decided: (decision) => {
      if (outcome !== null) return;
      outcome = decision;
      tally.decided(decision.reason);
      line('decision', decision, 0, 0, '');
    },
    ended: (bytesUp, bytesDown, ending) => {
      if (outcome === null || over) return;
      over = true;
      tally.ended(bytesUp, bytesDown);
      line('end', outcome, bytesUp, bytesDown, ending);
    },
    isDecided: () => outcome !== null,
  };
}

/** Milliseconds with three places. */
function micros(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
