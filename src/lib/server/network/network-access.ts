/** Which hosts a skill wants to reach, which of them somebody granted, and the way out for one execution (FEATURES D35). */
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { AppError } from '../../shared/errors.ts';
import { skillIdOf, type NetworkSession } from '../skills/execution-host.ts';
import type { Skill } from '../skills/types.ts';
import type { NetworkGrants } from '../store/network-grants.ts';
import type { AddressGuardOptions } from './address-guard.ts';
import { matches, parseDomain, parseDomains, type DeclaredDomains } from './domains.ts';
import { openProxy } from './proxy.ts';

export interface NetworkAccessOptions extends AddressGuardOptions {
	grants: NetworkGrants;
	/** The proxies' sockets live there, in `net/`. */
	dataDir: string;
	/** `false`: no skill has a network, whatever was granted. */
	isEnabled: boolean | null;
}

export interface NetworkAccess {
	/** Null for a skill that has nothing declared which is granted. */
	openNetwork(skill: Skill, executionId: string): Promise<NetworkSession | null>;
	/** A way to every public address, for one execution of a built-in skill. */
	openPublic(executionId: string): Promise<NetworkSession>;
	declared(skill: Skill): string[];
	/** Sentences about what a skill declares in a way that cannot be granted. */
	problems(skill: Skill): string[];
	/** What a skill was granted, also what it no longer declares. */
	granted(skillId: string): Promise<string[]>;
	/** These and no others. @throws AppError `invalid_input` for what is no domain */
	grant(skillId: string, domains: readonly string[], now: string): Promise<void>;
}

/** The longest path of a unix socket on Linux, less one; macOS has 104. */
const MAX_SOCKET_PATH = 103;

export function createNetworkAccess({ grants, dataDir, isEnabled, ...guard }: NetworkAccessOptions): NetworkAccess {
	const folder = join(dataDir, 'net');
	let swept: Promise<void> | undefined;
	/** What a server that was killed has left there. */
	const sweep = () => (swept ??= rm(folder, { recursive: true, force: true }));

	const open = async (
		executionId: string,
		allows: (host: string, port: number) => boolean
	): Promise<NetworkSession> => {
		await sweep();
		const path = join(folder, executionId, 'proxy.sock');
		const isTooLong = Buffer.byteLength(path) > MAX_SOCKET_PATH;
		const own = isTooLong ? await mkdtemp(join(tmpdir(), 'net-')) : dirname(path);
		if (!isTooLong) {
			// No other user of this machine comes past the outer folder.
			await mkdir(folder, { recursive: true, mode: 0o700 });
			await mkdir(own, { mode: 0o711 });
		}
		const proxy = await openProxy({ ...guard, socketPath: join(own, 'proxy.sock'), allows });
		// A container is shown the folder, and its user is another one.
		await chmod(own, 0o711);
		return {
			socket: proxy.socket,
			refused: () => proxy.refused(),
			async close() {
				await proxy.close();
				await rm(own, { recursive: true, force: true });
			}
		};
	};

	const access: NetworkAccess = {
		async openNetwork(skill, executionId) {
			const declared = access.declared(skill);
			if (isEnabled === false || declared.length === 0) return null;
			const granted = new Set(await access.granted(skillIdOf(skill)));
			const domains = declared.filter((domain) => granted.has(domain));
			if (domains.length === 0) return null;
			return open(executionId, (host, port) => domains.some((domain) => matches(domain, host, port)));
		},

		openPublic: (executionId) => open(executionId, () => true),

		declared: (skill) => declarationOf(skill).domains,
		problems: (skill) => declarationOf(skill).problems,
		granted: (skillId) => grants.list(skillId),

		async grant(skillId, domains, now) {
			const parsed = domains.map(parseDomain);
			const bad = parsed.find(({ problem }) => problem !== undefined);
			if (bad?.problem !== undefined) throw new AppError('invalid_input', bad.problem);
			await grants.replace(
				skillId,
				parsed.flatMap(({ domain }) => domain ?? []),
				now
			);
		}
	};
	return access;
}

/** `metadata.network`: a text, or where a skill has it so a list (a key `metadata.network` of its own counts too). */
function declarationOf({ metadata, extra }: Skill): DeclaredDomains {
	return parseDomains(metadata.network ?? extra['metadata.network']);
}
