/** The languages that can be highlighted, known without loading what does it. */

/** highlight.js' common languages, and the other names that they go by. */
const LANGUAGES: Readonly<Record<string, string>> = {
	bash: 'sh zsh',
	c: 'h',
	cpp: 'c++ cc hpp',
	csharp: 'cs c#',
	css: '',
	diff: 'patch',
	go: 'golang',
	graphql: 'gql',
	ini: 'toml',
	java: '',
	javascript: 'js jsx mjs cjs',
	json: 'jsonc json5',
	kotlin: 'kt',
	less: '',
	lua: '',
	makefile: 'make mk',
	markdown: 'md',
	objectivec: 'objc',
	perl: 'pl',
	php: '',
	python: 'py',
	r: '',
	ruby: 'rb',
	rust: 'rs',
	scss: '',
	shell: 'console',
	sql: '',
	swift: '',
	typescript: 'ts tsx mts cts',
	vbnet: 'vb',
	wasm: '',
	xml: 'html svg xhtml vue svelte',
	yaml: 'yml'
};

const BY_NAME: ReadonlyMap<string, string> = new Map(
	Object.entries(LANGUAGES).flatMap(([language, names]) =>
		[language, ...names.split(' ')].filter(Boolean).map((name) => [name, language] as const)
	)
);

/** The language's own name; null when it cannot be highlighted. */
export function knownLanguage(name: string): string | null {
	return BY_NAME.get(name.toLowerCase()) ?? null;
}
