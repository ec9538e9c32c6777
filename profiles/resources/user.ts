import type { ProfileUser } from '../profile.js';
import { type Change, type Operation, run } from './change.js';
import type { UserFact } from './facts.js';

const HOME = '/nonexistent';
const SHELL = '/usr/sbin/nologin';

/** useradd(8) and userdel(8): the account is there already, or not there any more. */
const ALREADY_THERE = 9;
const NOT_THERE = 6;

export type UserAnswer =
  | { readonly kind: 'change'; readonly change: Change }
  | { readonly kind: 'none' }
  /** The account is something that provision must not touch. */
  | { readonly kind: 'conflict'; readonly reason: string };

/**
 * A system user without a login, a home or a group besides its own.
 * @param wasOurs the note on the host names it
 */
export function compareUser(fact: UserFact, desired: ProfileUser, wasOurs: boolean): UserAnswer {
  if (fact.kind === 'absent') return { kind: 'change', change: createUser(desired, wasOurs) };
  // uid 0 passes every rule that looks at the user; to mend or remove such an account by itself could lock root out.
  if (fact.uid === 0) return { kind: 'conflict', reason: `the account ${desired.name} has uid 0` };
  const mends = mendsOf(fact, desired);
  if (mends.length === 0) return { kind: 'none' };
  const change: Change = {
    id: `user:${desired.name}`,
    kind: 'user',
    stage: 'users',
    summary: `mend the user ${desired.name} (${mends.map(({ words }) => words).join(', ')})`,
    diff: null,
    operations: mends.map(({ operation }) => operation),
    undo: mends.map(({ undo }) => undo),
    settle: [],
    kept: [],
  };
  return { kind: 'change', change };
}

function createUser(desired: ProfileUser, wasOurs: boolean): Change {
  const { name } = desired;
  return {
    id: `user:${name}`,
    kind: 'user',
    stage: 'users',
    summary: `create the system user ${name}`,
    diff: null,
    operations: [addUser(name, desired.comment)],
    // One that was missing on a provisioned host stays: the ruleset and the files that a rollback puts back name it.
    undo: wasOurs ? [] : [run(['userdel', '--', name], { accept: [NOT_THERE] })],
    settle: [],
    kept: wasOurs ? [`the user ${name} stays`] : [],
  };
}

const ACCOUNT = ['--system', '--user-group', '--no-create-home', '--home-dir', HOME, '--shell', SHELL] as const;

function addUser(name: string, comment: string): Operation {
  return run(['useradd', ...ACCOUNT, '--comment', comment, '--', name]);
}

function addAgain(name: string, comment: string, uid: number): Operation {
  const command = ['useradd', ...ACCOUNT, '--comment', comment, '--uid', String(uid), '--', name] as const;
  return run(command, { accept: [ALREADY_THERE] });
}

interface Mend {
  readonly words: string;
  readonly operation: Operation;
  readonly undo: Operation;
}

function mendsOf(fact: Extract<UserFact, { kind: 'present' }>, desired: ProfileUser): readonly Mend[] {
  const modify = (option: string, value: string) => run(['usermod', option, value, '--', desired.name]);
  const mends: Mend[] = [];
  const mend = (words: string, option: string, is: string, shall: string) => {
    if (is !== shall) mends.push({ words, operation: modify(option, shall), undo: modify(option, is) });
  };
  mend(`shell ${fact.shell} to ${SHELL}`, '--shell', fact.shell, SHELL);
  mend(`home ${fact.home} to ${HOME}`, '--home', fact.home, HOME);
  mend('comment', '--comment', fact.comment, desired.comment);
  const [primary = '', ...others] = fact.groups;
  mend(`group ${primary}`, '--gid', primary, desired.name);
  // A group opens what it owns: docker's socket is root on the host.
  mend(`leaves the groups ${others.join(' ')}`, '--groups', others.join(','), '');
  return mends;
}

/** The change that takes away an account that was ours. It comes back with its old uid where the run is undone. */
export function removeUser(name: string, fact: UserFact): Change | null {
  if (fact.kind === 'absent' || fact.uid === 0) return null;
  return {
    id: `user:${name}`,
    kind: 'user',
    stage: 'removal',
    summary: `remove the user ${name}`,
    diff: null,
    operations: [run(['userdel', '--', name], { accept: [NOT_THERE] })],
    undo: [addAgain(name, fact.comment, fact.uid)],
    settle: [],
    kept: [],
  };
}
