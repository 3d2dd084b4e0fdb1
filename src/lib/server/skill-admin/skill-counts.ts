/** Where installed skills came from and whose they are, in memory: lists ask for thousands (FEATURES A41, E2). */
import type { SkillProvider, SkillUsage } from '../../shared/skills.ts';
import type { SkillRegistry } from '../skills/registry/registry.ts';
import { SYSTEM } from '../skills/registry/visibility.ts';
import type { InstallRecord, SkillInstalls } from '../store/skills/installs.ts';
import type { Store } from '../store/store.ts';

export interface InstallIndex {
	/** `skillId` is `source/name`; null for the version of one that is broken. `local` for what nobody installed. */
	providerOf(skillId: string, version: string | null): SkillProvider;
	/** Who alone sees the skills of a folder, by its label: an API key, or `system`. */
	ownerOf(source: string): string;
	/** The store's, for whoever installs: what is written there is known here when the write is done. */
	records: SkillInstalls;
}

/** Does a folder of this label belong to a key, whose name it does not say? */
export function isOwned(source: string): boolean {
	return /^key\.[0-9a-f]{24}$/.test(source);
}

export async function openInstallIndex({ skillInstalls }: Pick<Store, 'skillInstalls'>): Promise<InstallIndex> {
	/** Of each skill, the active ones. */
	const installs = new Map<string, InstallRecord[]>();
	const owners = new Map<string, string>();
	const keep = (record: InstallRecord) => {
		owners.set(sourceOf(record.skillId), record.owner);
		if (record.state !== 'active') return;
		// The lists of files are long, and nobody asks for them here.
		installs.set(record.skillId, [...(installs.get(record.skillId) ?? []), { ...record, files: [] }]);
	};
	const refresh = async (skillId: string): Promise<void> => {
		const records = await skillInstalls.list(skillId);
		installs.delete(skillId);
		for (const record of records) keep(record);
	};
	for (const record of await skillInstalls.list()) keep(record);
	return {
		providerOf(skillId, version) {
			const active = installs.get(skillId) ?? [];
			return (active.find((record) => record.version === version) ?? active[0])?.origin.provider ?? 'local';
		},
		// A folder of a key that is not known any more is not everybody's.
		ownerOf: (source) => owners.get(source) ?? (isOwned(source) ? source : SYSTEM),
		records: {
			...skillInstalls,
			async add(record, now) {
				await skillInstalls.add(record, now);
				await refresh(record.skillId);
			},
			async move(id, change, now) {
				await skillInstalls.move(id, change, now);
				const moved = await skillInstalls.get(id);
				if (moved) await refresh(moved.skillId);
			},
			async remove(id) {
				const removed = await skillInstalls.get(id);
				await skillInstalls.remove(id);
				if (removed) await refresh(removed.skillId);
			}
		}
	};
}

function sourceOf(skillId: string): string {
	return skillId.slice(0, skillId.lastIndexOf('/'));
}

// Tells pages when the library of skills has changed, or what somebody decided about one (FEATURES A33, E3).

export interface SkillRevisions {
	/** Differs whenever the list would. */
	current(): string;
	/** Somebody has changed a mode, a pin, or whom they trust. */
	note(): void;
	/** SSE frames: the revision at once, then each newer one; a slow reader sees only the newest. */
	follow(signal: AbortSignal): AsyncGenerator<string>;
}

export function createSkillRevisions(registry: Pick<SkillRegistry, 'snapshot' | 'onChange'>): SkillRevisions {
	let decisions = 0;
	const listeners = new Set<() => void>();
	const current = () => `${registry.snapshot().revision}.${decisions}`;
	return {
		current,
		note() {
			decisions += 1;
			for (const listener of listeners) listener();
		},
		async *follow(signal) {
			let sent = '';
			let wake = () => {};
			const onChange = () => wake();
			const stop = registry.onChange(onChange);
			listeners.add(onChange);
			signal.addEventListener('abort', onChange);
			try {
				while (!signal.aborted) {
					const revision = current();
					if (revision !== sent) {
						sent = revision;
						yield `data: ${JSON.stringify({ revision })}\n\n`;
						continue;
					}
					await new Promise<void>((resolve) => (wake = resolve));
				}
			} finally {
				stop();
				listeners.delete(onChange);
				signal.removeEventListener('abort', onChange);
			}
		}
	};
}

// How often each skill ran, counted in memory as executions end: a list asks for thousands (FEATURES B8, E2).

export interface SkillUsageCounts {
	/** Of all versions of `source/name`, or of `builtin/name`. */
	of(skillId: string): SkillUsage;
	/** One more that has ended. `startedAt` is ISO 8601. */
	count(skillId: string, execution: { startedAt: string; hasFailed: boolean }): void;
}

const NEVER: SkillUsage = Object.freeze({ executions: 0, failures: 0, lastUsedAt: null });

export async function openSkillUsage({ skillExecutions }: Pick<Store, 'skillExecutions'>): Promise<SkillUsageCounts> {
	const counts = await skillExecutions.usage();
	const of = (skillId: string): SkillUsage => counts.get(skillId) ?? NEVER;
	return {
		of,
		count(skillId, { startedAt, hasFailed }) {
			const { executions, failures } = of(skillId);
			counts.set(skillId, {
				executions: executions + 1,
				failures: failures + (hasFailed ? 1 : 0),
				lastUsedAt: startedAt
			});
		}
	};
}
