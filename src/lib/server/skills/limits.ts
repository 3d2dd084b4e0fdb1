/** How much a skill's processes may use: what the skill asks for, within the host's maximum (FEATURES D10; pure). */
import type { SandboxLimits } from '../sandbox/sandbox.ts';
import type { Skill } from './types.ts';

/** The longest that any call may ask for (D10). */
export const MAX_TIMEOUT_MS = 300_000;

const UNITS: Record<string, number> = { ms: 0.001, s: 1, m: 60, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 };

/** `metadata` keys of a skill, and the unit of a bare number. */
const WISHES: { key: string; limit: keyof SandboxLimits; unit: number }[] = [
	{ key: 'memory', limit: 'memoryBytes', unit: 1024 ** 2 },
	{ key: 'processes', limit: 'processes', unit: 1 },
	{ key: 'file-size', limit: 'fileBytes', unit: 1024 ** 2 },
	{ key: 'open-files', limit: 'openFiles', unit: 1 },
	{ key: 'cpu', limit: 'cpuSeconds', unit: 1 }
];

/** Limits of one skill: `metadata.memory: 256mb`, `processes`, `file-size`, `open-files`, `cpu` (seconds), each at most the host's. */
export function limitsOf({ metadata }: Pick<Skill, 'metadata'>, most: SandboxLimits): SandboxLimits {
	const limits = { ...most };
	for (const { key, limit, unit } of WISHES) {
		const wish = readAmount(metadata[key], unit);
		if (wish !== null) limits[limit] = Math.max(1, Math.min(most[limit], Math.floor(wish)));
	}
	return limits;
}

/** Milliseconds: what the call asks for, else `metadata.timeout` (`90s`, `2m`, a number of seconds), else the host's default. */
export function timeoutOf({ metadata }: Pick<Skill, 'metadata'>, asked: number | undefined, standard: number): number {
	const wish = readAmount(metadata.timeout, 1);
	return Math.min(asked ?? (wish === null ? standard : Math.max(100, wish * 1000)), MAX_TIMEOUT_MS);
}

function readAmount(text: string | undefined, unit: number): number | null {
	const match = /^\s*(\d{1,12}(?:\.\d{1,6})?)\s*([a-z]{0,2})\s*$/i.exec(text ?? '');
	if (!match) return null;
	const factor = match[2] ? UNITS[match[2].toLowerCase()] : unit;
	return factor === undefined ? null : Number(match[1]) * factor;
}
