import { REASONS, type Reason } from './reasons.js';
import type { ProxyStatus } from './status.js';

type Labels = Readonly<Record<string, string>>;
type Sample = readonly [labels: Labels, value: number];

interface Metric {
  readonly name: string;
  readonly type: 'counter' | 'gauge';
  readonly help: string;
  readonly samples: (status: ProxyStatus) => readonly Sample[];
}

const one = (value: number): readonly Sample[] => [[{}, value]];
const seconds = (time: string): number => Date.parse(time) / 1000;

/** A reason that never came is there with 0, so that its first time is a rise. */
function decisions({ decisions: { allow, deny } }: ProxyStatus): readonly Sample[] {
  return (Object.keys(REASONS) as Reason[]).map((reason) => [
    { verdict: REASONS[reason].verdict, reason },
    allow[reason] ?? deny[reason] ?? 0,
  ]);
}

const METRICS: readonly Metric[] = [
  {
    name: 'info',
    type: 'gauge',
    help: 'The policy in force: its mode and the SHA-256 of its file.',
    samples: ({ policy }) => [[{ mode: policy.mode, policy_sha256: policy.digest ?? '' }, 1]],
  },
  { name: 'requests_total', type: 'counter', help: 'Requests by the reason of their decision.', samples: decisions },
  {
    name: 'connections',
    type: 'gauge',
    help: 'Open connections of clients.',
    samples: ({ open }) => one(open.connections),
  },
  { name: 'tunnels', type: 'gauge', help: 'Open tunnels.', samples: ({ open }) => one(open.tunnels) },
  {
    name: 'bytes_total',
    type: 'counter',
    help: 'Bytes of exchanges that are over, at the far side.',
    samples: ({ bytes }) => [
      [{ direction: 'up' }, bytes.up],
      [{ direction: 'down' }, bytes.down],
    ],
  },
  {
    name: 'lines_lost_total',
    type: 'counter',
    help: 'Decision lines that could not be written.',
    samples: ({ lines }) => one(lines.lost),
  },
  {
    name: 'policy_reloads_total',
    type: 'counter',
    help: 'Times the policy was read again, and whether it was taken.',
    samples: ({ policy: { reloads } }) => [
      [{ result: 'accepted' }, reloads.accepted],
      [{ result: 'refused' }, reloads.refused],
    ],
  },
  {
    name: 'policy_reload_refused',
    type: 'gauge',
    help: '1 where the last policy was refused, so that an older one is in force.',
    samples: ({ policy }) => one(policy.reloads.refusal === null ? 0 : 1),
  },
  {
    name: 'policy_read_timestamp_seconds',
    type: 'gauge',
    help: 'When the policy in force was read.',
    samples: ({ policy }) => one(seconds(policy.read)),
  },
  {
    name: 'start_timestamp_seconds',
    type: 'gauge',
    help: 'When the process started.',
    samples: ({ started }) => one(seconds(started)),
  },
  {
    name: 'resident_memory_bytes',
    type: 'gauge',
    help: 'Resident memory of the process.',
    samples: ({ memory }) => one(memory.resident_bytes),
  },
];

/** The status as Prometheus text, format 0.0.4. */
export function renderMetrics(status: ProxyStatus): string {
  const blocks = METRICS.map(({ name, type, help, samples }) => {
    const full = `watertight_proxy_${name}`;
    const lines = samples(status).map(
      ([labels, value]) => `${full}${renderLabels({ tenant: status.tenant, ...labels })} ${value}\n`,
    );
    return `# HELP ${full} ${help}\n# TYPE ${full} ${type}\n${lines.join('')}`;
  });
  return blocks.join('');
}

function renderLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return `{${pairs.join(',')}}`;
}

function escapeLabel(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
