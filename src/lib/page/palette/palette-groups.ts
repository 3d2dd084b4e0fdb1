/** Items of the command palette, in the order shown before typing. */
import Activity from '@lucide/svelte/icons/activity';
import Archive from '@lucide/svelte/icons/archive';
import Braces from '@lucide/svelte/icons/braces';
import CircleStop from '@lucide/svelte/icons/circle-stop';
import Code from '@lucide/svelte/icons/code';
import Download from '@lucide/svelte/icons/download';
import FileText from '@lucide/svelte/icons/file-text';
import BookOpen from '@lucide/svelte/icons/book-open';
import Keyboard from '@lucide/svelte/icons/keyboard';
import MessageSquare from '@lucide/svelte/icons/message-square';
import MessageSquarePlus from '@lucide/svelte/icons/message-square-plus';
import PanelLeft from '@lucide/svelte/icons/panel-left';
import Power from '@lucide/svelte/icons/power';
import Plug from '@lucide/svelte/icons/plug';
import Puzzle from '@lucide/svelte/icons/puzzle';
import Search from '@lucide/svelte/icons/search';
import Settings from '@lucide/svelte/icons/settings';
import SquareTerminal from '@lucide/svelte/icons/square-terminal';
import SunMoon from '@lucide/svelte/icons/sun-moon';
import Wrench from '@lucide/svelte/icons/wrench';
import Trash2 from '@lucide/svelte/icons/trash-2';
import Upload from '@lucide/svelte/icons/upload';
import NotebookPen from '@lucide/svelte/icons/notebook-pen';
import ListFilter from '@lucide/svelte/icons/list-filter';
import Plus from '@lucide/svelte/icons/plus';
import RefreshCw from '@lucide/svelte/icons/refresh-cw';
import Pencil from '@lucide/svelte/icons/pencil';
import FolderOpen from '@lucide/svelte/icons/folder-open';
import FlaskConical from '@lucide/svelte/icons/flask-conical';
import History from '@lucide/svelte/icons/history';
import Play from '@lucide/svelte/icons/play';
import Sparkles from '@lucide/svelte/icons/sparkles';
import type { LucideIcon } from '@lucide/svelte';
import type { ChatApp } from '../app/app.svelte.ts';
import { cleanText } from '../text/clean-text.ts';
import { ABOUT, CLIENTS } from '../connect/connect-snippets.ts';
import { SETTINGS_SECTIONS } from '../settings/settings-form.svelte.ts';
import { runScriptPage } from '../skills/run/scripts.ts';
import {
	editorPage,
	filePage,
	MODE_WORDS,
	ownScripts,
	partsOf,
	problemOf,
	skillPage,
	type SkillTab
} from '../skills/skill-words.ts';
import { isNearly, proseOf, spaced } from '../text/fuzzy.ts';
import { saveFile } from '../ui/clipboard.ts';
import { shownTitle } from '../sidebar/conversation-actions.ts';
import type { ConversationSearch } from '../sidebar/conversation-list.svelte.ts';
import { conversationAddress } from '../messages/message-groups.ts';
import { type PaletteGroup, type PaletteItem, SHORTCUTS } from './palette.svelte.ts';
import type { Theme } from '../app/theme.svelte.ts';
import type { ConversationSummary } from '../../shared/api.ts';
import type { SkillSummary } from '../../shared/skills.ts';
import { asApiError, skillUrl } from '../request.ts';

/** Props of overlays, which are loaded on demand. */
export interface OverlayProps {
	app: ChatApp;
	/** Focuses the chat search. */
	onsearch: () => void;
	/** Asks for a file to import. */
	onimport: () => void;
	onclose: () => void;
	/** Typed before the overlay had loaded. */
	typed: string;
}

const groups = {
	actions: 'Actions',
	conversations: 'Chats',
	found: 'Found in chats',
	pages: 'Pages',
	skills: 'Skills',
	parts: 'In skills',
	runs: 'Runs'
};

/** Chats shown before typing. */
const RECENT = 6;
const THEMES: readonly Theme[] = ['light', 'dark', 'system'];

export function paletteGroups({ app, onsearch, onimport }: OverlayProps, search: ConversationSearch): PaletteGroup[] {
	return [
		{ id: 'actions', label: groups.actions, items: actions({ app, onsearch, onimport }) },
		{
			id: 'conversations',
			label: groups.conversations,
			items: app.conversations.list.map((one, index) => ({ ...conversation(app, one), isQuiet: index >= RECENT }))
		},
		// Before skills: what a page is for beats a word in the text of a skill.
		{ id: 'pages', label: groups.pages, items: pages(app) },
		{ id: 'skills', label: groups.skills, items: [...skills(app), ...skillActions(app, search.query)] },
		{ id: 'parts', label: groups.parts, items: search.query.trim().length < 2 ? [] : partsOfSkills(app) },
		{
			id: 'found',
			label: groups.found,
			isFound: true,
			items: (search.results ?? []).map((one) => ({
				...conversation(app, one),
				hint: one.summary && cleanText(one.summary),
				...(one.snippet && {
					hint: cleanText(one.snippet.text),
					run: () => {
						app.seek(one.id, one.snippet?.messageId);
						return app.go(conversationAddress(one.id, one.snippet?.messageId));
					}
				})
			}))
		},
		{ id: 'runs', label: groups.runs, isFound: true, items: search.isBusy ? [] : runsWith(app, search.query.trim()) }
	];
}

function conversation(app: ChatApp, summary: ConversationSummary): PaletteItem {
	const { id } = summary;
	return {
		id: `conversation-${id}`,
		label: shownTitle(summary),
		at: summary.updatedAt,
		icon: MessageSquare,
		run: () => app.go(`/c/${id}`)
	};
}

function actions({ app, onsearch, onimport }: Omit<OverlayProps, 'onclose' | 'typed'>): PaletteItem[] {
	const { session, shownId } = app;
	const keysOf = (id: string) => {
		const keys = SHORTCUTS.find((shortcut) => shortcut.id === id)?.keys[0];
		return keys ? { keys } : {};
	};
	const shown = app.conversations.list.find(({ id }) => id === shownId);
	const save = (format: 'json' | 'markdown') => () => shownId && saveFile(app.actions.exportUrl(shownId, format));
	return [
		{
			id: 'new-chat',
			label: 'New chat',
			icon: MessageSquarePlus,
			...keysOf('newChat'),
			run: () => app.go('/')
		},
		...Object.entries(app.account.settings.value?.presets ?? {}).map(([id, preset]) => ({
			id: `preset-${id}`,
			label: `New chat: ${cleanText(preset.name)}`,
			words: 'preset',
			icon: MessageSquarePlus,
			run: () => app.go(`/?preset=${id}`)
		})),
		...(session?.isRunning && session.id === shownId
			? [{ id: 'stop', label: 'Stop answer', icon: CircleStop, run: () => session.stop() }]
			: []),
		{ id: 'search', label: 'Search chats', icon: Search, ...keysOf('search'), run: onsearch },
		{
			id: 'sidebar',
			label: 'Toggle sidebar',
			words: 'show hide',
			icon: PanelLeft,
			...keysOf('sidebar'),
			run: () => app.sidebar.toggle()
		},
		...(shownId === null
			? []
			: [
					{
						id: 'export-markdown',
						label: 'Export chat as Markdown',
						words: 'share save download',
						icon: FileText,
						isQuiet: true,
						run: save('markdown')
					},
					{
						id: 'export-json',
						label: 'Export chat as JSON',
						words: 'backup save download',
						icon: Braces,
						isQuiet: true,
						run: save('json')
					}
				]),
		...(shown
			? [
					{
						id: 'archive',
						label: 'Archive chat',
						words: 'hide',
						icon: Archive,
						isQuiet: true,
						run: () => app.actions.toggleArchive(shown)
					},
					{
						id: 'delete',
						label: 'Delete chat',
						words: 'remove',
						icon: Trash2,
						isQuiet: true,
						run: () => app.actions.remove(shown)
					}
				]
			: []),
		{ id: 'import', label: 'Import chat', icon: Upload, isQuiet: true, run: onimport },
		...THEMES.map((theme) => ({
			id: `theme-${theme}`,
			label: `Theme: ${theme}`,
			words: `${theme} mode`,
			icon: SunMoon,
			isQuiet: true,
			run: () => void (app.theme.current = theme)
		})),
		{
			id: 'shortcuts',
			label: 'Keyboard shortcuts',
			words: 'help hotkeys',
			icon: Keyboard,
			...keysOf('shortcuts'),
			run: () => void (app.overlay = 'shortcuts')
		}
	];
}

/** What each skill has on its page. */
const SKILL_PARTS = [
	{ label: 'Evals of skills', words: 'evaluate evaluations tests quality', hint: 'Choose a skill, then Evals' },
	{ label: 'Versions of skills', words: 'history edits undo restore earlier', hint: 'Choose a skill, then Versions' },
	{
		label: 'Network of skills',
		words: 'internet hosts domains access allow',
		hint: 'Choose a skill: its Overview says which hosts it reaches'
	},
	{
		label: 'Security of skills',
		words: 'trust risks check safe secrets',
		hint: 'Choose a skill: its Overview has them'
	}
] as const;

function pages(app: ChatApp): PaletteItem[] {
	const page = (path: string, label: string, icon: PaletteItem['icon']): PaletteItem => ({
		id: `page-${path}`,
		label,
		isNearlyFound: true,
		icon,
		run: () => app.go(path)
	});
	const quiet = (path: string, label: string, icon: PaletteItem['icon'], words = ''): PaletteItem => ({
		...page(path, label, icon),
		prose: `${label} ${words}`,
		isQuiet: true
	});
	return [
		page('/skills', 'Skills', Puzzle),
		{ ...page('/skills/install', 'Install skills', Download), prose: 'upload add skill zip folder github' },
		{
			...page('/skills/executions', 'Runs', Activity),
			prose: 'runs of scripts executions history logs output errors failed sandbox'
		},
		quiet('/skills/executions?status=failed', 'Failed runs', Activity, 'scripts executions errors crashed'),
		page('/connect', 'Other programs', Plug),
		page('/settings', 'Settings', Settings),
		quiet('/skills/new', 'New skill', Plus, 'create write make'),
		quiet('/skills/drafts', 'Drafts', NotebookPen, 'of skills save as skill improve'),
		quiet('/skills/updates', 'Skill updates', RefreshCw, 'skills versions outdated'),
		quiet('/skills/scores', 'Skill scores', ListFilter, 'which skills a message picks'),
		...SKILL_PARTS.map(({ label, words, hint }) => ({
			...quiet('/skills', label, Puzzle, words),
			id: `page-${label}`,
			hint
		})),
		quiet('/trash', 'Trash', Trash2, 'recently deleted removed chats skills restore undo'),
		...SETTINGS_SECTIONS.map(({ id, title, rows, words }) => ({
			...quiet(
				`/settings#${id}`,
				id === 'mcp-servers' ? title : `Settings · ${title}`,
				Settings,
				[...rows, words].join('\n')
			),
			hint: rows.join(', ')
		})),
		quiet('/connect#keys', 'API keys', Plug, 'tokens'),
		...CLIENTS.map((client) => quiet(`/connect#${client}`, `Connect ${ABOUT[client].name}`, Plug)),
		quiet('/docs/api', 'API reference', Code, 'docs endpoints rest openapi')
	];
}

/** The list of runs searches their commands and arguments. */
function runsWith(app: ChatApp, text: string): PaletteItem[] {
	if (text === '') return [];
	const run = () => app.go(`/skills/executions?text=${encodeURIComponent(text)}`);
	return [{ id: 'runs-with', label: `Search runs for “${text}”`, icon: Activity, run }];
}

function skills(app: ChatApp): PaletteItem[] {
	return app.library.skills.flatMap((skill): PaletteItem[] => {
		const { id, name, description, tags = [] } = skill;
		const shown = cleanText(name);
		const run = () => app.go(skillPage(id));
		const page = { id: `skill-${id}`, label: shown, name, icon: Puzzle, isQuiet: true, run };
		if (skill.status === 'broken') return [{ ...page, isNearlyFound: true, mark: 'Broken', hint: problemOf(skill) }];
		const isOff = skill.mode === 'off';
		return [
			{
				...page,
				...(isOff && { mark: MODE_WORDS.off }),
				hint: cleanText(partsOf(description).does),
				prose: proseOf({ name, description, tags }),
				isNearlyFound: true
			},
			...(isOff
				? []
				: [
						{
							id: `chat-${id}`,
							label: `New chat with ${shown}`,
							hint: 'Uses it from the first message',
							icon: MessageSquarePlus,
							isQuiet: true,
							name,
							run: () => app.go(`/?skill=${encodeURIComponent(name)}`)
						}
					])
		];
	});
}

/** What can be done with a skill: found by an action and a skill, so that neither lists them all; first things also by a skill alone. */
function skillActions(app: ChatApp, query: string): PaletteItem[] {
	const words = query.trim().split(/\s+/);
	const named = app.library.skills.filter(({ name }) => words.some((word) => word !== '' && isNearly(name, word)));
	const whole = named.filter(({ name }) => spaced(name) === spaced(query.trim()));
	const meant = words.length > 1 ? named : whole.length > 0 ? whole : named.length === 1 ? named : [];
	return meant.flatMap((skill) => {
		const { id, name, status, mode, scripts, tools } = skill;
		const shown = cleanText(name);
		const action = (verb: string, words: string, icon: LucideIcon, run: () => unknown): PaletteItem => ({
			id: `${verb}-${id}`,
			label: `${verb} ${shown}`,
			prose: `${verb} ${shown} ${words}`,
			name,
			icon,
			isQuiet: true,
			isNearlyFound: true,
			run
		});
		const page = (path: string) => () => app.go(path);
		const tab = (name: SkillTab) => page(`${skillPage(id)}#${name}`);
		const isReady = status === 'ready';
		const first = [
			action('Edit', 'change write', Pencil, page(editorPage(id))),
			...(isReady && scripts.length + tools.length > 0 ? [action('Run', 'try test', Play, tab('run'))] : []),
			...(isReady ? [action('Evals of', 'evaluate test cases', FlaskConical, tab('evals'))] : [])
		];
		if (words.length < 2) return first;
		return [
			...first,
			...(isReady
				? [
						action('Files of', 'read', FolderOpen, tab('files')),
						action('Instructions of', 'read SKILL.md', BookOpen, tab('instructions')),
						action('Versions of', 'history update', History, tab('versions')),
						action('Draft of', 'improve', Sparkles, () => app.actions.improveSkill(id)),
						mode === 'off'
							? action('Turn on', 'enable switch', Power, () => setMode(app, skill, 'auto'))
							: action('Turn off', 'disable switch', Power, () => setMode(app, skill, 'off'))
					]
				: []),
			action('Export', 'zip download save share', Download, () => saveFile(`${skillUrl(id)}/export`)),
			{ ...action('Delete', 'remove trash', Trash2, () => remove(app, skill)), isDestructive: true }
		];
	});
}

async function setMode(app: ChatApp, skill: SkillSummary, mode: SkillSummary['mode']): Promise<void> {
	try {
		await app.setSkillMode(skill, mode);
	} catch (error) {
		app.toasts.show({ text: asApiError(error).message, isError: true });
	}
}

async function remove(app: ChatApp, skill: SkillSummary): Promise<void> {
	try {
		await app.removeSkill(skill);
		// A page of it may be open.
		if (location.pathname.startsWith('/skills/')) await app.go('/skills');
	} catch (error) {
		app.toasts.show({ text: asApiError(error).message, isError: true });
	}
}

/** Scripts, tools and example files, as far as the list of skills has them. */
function partsOfSkills(app: ChatApp): PaletteItem[] {
	return app.library.ready.flatMap(({ id, name, scripts, tools, example }) => {
		const part = (label: string, kind: string, icon: PaletteItem['icon'], path: string): PaletteItem => ({
			id: `part-${id}-${label}`,
			label: cleanText(label),
			prose: `${label} ${name}`,
			hint: `${kind} of ${cleanText(name)}`,
			icon,
			isQuiet: true,
			run: () => app.go(path)
		});
		const examples = (example?.files ?? []).map((file) => `examples/${file}`);
		return [
			...scripts.map((script) =>
				ownScripts(scripts).includes(script)
					? part(`Run ${script}`, 'Script', SquareTerminal, runScriptPage(id, script))
					: part(script, 'Script', SquareTerminal, filePage(id, script))
			),
			...tools.map((tool) => part(`Run ${tool}`, 'Tool', Wrench, runScriptPage(id, tool))),
			...examples.map((file) => part(file, 'Example', FileText, filePage(id, file)))
		];
	});
}
