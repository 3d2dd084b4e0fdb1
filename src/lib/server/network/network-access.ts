/** Network access of skills: requested domains, granted ones, and a proxy for each execution (D35). */
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { AppError } from '../../shared/errors.ts';
import { declaredDomains, matches, parseDomain } from '../skills/needs/hosts.ts';
import { type NetworkSession, skillIdOf } from '../skills/run/execution-host.ts';
import type { Skill } from '../skills/types.ts';
import type { NetworkGrants } from '../store/skills/choices.ts';
import type { AddressGuardOptions } from './addresses.ts';
import { openProxy, type ProxyOptions } from './proxy.ts';

/** What an execution may reach: domains, or all public addresses. */
export type Reach = 'public' | readonly string[];

/** Opens the proxy of one execution. */
export type OpenReach = (executionId: string, reach: Reach) => Promise<NetworkSession>;

export interface NetworkAccessOptions extends AddressGuardOptions {
	grants: NetworkGrants;
	/** For the proxies’ sockets, in `net/`: a folder that no other server uses. */
	ownDir: string;
	/** Default: `createProxies`. */
	openReach?: OpenReach | undefined;
	/** `false`: no network for skills, whatever was granted. */
	isEnabled: boolean | null;
}

export interface NetworkAccess {
	/** null without a granted domain. */
	openNetwork(skill: Skill, executionId: string): Promise<NetworkSession | null>;
	/** Access to all public addresses, for an execution of a built-in skill. */
	openPublic(executionId: string): Promise<NetworkSession>;
	declared(skill: Skill): string[];
	/** Sentences about invalid declarations. */
	problems(skill: Skill): string[];
	/** Domains that a script reaches through the proxy. */
	reachable(skill: Skill): Promise<string[]>;
	/** Granted domains, declared or not: a script may ask for one that its skill forgot. */
	granted(skillId: string): Promise<string[]>;
	/** Replaces the granted domains. @throws AppError `invalid_input` for an invalid domain */
	grant(skillId: string, domains: readonly string[], now: string): Promise<void>;
}

/** The maximum of macOS is 104 with the final NUL; Linux has 108. */
const MAX_SOCKET_PATH = 103;

/** Proxies with sockets in a folder of their own, which is emptied first. */
export function createProxies(folder: string, guard: AddressGuardOptions = {}): OpenReach {
	let swept: Promise<void> | undefined;
	/** Deletes leftovers of a killed server. */
	const sweep = () => (swept ??= rm(folder, { recursive: true, force: true }));

	return async (executionId, reach) => {
		const allows: ProxyOptions['allows'] = (host, port) =>
			reach === 'public' || reach.some((domain) => matches(domain, host, port));
		await sweep();
		const path = join(folder, executionId, 'proxy.sock');
		const isTooLong = Buffer.byteLength(path) > MAX_SOCKET_PATH;
		const own = isTooLong ? await mkdtemp(join(tmpdir(), 'net-')) : dirname(path);
		if (!isTooLong) {
			// Closed to other users.
			await mkdir(folder, { recursive: true, mode: 0o700 });
			await mkdir(own, { mode: 0o711 });
		}
		const proxy = await openProxy({ ...guard, socketPath: join(own, 'proxy.sock'), allows });
		// Containers mount this folder and run as another user.
		await chmod(own, 0o711);
		return {
			socket: proxy.socket,
			refused: () => proxy.refused(),
			unreached: () => proxy.unreached(),
			async close() {
				await proxy.close();
				await rm(own, { recursive: true, force: true });
			}
		};
	};
}

export function createNetworkAccess(options: NetworkAccessOptions): NetworkAccess {
	const { grants, ownDir, isEnabled, openReach, ...guard } = options;
	const open = openReach ?? createProxies(join(ownDir, 'net'), guard);
	const access: NetworkAccess = {
		async openNetwork(skill, executionId) {
			const domains = await access.reachable(skill);
			if (domains.length === 0) return null;
			return open(executionId, domains);
		},

		async reachable(skill) {
			return isEnabled === false ? [] : access.granted(skillIdOf(skill));
		},

		openPublic: (executionId) => open(executionId, 'public'),

		declared: (skill) => declaredDomains(skill).domains,
		problems: (skill) => declaredDomains(skill).problems,
		granted: (skillId) => grants.list(skillId),

		async grant(skillId, domains, now) {
			const parsed = domains.map(parseDomain);
			const bad = parsed.find(({ problem }) => problem !== undefined);
			if (bad?.problem !== undefined) throw new AppError('invalid_input', bad.problem);
			const names = parsed.flatMap(({ domain }) => domain ?? []);
			await grants.replace(skillId, names, now);
		}
	};
	return access;
}
