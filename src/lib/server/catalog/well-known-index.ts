/** `/.well-known/agent-skills/index.json`: finds it, and reads its two versions (FEATURES E27). */
import { z } from 'zod';
import { AppError } from '../../shared/errors.ts';
import { quoteEntry } from './entry-names.ts';
import { fetchJson, type Outbound } from './outbound.ts';

/** Version 0.2.0: one file or one archive, with its SHA-256. */
export interface DigestedSkill {
	name: string;
	type: 'skill-md' | 'archive';
	url: string;
	/** `sha256:` and 64 hexadecimal digits. */
	digest: string;
}

/** Version 0.1.0: files by name, with nothing to hold them against. */
export interface ListedSkill {
	name: string;
	type: 'files';
	/** Of the skill's folder, with `/` at its end. */
	url: string;
	files: string[];
}

export interface WellKnownIndex {
	skills: (DigestedSkill | ListedSkill)[];
	/** What was left out, in sentences. */
	notes: string[];
}

const MAX_INDEX_BYTES = 5 * 1024 * 1024;
/** As the Agent Skills specification has it. */
const NAME = /^(?=.{1,64}$)[a-z0-9]+(-[a-z0-9]+)*$/;
const SCHEMA = /^https:\/\/schemas\.agentskills\.io\/discovery\/0\.2\.\d+\//;

const digested = z.object({
	name: z.string(),
	type: z.enum(['skill-md', 'archive']),
	url: z.string().min(1).max(2048),
	digest: z.string().regex(/^sha256:[0-9a-f]{64}$/)
});
const listed = z.object({
	name: z.string(),
	files: z.array(z.string().min(1).max(1024)).min(1).max(1000)
});
const indexShape = z.object({ $schema: z.string().optional(), skills: z.array(z.unknown()) });

/**
 * Looks below the address, then at the top of its site; version 0.2.0 before 0.1.0.
 * @throws AppError `not_found` where there is none, `unavailable`, `invalid_input`
 */
export async function findIndex(
	outbound: Outbound,
	{ base, service }: { base: URL; service: string },
	signal: AbortSignal
): Promise<WellKnownIndex> {
	let problem: AppError | null = null;
	for (const folder of ['agent-skills', 'skills']) {
		for (const top of new Set([base.pathname.replace(/\/+$/, ''), ''])) {
			const url = new URL(`${top}/.well-known/${folder}/index.json`, base).href;
			const asked = { service, what: 'index of skills', maxBytes: MAX_INDEX_BYTES, signal };
			try {
				return readIndex(await fetchJson(outbound, url, indexShape, asked), url, service);
			} catch (error) {
				if (!(error instanceof AppError) || !isElsewhere(error)) throw error;
				problem ??= error.code === 'not_found' ? null : error;
			}
		}
	}
	throw (
		problem ??
		new AppError('not_found', `${service} publishes no skills.`, {
			hint: 'It has no /.well-known/agent-skills/index.json.'
		})
	);
}

/** Sites answer with status 404, or with their front page, for what they do not have. */
function isElsewhere(error: AppError): boolean {
	const isAnswer = error.details === undefined && error.code === 'unavailable' && error.cause instanceof z.ZodError;
	return error.code === 'not_found' || isAnswer;
}

function readIndex(
	{ $schema, skills: entries }: z.infer<typeof indexShape>,
	url: string,
	service: string
): WellKnownIndex {
	if ($schema !== undefined && !SCHEMA.test($schema)) {
		throw new AppError(
			'unavailable',
			`The index of ${service} has a format that is not known here: ${quoteEntry($schema)}.`,
			{
				hint: 'Version 0.2.0 is read, and 0.1.0 without a “$schema”.'
			}
		);
	}
	const skills = new Map<string, DigestedSkill | ListedSkill>();
	const notes: string[] = [];
	for (const [index, entry] of entries.entries()) {
		const skill = readEntry(entry, url);
		if (typeof skill === 'string') notes.push(`Entry ${index + 1} of the index was left out: ${skill}.`);
		else if (skills.has(skill.name))
			notes.push(`Entry ${index + 1} of the index was left out: ${skill.name} stands twice.`);
		else skills.set(skill.name, skill);
	}
	const shown = notes.slice(0, 5);
	if (notes.length > 5) shown.push(`${notes.length - 5} more entries were left out.`);
	return { skills: [...skills.values()], notes: shown };
}

/** A string says why it cannot be used. */
function readEntry(entry: unknown, index: string): DigestedSkill | ListedSkill | string {
	const old = listed.safeParse(entry);
	const skill = digested.safeParse(entry);
	const name = (skill.data ?? old.data)?.name;
	if (name === undefined) return problemOf(skill.error ?? old.error);
	if (!NAME.test(name)) return `${quoteEntry(name)} is no name of a skill`;
	if (!skill.success) {
		return { name, type: 'files', url: new URL(`${name}/`, index).href, files: old.data?.files ?? [] };
	}
	const url = URL.parse(skill.data.url, index);
	if (!url || !/^https?:$/.test(url.protocol)) return `${quoteEntry(skill.data.url)} is no address of a file`;
	return { ...skill.data, url: url.href };
}

function problemOf(error: z.ZodError | undefined): string {
	const [issue] = error?.issues ?? [];
	return issue ? `${issue.path.join('.') || 'it'} is missing or wrong` : 'it cannot be read';
}
