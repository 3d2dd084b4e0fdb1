/** Facts about skills kept in memory for long lists: origin and owner, usage, and revisions (A33, A41, B8, E2, E3). */
import { HEALTH_WEEKS, type SkillHealth, type SkillProvider, type SkillUsage } from '../../shared/skills.ts';
import { createLine } from '../../shared/in-turn.ts';
import type { SkillRegistry } from '../skills/registry/registry.ts';
import { isOwned, SYSTEM } from '../skills/registry/visibility.ts';
import type { InstallRecord, SkillInstalls } from '../store/skills/installs.ts';
import type { Store } from '../store/store.ts';

export interface InstallIndex {
	/** `skillId` is `source/name`; `version` is null if broken. If not installed, `bundled` or `local`. */
	providerOf(skillId: string, version: string | null): SkillProvider;
	/** Owner of a folder, by its label: an API key, or `system`. */
	ownerOf(source: string): string;
	/** The store’s records for the installer; writes update this index. */
	records: SkillInstalls;
	/** After another server has changed them. */
	readAgain(): Promise<void>;
}

/** Skills that come with the app. In a clone, people's own are made in the same folder. */
export const BUNDLED_SKILLS = [
	'code-review',
	'count-words',
	'data-analysis',
	'deploy',
	'discord',
	'pdf',
	'skill-creator',
	'spreadsheets',
	'weather',
	'web-pages'
];

/** `bundled` is the label of the app's own folder of skills, if it is in use. */
export async function openInstallIndex(
	{ skillInstalls }: Pick<Store, 'skillInstalls'>,
	bundled?: string
): Promise<InstallIndex> {
	let installs = new Map<string, InstallRecord[]>();
	const bundledIds = bundled === undefined ? [] : BUNDLED_SKILLS.map((name) => `${bundled}/${name}`);
	const owners = new Map<string, string>();
	/** Reads one after the other, so that an earlier one never replaces a later one. */
	const inTurn = createLine();
	const keep = (record: InstallRecord) => {
		owners.set(record.skillId.slice(0, record.skillId.lastIndexOf('/')), record.owner);
		if (record.state !== 'active') return;
		// File lists are long and not needed here.
		installs.set(record.skillId, [...(installs.get(record.skillId) ?? []), { ...record, files: [] }]);
	};
	const refresh = (skillId: string): Promise<void> =>
		inTurn(async () => {
			const records = await skillInstalls.list(skillId);
			installs.delete(skillId);
			for (const record of records) keep(record);
		});
	const readAgain = (): Promise<void> =>
		inTurn(async () => {
			const records = await skillInstalls.list();
			installs = new Map();
			for (const record of records) keep(record);
		});
	await readAgain();
	return {
		readAgain,
		providerOf(skillId, version) {
			const active = installs.get(skillId) ?? [];
			const installed = active.find((record) => record.version === version) ?? active[0];
			return installed?.origin.provider ?? (bundledIds.includes(skillId) ? 'bundled' : 'local');
		},
		// The folder of an unknown key stays private.
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

/** Tells pages when the library, or a decision about a skill, has changed. */
export function createSkillRevisions(registry: Pick<SkillRegistry, 'snapshot' | 'onChange'>) {
	let decisions = 0;
	const listeners = new Set<() => void>();
	const current = () => `${registry.snapshot().revision}.${decisions}`;
	return {
		/** Changes whenever the list does. */
		current,
		/** Call after a change of mode, pin or trust. */
		note(): void {
			decisions += 1;
			for (const listener of listeners) listener();
		},
		/** SSE frames: the current revision, then newer ones. A slow reader gets only the newest. */
		async *follow(signal: AbortSignal): AsyncGenerator<string> {
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

export type SkillRevisions = ReturnType<typeof createSkillRevisions>;

export interface SkillUsageCounts {
	/** All versions of `source/name`, or `builtin/name`. */
	of(skillId: string): SkillUsage;
	/** Counts an ended execution. `startedAt` is ISO 8601. */
	count(skillId: string, execution: { startedAt: string; hasFailed: boolean }): void;
	/** After another server has counted. */
	readAgain(): Promise<void>;
}

const NEVER: SkillUsage = Object.freeze({ executions: 0, failures: 0, lastUsedAt: null });

export async function openSkillUsage({ skillExecutions }: Pick<Store, 'skillExecutions'>): Promise<SkillUsageCounts> {
	let counts = await skillExecutions.usage();
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
		},
		async readAgain() {
			counts = await skillExecutions.usage();
		}
	};
}

const DAY_MS = 24 * 60 * 60_000;

/** `now`: ISO 8601. */
export async function healthOf(
	{ skillExecutions }: Pick<Store, 'skillExecutions'>,
	skillId: string,
	now: string
): Promise<SkillHealth> {
	const dayAt = (time: number) => new Date(time).toISOString().slice(0, 10);
	const starts = Array.from({ length: HEALTH_WEEKS }, (_, at) => {
		return dayAt(Date.parse(now) - (7 * (HEALTH_WEEKS - at) - 1) * DAY_MS);
	});
	const { days, answers } = await skillExecutions.health(skillId, starts[0] ?? '');
	const weeks = starts.map((since, at) => {
		const until = starts[at + 1];
		const within = days.filter(({ day }) => day >= since && (until === undefined || day < until));
		const count = (some: typeof days) => some.reduce((sum, { runs }) => sum + runs, 0);
		return { since, runs: count(within), failures: count(within.filter(({ status }) => status !== 'success')) };
	});
	return { weeks, answers };
}
