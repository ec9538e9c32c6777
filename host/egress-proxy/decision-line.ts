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
}

/** The account of one request: one decision line, then at most one end line. */
export interface Account {
  readonly decided: (outcome: Outcome) => void;
  readonly ended: (bytesUp: number, bytesDown: number) => void;
  readonly isDecided: () => boolean;
}

let serial = 0;

/** Opens the account of a request whose head is complete now. */
export function openAccount(subject: Subject, write: (line: string) => void): Account {
  const startedAt = performance.now();
  let outcome: Outcome | null = null;
  let over = false;
  serial += 1;
  const id = serial.toString(36);
  const line = (event: DecisionLine['event'], of: Outcome, bytesUp: number, bytesDown: number): void => {
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
      duration_ms: Math.round((performance.now() - startedAt) * 1000) / 1000,
      bytes_up: bytesUp,
      bytes_down: bytesDown,
    };
    write(JSON.stringify(entry));
  };
  return {
    decided: (decision) => {
      if (outcome !== null) return;
      outcome = decision;
      line('decision', decision, 0, 0);
    },
    ended: (bytesUp, bytesDown) => {
      if (outcome === null || over) return;
      over = true;
      line('end', outcome, bytesUp, bytesDown);
    },
    isDecided: () => outcome !== null,
  };
}
