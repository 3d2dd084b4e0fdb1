/** Bubblewrap without root: limits count per sandbox, in its own user namespace. */
import { chmodSync, chownSync, mkdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createBubblewrapRig, type BubblewrapRig } from '../../../../tests/support/bubblewrap-rig.ts';
import { lacks } from '../../../../tests/support/sandbox-packages.ts';

/** Root's tests switch to this user. */
const user = { uid: 61_000, gid: 61_000 };
const isRoot = process.getuid?.() === 0;

let rig: BubblewrapRig;
beforeEach(() => {
	rig = createBubblewrapRig(isRoot ? { asUser: user } : {});
	if (!isRoot) return;
	chmodSync(rig.dir, 0o755);
	chownSync(rig.workspace, user.uid, user.gid);
	chmodSync(rig.workspace, 0o700);
});
afterEach(() => rig.close());

/** Forks until it's refused, prints how many, and keeps the children until the other script has its own. */
const FORKS = `my ($own, $other) = @ARGV; my $count = 0;
while ($count < 100) { my $child = fork(); last unless defined $child; if (!$child) { sleep 60; exit } $count++ }
open(my $file, '>', $own); close $file;
select(undef, undef, undef, 0.02) until -e $other;
print $count`;

describe.skipIf(lacks('bubblewrap'))('a server that is not root', () => {
	test('SANDBOX pitfall 2: the script is the server’s own user, in a user namespace without a capability', async () => {
		const { stdout } = await rig.run(
			'id -u; id -un; grep -E "^Cap(Eff|Bnd)" /proc/self/status; cat /proc/self/uid_map'
		);
		const uid = isRoot ? user.uid : process.getuid?.();
		const [id, name, effective, bound, namespace] = stdout.split('\n');
		expect([id, name]).toEqual([String(uid), 'skill']);
		expect(`${effective} ${bound}`).toMatch(/CapEff:\s+0{16} CapBnd:\s+0{16}/);
		expect(namespace).not.toBe(readlinkSync('/proc/self/ns/user'));
	});
	test('SANDBOX pitfall 9: it makes no more user namespaces', async () => {
		const result = await rig.run(
			'unshare --user true || echo refused; unshare --user --map-root-user id || echo refused'
		);
		expect(result.stdout).toBe('refused\nrefused\n');
	});
	test('SANDBOX pitfall 3: processes are counted for each sandbox alone', async () => {
		const limits = { processes: 20 };
		const forks = (own: string, other: string) =>
			rig.run('', { file: '/usr/bin/perl', args: ['-e', FORKS, own, other], limits });
		const counts = await Promise.all([forks('a', 'b'), forks('b', 'a')]);
		for (const { stdout } of counts) {
			expect(Number(stdout)).toBeGreaterThanOrEqual(10);
			expect(Number(stdout)).toBeLessThanOrEqual(20);
		}
	});
	test('SANDBOX: what belongs to its user inside cannot be filled either: only sized folders and the workspace', async () => {
		const script = `for dir in / /dev /etc /run /proc/sys/kernel /skill; do
			( echo x > $dir/x ) 2>/dev/null && echo "wrote $dir"; mkdir $dir/y 2>/dev/null && echo "made $dir/y"; done
			echo x > /workspace/x && echo x > /tmp/x && echo x > /dev/shm/x && echo fine; ls /proc/1/root/skill`;
		expect((await rig.run(script)).stdout).toBe('fine\nSKILL.md\n');
		expect(statSync(join(rig.workspace, 'x')).uid).toBe(isRoot ? user.uid : process.getuid?.());
	});
	test('SANDBOX pitfall 2: core_pattern cannot be written', async () => {
		const before = readFileSync('/proc/sys/kernel/core_pattern', 'utf8');
		await rig.run('echo x > /proc/sys/kernel/core_pattern');
		expect(readFileSync('/proc/sys/kernel/core_pattern', 'utf8')).toBe(before);
	});
	test('SANDBOX: a skill below a folder that only the server’s user may enter is there', async () => {
		const closed = join(rig.workspace, 'closed');
		mkdirSync(join(closed, 'skill'), { recursive: true });
		if (isRoot) for (const path of [closed, join(closed, 'skill')]) chownSync(path, user.uid, user.gid);
		chmodSync(closed, 0o700);
		const folders = { workspace: rig.workspace, skill: join(closed, 'skill') };
		expect(await rig.run('cd /skill && pwd', { folders })).toMatchObject({ stdout: '/skill\n', exitCode: 0 });
	});
});
