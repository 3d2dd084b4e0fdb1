/** CodeMirror with what the files of skills need. Large, so it's loaded with the first editor. */
import { autocompletion, type CompletionContext, type CompletionResult } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentLess, indentMore } from '@codemirror/commands';
import {
	bracketMatching,
	ensureSyntaxTree,
	foldGutter,
	foldKeymap,
	HighlightStyle,
	indentOnInput,
	indentUnit,
	LanguageDescription,
	LanguageSupport,
	StreamLanguage,
	type StreamParser,
	syntaxHighlighting,
	type TagStyle
} from '@codemirror/language';
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, openSearchPanel, search, searchKeymap } from '@codemirror/search';
import {
	Annotation,
	type ChangeSpec,
	Compartment,
	EditorState,
	type Extension,
	StateEffect,
	StateField
} from '@codemirror/state';
import {
	Decoration,
	type DecorationSet,
	drawSelection,
	EditorView,
	highlightActiveLine,
	highlightActiveLineGutter,
	highlightSpecialChars,
	keymap,
	lineNumbers,
	type ViewUpdate,
	WidgetType
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { HIDDEN_CLASS } from '../../../shared/characters.ts';
import { canTell, type CodeMark, syntaxFault } from './syntax-fault.ts';

interface CodeOptions {
	text: string;
	/** Chooses the language. */
	path: string;
	label: string;
	isReadOnly: boolean;
	/** With `\n` at the ends of lines. */
	ontype: (text: string) => void;
	/** Ctrl+Enter. */
	onrun: () => void;
	/** Where it can't be read as what it is, each time that changes. */
	onfault: (fault: CodeMark | null | undefined) => void;
}

export interface Code {
	/** Shows another text, as a change that can be undone. */
	setText(text: string): void;
	setReadOnly(isReadOnly: boolean): void;
	setMarks(marks: readonly CodeMark[]): void;
	/** Puts the cursor into a line, from 1, and marks it until somebody types, with what is wrong there below it. */
	goTo(line: number, message?: string): void;
	setWrapped(isWrapped: boolean): void;
	find(): void;
	destroy(): void;
}

/** Delay after the last key; half a word is no fault. */
const FAULT_MS = 500;
/** For a text that takes longer to read, no fault is told. */
const PARSE_MS = 200;

/** The text was given, not typed. */
const Given = Annotation.define<true>();

/** A line that was asked for, by its start, and what is wrong there. */
const Asked = StateEffect.define<{ from: number; message: string }>();

class Message extends WidgetType {
	readonly #text: string;
	constructor(text: string) {
		super();
		this.#text = text;
	}
	toDOM(): HTMLElement {
		const place = document.createElement('div');
		place.className = 'cm-askedMessage';
		place.setAttribute('role', 'note');
		place.textContent = this.#text;
		return place;
	}
}

const askedLine = StateField.define<DecorationSet>({
	create: () => Decoration.none,
	update(shown, { docChanged, effects, newDoc }) {
		const asked = effects.find((effect) => effect.is(Asked));
		if (asked) {
			const { from, message } = asked.value;
			const below = Decoration.widget({ widget: new Message(message), block: true, side: 1 });
			return Decoration.set([
				Decoration.line({ class: 'cm-askedLine' }).range(from),
				...(message === '' ? [] : [below.range(newDoc.lineAt(from).to)])
			]);
		}
		return docChanged ? Decoration.none : shown;
	},
	provide: (field) => EditorView.decorations.from(field)
});

/** In a shadow root, where its styles need no exception from the Content Security Policy. */
export function openCode(
	root: ShadowRoot,
	{ text, path, label, isReadOnly, ontype, onrun, onfault }: CodeOptions
): Code {
	const [language, readOnly, wrapping] = [new Compartment(), new Compartment(), new Compartment()];
	const tell = ({ docChanged, state, transactions }: ViewUpdate): void => {
		if (docChanged) lookSoon(FAULT_MS);
		if (docChanged && !transactions.some((each) => each.annotation(Given))) ontype(state.doc.toString());
	};
	let marks: readonly CodeMark[] = [];
	let fault: CodeMark | null = null;
	let timer: ReturnType<typeof setTimeout> | undefined;
	const lookSoon = (delayMs: number): void => {
		clearTimeout(timer);
		timer = setTimeout(look, delayMs);
	};
	const look = (): void => {
		const tree = ensureSyntaxTree(view.state, view.state.doc.length, PARSE_MS);
		fault = tree && syntaxFault(tree, view.state.doc.toString(), path);
		onfault(tree && canTell(path) ? fault : undefined);
		showMarks();
	};
	const showMarks = (): void => {
		const { doc } = view.state;
		const at = ({ line, severity, message }: CodeMark): Diagnostic => {
			const { from, to } = doc.line(Math.min(Math.max(line, 1), doc.lines));
			return { from, to, severity, message };
		};
		view.dispatch(setDiagnostics(view.state, [...marks, ...(fault ? [fault] : [])].map(at)));
	};
	const view = new EditorView({
		root,
		parent: root,
		state: EditorState.create({
			doc: text,
			extensions: [
				readOnly.of(EditorState.readOnly.of(isReadOnly)),
				language.of([]),
				lintGutter(),
				lineNumbers(),
				foldGutter(),
				highlightActiveLineGutter(),
				highlightSpecialChars({ addSpecialChars: new RegExp(`[${HIDDEN_CLASS}]`, 'gu') }),
				history(),
				drawSelection(),
				indentOnInput(),
				indentUnit.of(unitOf(text, path)),
				bracketMatching(),
				highlightActiveLine(),
				askedLine,
				highlightSelectionMatches(),
				search({ top: true }),
				EditorState.phrases.of(PHRASES),
				syntaxHighlighting(COLOURS),
				THEME,
				wrapping.of([]),
				leaveByTab(),
				/(^|\/)skill\.md$/i.test(path) ? autocompletion({ override: [completeField], icons: false }) : [],
				keymap.of([
					{ key: 'Mod-Enter', run: () => (onrun(), true) },
					{ key: 'Tab', run: (of) => indent(of), shift: indentLess },
					...searchKeymap,
					...historyKeymap,
					...foldKeymap,
					...lintKeymap,
					...defaultKeymap
				]),
				EditorView.contentAttributes.of({
					'data-testid': 'code-editor',
					'aria-label': label,
					'aria-description': 'Tab indents. Press Escape, then Tab, to leave the editor.',
					autocapitalize: 'off'
				}),
				EditorView.updateListener.of(tell)
			]
		})
	});
	void LanguageDescription.matchFilename(LANGUAGES, path)
		?.load()
		.then(
			(found) => {
				view.dispatch({ effects: language.reconfigure(found) });
				lookSoon(0);
			},
			() => undefined // only its colours are missing
		);
	return {
		setText(wanted) {
			const shown = view.state.doc.toString();
			const next = wanted.replace(/\r\n?/g, '\n');
			if (next === shown) return;
			view.dispatch({ changes: changeBetween(shown, next), annotations: Given.of(true) });
		},
		setReadOnly: (wanted) => view.dispatch({ effects: readOnly.reconfigure(EditorState.readOnly.of(wanted)) }),
		setMarks(wanted) {
			marks = wanted;
			showMarks();
		},
		setWrapped: (wanted) => view.dispatch({ effects: wrapping.reconfigure(wanted ? EditorView.lineWrapping : []) }),
		goTo(line, message = '') {
			const { from, text } = view.state.doc.line(Math.min(Math.max(line, 1), view.state.doc.lines));
			view.focus();
			view.dispatch({
				selection: { anchor: from + text.search(/\S|$/) },
				effects: [Asked.of({ from, message }), EditorView.scrollIntoView(from, { y: 'center' })]
			});
		},
		find: () => openSearchPanel(view),
		destroy() {
			clearTimeout(timer);
			view.destroy();
		}
	};
}

/** What is the same before and after stays, with the cursor in it. */
function changeBetween(before: string, after: string): ChangeSpec {
	const shorter = Math.min(before.length, after.length);
	let from = 0;
	while (from < shorter && before[from] === after[from]) from++;
	let same = 0;
	while (same < shorter - from && before[before.length - 1 - same] === after[after.length - 1 - same]) same++;
	return { from, to: before.length - same, insert: after.slice(from, after.length - same) };
}

/** As the text has it; else as most files of its kind. */
function unitOf(text: string, path: string): string {
	const [, used] = /^(\t| {2,8})\S/m.exec(text) ?? [];
	return used ?? (/\.py$/i.test(path) ? '    ' : '  ');
}

function indent(view: EditorView): boolean {
	const { state } = view;
	if (state.readOnly) return false;
	if (state.selection.ranges.some(({ empty }) => !empty)) return indentMore(view);
	view.dispatch(state.replaceSelection(state.facet(indentUnit)), { userEvent: 'input', scrollIntoView: true });
	return true;
}

/** After Escape, Tab leaves the editor, however late; CodeMirror waits for two seconds. */
function leaveByTab(): Extension {
	return EditorView.domEventHandlers({
		keydown({ key }, view) {
			if (key === 'Escape') view.setTabFocusMode(true);
			else if (key !== 'Tab' && key !== 'Shift') view.setTabFocusMode(false);
		},
		blur: (_, view) => view.setTabFocusMode(false)
	});
}

/** What the top of a SKILL.md can say, and its `metadata`. */
const FIELDS: Record<'' | 'metadata', Record<string, string>> = {
	'': {
		name: 'As the folder: lowercase letters, digits, hyphens',
		description: 'What it does and when to use it; the model decides by this',
		license: 'Such as MIT',
		compatibility: 'What it needs, in words',
		'allowed-tools': 'Tools it may use, separated by spaces',
		metadata: 'More fields'
	},
	metadata: {
		version: 'Such as 1.2.0',
		author: 'Who wrote it',
		tags: 'Words to find it by',
		icon: 'One emoji',
		example: 'A message for “Try in chat”',
		'example-title': 'A short title for it',
		requires: 'Other skills it uses',
		timeout: 'For its scripts, such as 2m',
		memory: 'For its scripts, such as 256mb'
	}
};
const MAX_FIELD_LINES = 200;

/** Where a field of the front matter begins: those that aren’t there yet. */
function completeField({ state, pos, explicit }: CompletionContext): CompletionResult | null {
	const { number, from, text } = state.doc.lineAt(pos);
	const [, indent, word] = /^([ \t]*)([\w-]*)$/.exec(text.slice(0, pos - from)) ?? [];
	if (indent === undefined || word === undefined || (word === '' && !explicit)) return null;
	if (number === 1 || number > MAX_FIELD_LINES) return null;
	const [top, ...before] = Array.from({ length: number - 1 }, (_, index) => state.doc.line(index + 1).text);
	if (!/^---\s*$/.test(top ?? '') || before.some((line) => /^---\s*$/.test(line))) return null;
	const parent = indent === '' ? '' : before.findLast((line) => /^\S/.test(line))?.split(':', 1)[0];
	if (parent !== '' && parent !== 'metadata') return null;
	const all = state.doc.sliceString(0, 20_000).split('\n');
	const options = Object.entries(FIELDS[parent])
		.filter(([label]) => !all.some((line) => line.startsWith(`${indent}${label}:`)))
		.map(([label, detail]) => ({ label, detail, apply: label === 'metadata' ? 'metadata:\n  ' : `${label}: ` }));
	return { from: pos - word.length, options, validFor: /^[\w-]*$/ };
}

type Load = () => Promise<LanguageSupport>;

const javascript =
	(typescript: boolean, jsx: boolean): Load =>
	async () =>
		(await import('@codemirror/lang-javascript')).javascript({ typescript, jsx });

/** The first word names it; all are ends of file names, and words after ``` in Markdown. */
const LOADED: Record<string, Load> = {
	'python py': async () => (await import('@codemirror/lang-python')).python(),
	'json jsonl': async () => (await import('@codemirror/lang-json')).json(),
	'yaml yml': async () => (await import('@codemirror/lang-yaml')).yaml(),
	toml: async () => stream((await import('@codemirror/legacy-modes/mode/toml')).toml),
	'shell sh bash zsh console': async () => stream((await import('@codemirror/legacy-modes/mode/shell')).shell),
	'javascript js mjs cjs': javascript(false, false),
	jsx: javascript(false, true),
	'typescript ts mts cts': javascript(true, false),
	tsx: javascript(true, true),
	// YAML at its top, and code of the other languages in it.
	'markdown md': async () => {
		const [{ markdown }, { yamlFrontmatter }] = await Promise.all([
			import('@codemirror/lang-markdown'),
			import('@codemirror/lang-yaml')
		]);
		return yamlFrontmatter({ content: markdown({ codeLanguages: LANGUAGES }) });
	}
};

const LANGUAGES = Object.entries(LOADED).map(([words, load]) => {
	const [name = '', ...others] = words.split(' ');
	return LanguageDescription.of({ name, alias: others, extensions: [name, ...others], load });
});

function stream(mode: StreamParser<unknown>): LanguageSupport {
	return new LanguageSupport(StreamLanguage.define(mode));
}

/** In the colours of code in answers. */
const COLOURS = HighlightStyle.define(
	Object.entries({
		keyword: [tags.keyword, tags.operatorKeyword, tags.modifier, tags.controlKeyword, tags.definitionKeyword],
		string: [tags.string, tags.special(tags.string), tags.regexp, tags.monospace],
		number: [tags.number, tags.bool, tags.null, tags.atom, tags.escape, tags.link, tags.url],
		comment: [tags.comment, tags.quote, tags.meta, tags.processingInstruction],
		title: [
			tags.heading,
			tags.function(tags.variableName),
			tags.function(tags.propertyName),
			tags.definition(tags.function(tags.variableName))
		],
		type: [
			tags.typeName,
			tags.className,
			tags.propertyName,
			tags.attributeName,
			tags.standard(tags.variableName),
			tags.definition(tags.propertyName)
		],
		name: [tags.tagName, tags.self, tags.special(tags.variableName)]
	})
		.map(([kind, tag]): TagStyle => ({ tag, color: `var(--color-code-${kind})` }))
		.concat(
			{ tag: [tags.heading, tags.strong], fontWeight: '600' },
			{ tag: tags.emphasis, fontStyle: 'italic' },
			{ tag: tags.strikethrough, textDecoration: 'line-through' }
		)
);

const PHONE = '(max-width: 47.99rem)';
const PHRASES = {
	...{ next: 'Next', previous: 'Previous', all: 'Select all', replace: 'Replace', 'replace all': 'Replace all' },
	...{ 'match case': 'Match case', regexp: 'Pattern', 'by word': 'Whole words' }
};

const FIELD = {
	border: '1px solid var(--color-edge)',
	borderRadius: '0.5rem',
	backgroundColor: 'var(--color-raised)',
	backgroundImage: 'none',
	color: 'var(--color-ink)',
	font: 'inherit',
	padding: '0.125rem 0.5rem'
};

const THEME = EditorView.theme({
	'&': { height: '100%', backgroundColor: 'var(--color-terminal)', color: 'var(--color-ink)' },
	'&.cm-focused': { outline: '2px solid var(--color-accent)', outlineOffset: '-2px' },
	'.cm-scroller': { font: '0.8125rem/1.25rem var(--font-mono)' },
	'.cm-content': { padding: '0.75rem 0', caretColor: 'var(--color-ink)' },
	'.cm-line': { padding: '0 0.75rem' },
	'.cm-cursor': { borderLeftColor: 'var(--color-ink)' },
	'&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
		backgroundColor: 'color-mix(in srgb, var(--color-accent) 25%, transparent)'
	},
	'.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'color-mix(in srgb, var(--color-ink) 4%, transparent)' },
	'.cm-gutters': {
		backgroundColor: 'var(--color-panel)',
		color: 'var(--color-soft)',
		borderRight: '1px solid var(--color-line)'
	},
	'.cm-line.cm-askedLine': {
		backgroundColor: 'color-mix(in srgb, var(--color-warn) 18%, transparent)',
		boxShadow: 'inset 2px 0 var(--color-warn)'
	},
	'.cm-askedMessage': {
		backgroundColor: 'var(--color-danger-tint)',
		color: 'var(--color-danger)',
		boxShadow: 'inset 2px 0 var(--color-danger)',
		padding: '0.25rem 0.75rem',
		fontFamily: 'var(--font-sans)',
		whiteSpace: 'pre-wrap',
		overflowWrap: 'anywhere'
	},
	'.cm-foldPlaceholder': {
		backgroundColor: 'var(--color-hover)',
		border: 'none',
		color: 'var(--color-soft)',
		padding: '0 0.375rem'
	},
	'.cm-selectionMatch, .cm-searchMatch': { backgroundColor: 'color-mix(in srgb, var(--color-warn) 22%, transparent)' },
	'.cm-searchMatch-selected': { outline: '1px solid var(--color-warn)' },
	'&.cm-focused .cm-matchingBracket': { backgroundColor: 'transparent', outline: '1px solid var(--color-edge)' },
	'&.cm-focused .cm-nonmatchingBracket': { backgroundColor: 'transparent', color: 'var(--color-danger)' },
	'.cm-specialChar': { color: 'var(--color-danger)' },
	'.cm-panels': {
		backgroundColor: 'var(--color-panel)',
		color: 'var(--color-ink)',
		borderBottom: '1px solid var(--color-line)'
	},
	'.cm-panels-bottom': { borderTop: '1px solid var(--color-line)' },
	'.cm-panel.cm-search, .cm-panel.cm-gotoLine': {
		padding: '0.5rem 2.5rem 0.5rem 0.75rem',
		font: '0.8125rem/1.25rem var(--font-sans)'
	},
	'.cm-panel.cm-search label': { fontSize: 'inherit', whiteSpace: 'nowrap' },
	'.cm-panel .cm-textfield': FIELD,
	'.cm-panel .cm-button': { ...FIELD, cursor: 'pointer' },
	'.cm-panel .cm-button:hover': { backgroundColor: 'var(--color-hover)' },
	'.cm-panel.cm-search [name=close]': {
		color: 'var(--color-soft)',
		fontSize: '1.25rem',
		top: '0.25rem',
		right: '0.25rem',
		width: '2rem',
		height: '2rem'
	},
	'.cm-tooltip': {
		maxWidth: 'min(32rem, 80vw)',
		border: '1px solid var(--color-line)',
		borderRadius: '0.5rem',
		backgroundColor: 'var(--color-raised)',
		color: 'var(--color-ink)',
		font: '0.8125rem/1.25rem var(--font-sans)',
		overflowWrap: 'anywhere'
	},
	'.cm-tooltip.cm-tooltip-autocomplete > ul': { font: '0.8125rem/1.25rem var(--font-mono)' },
	'.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '0.125rem 0.5rem' },
	'.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
		backgroundColor: 'var(--color-tint)',
		color: 'var(--color-accent)'
	},
	'.cm-completionDetail': { color: 'var(--color-soft)', fontFamily: 'var(--font-sans)', fontStyle: 'normal' },
	'.cm-diagnostic-error': { borderLeftColor: 'var(--color-danger)' },
	'.cm-diagnostic-warning': { borderLeftColor: 'var(--color-warn)' },
	[`@media ${PHONE}`]: {
		'.cm-scroller': { font: '1rem/1.5rem var(--font-mono)' },
		'.cm-foldGutter': { display: 'none !important' },
		'.cm-lineNumbers .cm-gutterElement': { fontSize: '0.75rem', minWidth: '1.25rem', padding: '0 0.25rem 0 0' },
		'.cm-gutter-lint': { width: '0.875rem' },
		'.cm-gutter-lint .cm-gutterElement': { padding: '0.375rem 0 0 0.125rem' },
		'.cm-lint-marker': { width: '0.75rem', height: '0.75rem' },
		'.cm-line': { padding: '0 0.5rem' },
		'.cm-panel .cm-textfield, .cm-panel .cm-button': { minHeight: '2.75rem', fontSize: '1rem' },
		'.cm-panel.cm-search [name=close]': { width: '2.75rem', height: '2.75rem' },
		'.cm-search [name=select], .cm-search label:has([name=re], [name=word])': { display: 'none' }
	}
});
