import { setTimeout as delay } from 'node:timers/promises';
import { execa } from 'execa';
import t from 'tap';
import { labRestart } from '../../lab/restart.js';
import { onHost, useLab } from '../fixtures/lab.js';
import { copyOfProgram } from '../fixtures/program.js';

t.setTimeout(300_000);

const PROGRAM = copyOfProgram();
const HOST = 'lab-01';
const lab = await useLab();
const watertight = (command: string) =>
  execa(process.execPath, [PROGRAM, command, HOST, '--config', lab.inventory], { reject: false });

const run = () => onHost(lab, HOST, ['watertight', 'run', '--tenant', 'acme', '--', 'true']);
const bootId = async () => (await onHost(lab, HOST, ['cat', '/proc/sys/kernel/random/boot_id'])).stdout.toString();

t.test('a reboot: refused until proven anew, and proven anew by itself', async (t) => {
  t.equal((await watertight('provision')).exitCode, 0);
  t.equal((await run()).status, 0, 'launched before');
  const before = await bootId();
  const kept = (await onHost(lab, HOST, ['cat', '/run/watertight/attestation.json'])).stdout;
  await labRestart({ lab: lab.name, host: HOST });
  t.not(await bootId(), before, 'it is another boot');
  await onHost(lab, HOST, ['systemctl', 'stop', 'watertight-verify.service']);
  await onHost(lab, HOST, ['mkdir', '-p', '/run/watertight']);
  await onHost(lab, HOST, ['/bin/sh', '-c', 'cat >/run/watertight/attestation.json'], { input: kept });
  const refused = await run();
  t.equal(refused.status, 125, 'a proof of the boot before opens nothing');
  t.match(refused.stderr.toString(), /earlier boot|not been proven/);
  const unit = await onHost(lab, HOST, ['systemctl', 'start', 'watertight-verify.service']);
  t.equal(unit.status, 0, 'the unit that is enabled at boot proves it');
  t.equal((await run()).status, 0, 'and work is launched again');
  const verified = await watertight('verify');
  t.equal(verified.exitCode, 0, `rules, slices and proxy came up by themselves: ${verified.stdout.slice(-400)}`);
});

t.test('left alone after a reboot, work is launched again by itself', async (t) => {
  await labRestart({ lab: lab.name, host: HOST });
  let status: number | null = null;
  for (let waited = 0; waited < 60 && status !== 0; waited += 1) {
    status = (await run()).status;
    if (status !== 0) await delay(1000);
  }
  t.equal(status, 0);
});

t.test('nftables.service restarted or reloaded: the table is back', async (t) => {
  for (const verb of ['restart', 'reload']) {
    await onHost(lab, HOST, ['systemctl', 'start', 'nftables.service']);
    await onHost(lab, HOST, ['systemctl', verb, 'nftables.service']);
    for (let waited = 0; waited < 50; waited += 1) {
      if ((await onHost(lab, HOST, ['nft', 'list', 'table', 'inet', 'watertight'])).status === 0) break;
      await delay(100);
    }
    const verified = await watertight('verify');
    t.equal(verified.exitCode, 0, `after ${verb}: ${verified.stdout.slice(-400)}`);
  }
});
