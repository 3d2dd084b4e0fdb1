/** What is offered for a name that somebody has begun to write. Pure (FEATURES F7). */
import type { WorkspaceFile } from '../shared/api.ts';
import type { SkillSummary } from '../shared/skills.ts';
import type { ComposerCommand } from './commands.ts';
import type { Token } from './completion-token.ts';
import { rankBy } from './fuzzy.ts';

interface Offer {
	/** Within one list no other has it. */
	key: string;
	/** With its sign. */
	label: string;
	name: string;
	description: string;
	/** Why it cannot be chosen; null when it can. */
	obstacle: string | null;
}

export type Completion =
	| (Offer & { kind: 'command'; command: ComposerCommand })
	| (Offer & { kind: 'skill' })
	| (Offer & { kind: 'file'; file: Pick<WorkspaceFile, 'path' | 'bytes'> });

export interface CompletionSources {
	commands: readonly ComposerCommand[];
	skills: readonly Pick<SkillSummary, 'id' | 'name' | 'description' | 'status' | 'mode'>[];
	files: readonly Pick<WorkspaceFile, 'path' | 'bytes'>[];
}

/** Of more than these somebody writes another letter. */
const MOST = 50;
/** Fewer letters begin some word of every description. */
const MIN_IN_DESCRIPTION = 3;

/** Best first; what cannot be chosen comes last. A slash finds commands, and then skills. */
export function completionsFor({ trigger, query }: Token, sources: CompletionSources): Completion[] {
	if (trigger === 'file') return find(sources.files.map(fileOf), query).slice(0, MOST);
	const skills = find(sources.skills.map(skillOf), query);
	const inOrder = [...skills.filter(isFree), ...skills.filter((skill) => !isFree(skill))];
	if (trigger === 'skill') return inOrder.slice(0, MOST);
	return [...find(sources.commands.map(commandOf), query), ...inOrder].slice(0, MOST);
}

/** Names first, then descriptions. Letters may be left out of a name, but not the first one of a word: Enter would choose it. */
function find(all: readonly Completion[], query: string): Completion[] {
	const wanted = query.toLowerCase();
	const named = rankBy(
		all.filter(
			({ name }) => name.toLowerCase().includes(wanted) || wordsOf(name).some((word) => word[0] === wanted[0])
		),
		query,
		({ name }) => name
	);
	if (wanted.length < MIN_IN_DESCRIPTION) return named;
	const described = all.filter(({ description }) => wordsOf(description).some((word) => word.startsWith(wanted)));
	return [...named, ...described.filter((completion) => !named.includes(completion))];
}

function wordsOf(text: string): string[] {
	return text.toLowerCase().split(/[^\p{L}\p{N}]+/u);
}

function isFree({ obstacle }: Offer): boolean {
	return obstacle === null;
}

function commandOf(command: ComposerCommand): Completion {
	const { name, description } = command;
	return { kind: 'command', key: `/${name}`, label: `/${name}`, name, description, obstacle: null, command };
}

function skillOf({ id, name, description, status, mode }: CompletionSources['skills'][number]): Completion {
	const obstacle = status === 'broken' ? 'broken' : mode === 'off' ? 'off' : null;
	return { kind: 'skill', key: `$${id}`, label: `$${name}`, name, description, obstacle };
}

function fileOf(file: CompletionSources['files'][number]): Completion {
	const { path } = file;
	return { kind: 'file', key: `@${path}`, label: path, name: path, description: '', obstacle: null, file };
}
