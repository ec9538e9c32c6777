import { absent, atLeast, cannotTell, matchOf, present, provisionFix, type Question, unclear } from './question.js';

interface Tool {
  readonly id: string;
  readonly name: string;
  readonly question: string;
  /** What prints its version. */
  readonly look: string;
  /** Finds the version in what the tool says of itself. */
  readonly pattern: RegExp;
  /** Oldest that was measured to do what is asked of it. */
  readonly minimum: string;
}

const TOOLS: readonly Tool[] = [
  {
    id: 'nftables',
    name: 'nftables',
    question: 'Is nft there, in a version that knows verdict maps by cgroup?',
    look: 'nft --version',
    pattern: /^nftables v(\d+(?:\.\d+)+)/,
    minimum: '1.0.6',
  },
  {
    id: 'node',
    name: '/usr/bin/node',
    question: 'Is there a Node that runs the installed program?',
    look: '/usr/bin/node --version',
    pattern: /^v(\d+\.\d+\.\d+)$/,
    minimum: '18.19',
  },
  {
    id: 'python3',
    name: 'python3',
    question: 'Is python3 there, which makes the attempts that Node cannot?',
    look: 'python3 --version',
    pattern: /^Python (\d+\.\d+\.\d+)/,
    minimum: '3.11',
  },
  {
    id: 'iproute2',
    name: 'ip',
    question: 'Is iproute2 there, which lists the own addresses?',
    look: 'ip -V',
    pattern: /^ip utility, iproute2-(\d+(?:\.\d+)+)/,
    minimum: '6.1',
  },
];

function toolQuestion({ id, name, question, look, pattern, minimum }: Tool): Question {
  return {
    id,
    question,
    neededFor: ['verify'],
    fix: provisionFix,
    look,
    judge(outputs) {
      const output = outputs.get('version');
      if (output?.kind === 'no-tool') return absent('', `${name} is not installed`);
      const version = matchOf(output, pattern)?.[1];
      if (version === undefined) return unclear(name, output);
      if (atLeast(version, minimum)) return present(version, `${name} is there`);
      return absent(version, `${name} is older than ${minimum}`);
    },
  };
}

/** What nft prints where the kernel, not nft, refused the rule (netlink's ENOENT and EOPNOTSUPP: no such expression). */
const KERNEL_REFUSED = /Could not process rule: (?:No such file or directory|Operation not supported)/;

const nftCgroup: Question = {
  id: 'nft-cgroup',
  question: 'Does the kernel take a rule by cgroup?',
  neededFor: ['verify'],
  fix: () =>
    'boot a kernel with CONFIG_NFT_SOCKET and CONFIG_SOCK_CGROUP_DATA (apt-get install linux-image-amd64, then reboot)',
  look: 'nft list ruleset',
  judge(outputs) {
    const control = outputs.get('control');
    const rule = outputs.get('rule');
    const version = outputs.get('version');
    if (version?.kind === 'no-tool') return { ...unclear('nft', version), fix: provisionFix };
    // Silence means that the rule was taken only from an nft that is one.
    if (matchOf(version, /^nftables v\d/) === null) return unclear('nft', version);
    // Without the control, a refusal may mean no permission, or an nft that is none.
    if (control?.kind !== 'said' || control.status !== 0 || control.text !== '') return unclear('nft', control);
    if (rule?.kind !== 'said') return unclear('nft', rule);
    if (rule.status === 0 && rule.text === '') return present('', 'the kernel takes a rule by cgroup');
    if (KERNEL_REFUSED.test(rule.text)) return absent('', 'the kernel takes a plain rule and refuses one by cgroup');
    if (rule.text.includes('syntax error')) return cannotTell('this nft knows no rules by cgroup', '', provisionFix);
    return unclear('nft', rule);
  },
};

/** The programs that verification calls. */
export const TOOL_QUESTIONS: readonly Question[] = [...TOOLS.map(toolQuestion), nftCgroup];
