/** Tools that the agent defines in a chat: approved, kept with the chat, made skills when wanted (D25, D26, F8). */
import { hash, randomUUID } from 'node:crypto';
import { basename, join } from 'node:path';
import { done, failed, type ToolAnswer } from '../skills/call/tools.ts';
import { plainLine } from '../../shared/characters.ts';
import { AppError } from '../../shared/errors.ts';
import type { ApprovalRequest } from '../../shared/events.ts';
import { createLine, createLines, type Exclusively } from '../../shared/in-turn.ts';
import type { DefinedTool } from '../../shared/install.ts';
import { CHAT_SOURCE } from '../../shared/names.ts';
import type { Approval } from '../../shared/message.ts';
import { copyFolder, isThere, removeFolder } from '../foreign-folders.ts';
import { problemOnWindows } from '../safe-path.ts';
import { DEFINE_TOOL, type SkillFiles } from '../skills/make/templates.ts';
import { DEFINE, nameTaken, planTool, REMOVE, writeFiles } from '../skills/make/workshop.ts';
import { scanRoots } from '../skills/read/scanner.ts';
import { isBuiltInTool, type IsReserved } from '../skills/read/tool-names.ts';
import type { SkillRegistry } from '../skills/registry/registry.ts';
import { skillIdOf } from '../skills/run/execution-host.ts';
import { type Skill, SkillError, type ToolDefinition } from '../skills/types.ts';
import type { Store } from '../store/store.ts';
import { readFolder } from '../trust/folder.ts';
import { scanFiles } from '../trust/scan/scan.ts';
import { changesOf, keptFiles, type Trust } from '../trust/trust.ts';
import type { Fetch, Installer } from './catalog-installer.ts';
import { definitionsAt, digestOf, entriesOf, type Plan } from './definitions.ts';
import { SWAPS, swapFolder } from './folder-swap.ts';
import { fetchFiles } from './sources/upload.ts';
import { findingsShown } from './skill-requests.ts';

export interface DefinedToolsOptions {
	/** Where a conversation's tools are; the folder may not exist. */
	folderOf(conversationId: string): string;
	registry: Pick<SkillRegistry, 'snapshot'>;
	installer: Pick<Installer, 'install' | 'remove'>;
	trust: Pick<Trust, 'trust'>;
	store: Pick<Store, 'trustedSkills' | 'conversationSkills' | 'skillInstalls' | 'messages'>;
	/** Names of tools that are the server's. */
	isReserved: IsReserved;
	isEnabled(): boolean;
	/** Brings the folder before `work`, and stores it after a change. Default: only this server has it. */
	around?: AroundFolder;
	/** Called after a conversation's folder was removed. */
	removed?(conversationId: string): Promise<void>;
	/** Default: this server is alone. */
	exclusively?: Exclusively;
	/** ISO 8601. */
	now(): string;
}

/** Runs what reads or changes the folder of a conversation. */
export type AroundFolder = <Result>(
	conversationId: string,
	how: 'read' | 'change',
	work: () => Promise<Result>
) => Promise<Result>;

/** Whose turn it is. */
export interface DefinedToolsOffer {
	/** Only where a person answers: none without a conversation, for a key, or for another agent. */
	conversationId?: string | undefined;
	apiKeyId?: string | undefined;
	isProgram?: boolean | undefined;
	/** Names of built-in tools that the request allows; default: all. */
	only?: readonly string[] | undefined;
	/** The request names the skills it allows. */
	isLimited?: boolean;
}

interface DefinedToolsOfTurn {
	tools(): ToolDefinition[];
	has(name: string): boolean;
	/** One after the other: each call sees what the one before it has made. */
	lane(name: string): string | null;
	/** Each definition is asked for, in every approval mode. */
	approval(name: string, args: Record<string, unknown>, earlier: Approval | null): Promise<ApprovalRequest | null>;
	/** Never throws. Defines only what this turn has an answer for. */
	call(name: string, args: Record<string, unknown>): Promise<ToolAnswer>;
	/** The conversation's tools, as skills of one tool each. */
	skills(): readonly Skill[];
}

/** More would crowd out everything else that a model is told. */
const MAX_TOOLS = 50;

export function createDefinedTools(options: DefinedToolsOptions) {
	const { folderOf, registry, installer, trust, store, isEnabled, now } = options;
	const {
		exclusively = createLines(),
		removed = async () => undefined,
		around = (_id, _how, work) => work()
	} = options;
	const isReserved: IsReserved = (name) => isBuiltInTool(name) || options.isReserved(name);
	const inTurn = createLine();

	const read = async (conversationId: string): Promise<Skill[]> => {
		const root = { path: folderOf(conversationId), source: sourceOf(conversationId) };
		const found = await around(conversationId, 'read', () => scanRoots([root]));
		return found.filter((skill) => skill.status === 'ready' && skill.tools.length > 0) as Skill[];
	};
	const find = async (conversationId: string, name: string): Promise<Skill | undefined> =>
		(await read(conversationId)).find((skill) => toolNameOf(skill) === name);

	/** Skills that `define_tool` made, and nobody has replaced by ones from elsewhere. */
	const listKept = async (isIt: (skill: Skill) => boolean = () => true): Promise<Skill[]> => {
		const { skills, shadowed } = registry.snapshot();
		const made: Skill[] = [];
		for (const skill of [...skills, ...shadowed]) {
			if (skill.metadata.generator !== DEFINE_TOOL || !isIt(skill)) continue;
			const rows = await store.skillInstalls.list(skillIdOf(skill));
			const isOurs = rows.some(({ state, dir, origin }) => {
				return state === 'active' && dir === skill.dir && origin.provider === 'inline';
			});
			if (isOurs) made.push(skill);
		}
		return made;
	};
	const findKept = async (isIt: (skill: Skill) => boolean): Promise<Skill | undefined> => (await listKept(isIt))[0];

	/** Refuses names of others. @throws SkillError InvalidArgs */
	const checkFree = async (plan: Pick<Plan, 'tool' | 'skill'>, own: readonly Skill[]): Promise<void> => {
		const { skills, shadowed, broken } = registry.snapshot();
		const kept = await findKept(({ name }) => name === plan.skill);
		const others = [...skills, ...shadowed].filter((skill) => skill !== kept);
		const same = own.find(({ name }) => name === plan.skill) ?? kept;
		if ([...others, ...broken].some(({ name }) => name === plan.skill) || problemOnWindows(plan.skill) !== null) {
			throw nameTaken(plan.skill);
		}
		if (same && toolNameOf(same) !== plan.tool) throw nameTaken(plan.skill);
		const owner = others.find(({ tools }) => tools.some(({ name }) => name === plan.tool));
		if (owner) {
			const message = `“${plan.tool}” is a tool of the skill “${owner.name}”. Choose another name.`;
			throw new SkillError('InvalidArgs', message);
		}
		if (own.length >= MAX_TOOLS && !own.some(({ name }) => name === plan.skill)) {
			const message = `This chat has ${MAX_TOOLS} tools already, which is the limit. Remove one with ${REMOVE.name}.`;
			throw new SkillError('InvalidArgs', message);
		}
	};

	/** Trusts the files before they are in place, so that a stop in between leaves nothing that asks. */
	const place = async (conversationId: string, { skill, files }: Plan): Promise<void> => {
		const root = folderOf(conversationId);
		const dir = join(root, skill);
		const source = sourceOf(conversationId);
		const swap = () =>
			swapFolder(root, dir, async (staging) => {
				await writeFiles(staging, files);
				const subject = { source, name: skill, root, dir: staging, version: VERSION };
				await trust.trust(subject, digestOf(files), now());
			});
		await around(conversationId, 'change', () => exclusively(SWAPS, swap));
	};
	const drop = async (conversationId: string, skill: Skill): Promise<void> => {
		await around(conversationId, 'change', () => removeFolder(skill.dir));
		await store.trustedSkills.remove(skillIdOf(skill));
	};

	/** @throws AppError as `Installer.install` */
	const install = async (conversationId: string, name: string, files: SkillFiles): Promise<Skill> => {
		const kept = await findKept((skill) => skill.name === name);
		const conflict = kept ? ('overwrite' as const) : ('fail' as const);
		const choice = { conflict, apiKeyId: 'system', enabled: true };
		const fetch: Fetch = (into) => fetchFiles(files, into);
		await installer.install(fetch, choice, new AbortController().signal);
		const skill = await findKept((each) => each.name === name);
		if (!skill) throw new AppError('conflict', `Other files of “${name}” were installed meanwhile.`);
		await trust.trust(skill, digestOf(files), now());
		// Otherwise this chat would have to load it first.
		await store.conversationSkills.set(conversationId, name, 'pinned', now());
		const copy = (await read(conversationId)).find((each) => each.name === name);
		if (copy) await drop(conversationId, copy);
		return skill;
	};

	async function tools(offer: DefinedToolsOffer): Promise<DefinedToolsOfTurn> {
		const { conversationId, apiKeyId, isProgram = false, isLimited = false, only } = offer;
		const isOffered = () => isEnabled() && apiKeyId === undefined && !isProgram && !isLimited;
		const id = isOffered() && conversationId !== undefined ? conversationId : null;
		const offered = () =>
			id !== null && isOffered() ? [DEFINE, REMOVE].filter(({ name }) => only?.includes(name) ?? true) : [];
		let own = id === null ? [] : await read(id);
		/** Made skills in this turn. */
		const kept = new Set<string>();
		const answered = new Map<string, Plan>();
		const refused = new Map<string, ToolAnswer>();

		async function ask(args: Record<string, unknown>, earlier: Approval | null): Promise<ApprovalRequest | Plan> {
			const plan = planTool(args, isReserved);
			own = await read(id ?? '');
			await checkFree(plan, own);
			const digest = digestOf(plan.files);
			const isAllowed = earlier?.decision !== undefined && earlier.decision.choice !== 'deny';
			if (isAllowed && earlier.digest === digest && earlier.define?.isKept === plan.persistent) return plan;
			const before = own.find(({ name }) => name === plan.skill) ?? (await findKept(({ name }) => name === plan.skill));
			return {
				interruptId: randomUUID(),
				skill: plan.skill,
				script: DEFINE.name,
				args: [plan.tool],
				reason: `The agent wants to ${before ? 'replace' : 'define'} the tool “${plan.tool}”.`,
				digest,
				define: await reviewOf(plan, before)
			};
		}

		async function define(plan: Plan): Promise<ToolAnswer> {
			const use = `Call it as ${plan.tool}, from the next step on.`;
			if (!plan.persistent) {
				await checkFree(plan, await read(id ?? ''));
				await place(id ?? '', plan);
				own = await read(id ?? '');
				return done({ defined: plan.tool, use });
			}
			const skill = await install(id ?? '', plan.skill, plan.files);
			own = await read(id ?? '');
			kept.add(skillIdOf(skill));
			return { ...done({ defined: plan.tool, skill: skill.name, use }), changesLibrary: true };
		}

		async function remove(name: string): Promise<ToolAnswer> {
			if (isReserved(name)) {
				throw new SkillError(
					'InvalidArgs',
					`“${plainLine(name).slice(0, 100)}” is a built-in tool and can’t be removed.`
				);
			}
			const skill = await find(id ?? '', name);
			if (skill) {
				await drop(id ?? '', skill);
				own = await read(id ?? '');
				return done({ removed: name });
			}
			const made = await findKept((each) => toolNameOf(each) === name);
			if (!made) {
				const message = `No tool “${plainLine(name).slice(0, 100)}” was defined with ${DEFINE.name}.`;
				throw new SkillError('UnknownTool', message, 'Tools of other skills and built-in ones can’t be removed.');
			}
			const { id: trashId } = await installer.remove(made);
			const note = `Its skill ${made.name} is in the trash, where the user can restore it.`;
			return { ...done({ removed: name, skill: made.name, trashId, note }), changesLibrary: true };
		}

		return {
			tools: () => [...offered()],
			has: (name) => offered().some((tool) => tool.name === name),
			lane: () => DEFINE.name,
			async approval(name, args, earlier) {
				if (name !== DEFINE.name) return null;
				try {
					const asked = await ask(args, earlier);
					if ('interruptId' in asked) return asked;
					answered.set(JSON.stringify(args), asked);
				} catch (error) {
					refused.set(JSON.stringify(args), failureOf(error));
				}
				return null;
			},
			async call(name, args) {
				const key = JSON.stringify(args);
				try {
					if (name === REMOVE.name) return await inTurn(() => remove(typeof args.name === 'string' ? args.name : ''));
					const plan = answered.get(key);
					if (plan) return await inTurn(() => define(plan));
					return refused.get(key) ?? failed('ApprovalRequired', 'Only the user can allow a new tool.');
				} catch (error) {
					return failureOf(error);
				}
			},
			skills() {
				if (!isOffered()) return [];
				return [...own, ...registry.snapshot().skills.filter((skill) => kept.has(skillIdOf(skill)))];
			}
		};
	}

	return {
		tools,
		/** Those that live in the conversation, then those that are skills. */
		async list(conversationId: string): Promise<DefinedTool[]> {
			if (!isEnabled()) return [];
			const described = async (skill: Skill, isKept: boolean): Promise<DefinedTool> => {
				const { digest } = await readFolder(skill.dir);
				return { name: toolNameOf(skill), skill: skill.name, digest: digest ?? '', isKept };
			};
			const [own, kept] = await Promise.all([read(conversationId), listKept()]);
			return Promise.all([
				...own.map((skill) => described(skill, false)),
				...kept.map((skill) => described(skill, true))
			]);
		},
		/** The script of one that lives there. @throws AppError `not_found` */
		async codeOf(conversationId: string, name: string): Promise<string> {
			const skill = isEnabled() ? await find(conversationId, name) : undefined;
			const { files } = skill ? await readFolder(skill.dir) : { files: [] };
			const text = files.find(({ path }) => path === scriptOf(name))?.text ?? null;
			if (text === null) throw gone();
			return text;
		},
		/**
		 * Makes a tool a skill of the library, trusted as it was approved and pinned in the conversation. Again is the same.
		 * @throws AppError `not_found`, `conflict` if its files are others than `digest` says, or its name is taken
		 */
		keep: (conversationId: string, { name, digest }: { name: string; digest: string }): Promise<{ skill: string }> =>
			inTurn(async () => {
				const skill = isEnabled() ? await find(conversationId, name) : undefined;
				const kept = skill ? undefined : await findKept((each) => toolNameOf(each) === name);
				const folder = (skill ?? kept)?.dir;
				if (folder === undefined) throw gone();
				const content = await readFolder(folder);
				// Only what somebody has allowed: the list names what is there, whoever changed it.
				const allowed = skill && (await store.trustedSkills.get(skillIdOf(skill), VERSION));
				if (content.digest !== digest || (skill && allowed?.digest !== digest)) {
					throw new AppError('conflict', 'This tool has changed since.', { hint: 'Keep it from its newest step.' });
				}
				if (kept) return { skill: kept.name };
				const files = Object.fromEntries(content.files.map(({ path, text }) => [path, text ?? '']));
				await checkFree({ tool: name, skill: skill?.name ?? '' }, []).catch((error: unknown) => {
					throw error instanceof SkillError ? new AppError('conflict', error.message) : error;
				});
				return { skill: (await install(conversationId, skill?.name ?? '', files)).name };
			}),
		/** For a copy of the conversation up to a message: the tools that it had then, as they were. */
		copyAll: (conversationId: string, toConversationId: string, lastId: string): Promise<void> =>
			inTurn(async () => {
				await around(conversationId, 'read', async () => undefined);
				if (!(await isThere(folderOf(conversationId)))) return;
				const ids = await store.messages.ids(conversationId, 'all');
				const messages = await store.messages.read(conversationId, ids);
				const { then, known } = definitionsAt(messages, lastId, isReserved);
				for (const plan of then) {
					const isFree = await checkFree(plan, []).then(() => true, isRefused);
					// Kept as a skill meanwhile, the copy has it from there.
					if (isFree && !(await findKept(({ name }) => name === plan.skill))) await place(toConversationId, plan);
				}
				for (const skill of await read(conversationId)) {
					if (known.has(toolNameOf(skill))) continue;
					const dir = join(folderOf(toConversationId), basename(skill.dir));
					await around(toConversationId, 'change', () => copyFolder(skill.dir, dir, () => undefined));
					const trusted = await store.trustedSkills.get(skillIdOf(skill), VERSION);
					const copy = (await read(toConversationId)).find((each) => each.dir === dir);
					if (trusted && copy) await store.trustedSkills.put(skillIdOf(copy), trusted);
				}
			}),
		removeAll: (conversationId: string): Promise<void> =>
			inTurn(async () => {
				for (const skill of await read(conversationId)) await drop(conversationId, skill);
				await removeFolder(folderOf(conversationId));
				await removed(conversationId);
			})
	};
}

export type DefinedTools = ReturnType<typeof createDefinedTools>;

/** What the templates write, which name no version. */
const VERSION = '1.0.0';

/** Of this conversation alone, so that trust in its tools is, too. */
function sourceOf(conversationId: string): string {
	return `${CHAT_SOURCE}${hash('sha256', conversationId).slice(0, 24)}`;
}

const scriptOf = (tool: string): string => `scripts/${tool}.js`;

function gone(): AppError {
	return new AppError('not_found', 'This chat no longer has this tool.', { hint: 'It was removed, or never defined.' });
}

function toolNameOf({ tools }: Skill): string {
	return tools[0]?.name ?? '';
}

async function reviewOf(plan: Plan, before: Skill | undefined): Promise<NonNullable<ApprovalRequest['define']>> {
	const entries = entriesOf(plan.files);
	const content = { digest: null, files: entries, problem: null };
	const changes = before
		? await changesOf(await keptFiles(await readFolder(before.dir)), await keptFiles(content))
		: [];
	const [entry] = JSON.parse(plan.files['tools.json'] ?? '[]') as { description: string; parameters: object }[];
	return {
		tool: plan.tool,
		description: entry?.description ?? '',
		parameters: JSON.stringify(entry?.parameters ?? {}, null, 2),
		code: plan.files[scriptOf(plan.tool)] ?? '',
		isKept: plan.persistent,
		replaces: before !== undefined,
		changes: changes.map(({ path, diff }) => ({ path, diff: diff ?? '' })),
		...findingsShown(await scanFiles(content))
	};
}

function isRefused(error: unknown): false {
	if (error instanceof SkillError) return false;
	throw error;
}

function failureOf(error: unknown): ToolAnswer {
	if (error instanceof SkillError) return failed(error.type, error.message, error.hint);
	if (error instanceof AppError) return failed('DefineFailed', plainLine(error.message).slice(0, 500), error.hint);
	return failed('DefineFailed', 'The disk of the server can’t be written.');
}
