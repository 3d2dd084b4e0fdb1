/** The dependency rule as data: which part of `src/` may import which. */

interface Layer {
	/** A folder (ends in `/`) or one file, from `src/`. */
	path: string;
	/** What it may import besides itself: folders or files, from `src/`. */
	imports: string[];
	/** May it import `$app`, `$env` and `@sveltejs/kit`? */
	kit?: true;
	/** The only packages it may import; without it any. */
	packages?: string[];
}

const SHARED = 'lib/shared/';
const LOG = 'lib/server/log.ts';
const SAFE_PATH = 'lib/server/safe-path.ts';
/** Walks, copies and removes what scripts write into: needs nothing else, so that each part may use it. */
const FOREIGN_FOLDERS = 'lib/server/foreign-folders.ts';
const READ_TEXT = 'lib/server/read-text.ts';
/** What a workspace may hold: of uploads and of the server's own skills. */
const ROOMS = 'lib/server/workspace-rooms.ts';
/** Pure: the one table of characters that are not seen. */
const CHARACTERS = 'lib/shared/characters.ts';
/** The interface alone. */
const SANDBOX = 'lib/server/sandbox/sandbox.ts';
/** Pure: what an execution says leaves it in more places than its streams. */
const REDACT = 'lib/server/sandbox/redact.ts';

/** The first entry that a file's path starts with is its layer. */
const LAYERS: Layer[] = [
	{ path: SHARED, imports: [], packages: ['zod', '@ag-ui/core'] },

	{ path: 'lib/server/skills/', imports: [SANDBOX, REDACT, CHARACTERS, FOREIGN_FOLDERS] },
	{ path: 'lib/server/sandbox/', imports: [CHARACTERS, FOREIGN_FOLDERS] },
	{ path: 'lib/server/network/', imports: [SHARED, 'lib/server/skills/', 'lib/server/store/'] },
	{
		path: 'lib/server/secrets/',
		imports: [SHARED, SANDBOX, FOREIGN_FOLDERS, 'lib/server/skills/', 'lib/server/store/']
	},
	{ path: 'lib/server/trust/', imports: [SHARED, 'lib/server/skills/', 'lib/server/store/'] },
	{ path: 'lib/server/access/', imports: [SHARED, 'lib/server/store/'] },
	{ path: 'lib/server/agent/', imports: [SHARED] },
	{
		path: 'lib/server/models/',
		imports: [
			SHARED,
			LOG,
			'lib/server/agent/',
			'lib/server/skills/search.ts',
			'lib/server/skills/skill-index.ts',
			'lib/server/skills/dialects/envelope.ts'
		]
	},
	{
		path: 'lib/server/store/',
		imports: [
			SHARED,
			LOG,
			'lib/server/agent/model.ts',
			'lib/server/skills/types.ts',
			'lib/server/skills/execution-host.ts'
		]
	},
	{
		path: 'lib/server/runs/',
		imports: [
			SHARED,
			LOG,
			SAFE_PATH,
			FOREIGN_FOLDERS,
			ROOMS,
			'lib/server/agent/',
			'lib/server/skills/',
			'lib/server/store/'
		]
	},
	{
		path: 'lib/server/builtins/',
		imports: [
			SHARED,
			LOG,
			SAFE_PATH,
			ROOMS,
			SANDBOX,
			'lib/server/agent/tool.ts',
			'lib/server/network/',
			'lib/server/skills/'
		]
	},
	{
		path: 'lib/server/catalog/',
		imports: [
			SHARED,
			LOG,
			SAFE_PATH,
			'lib/server/network/',
			'lib/server/secrets/',
			'lib/server/skills/',
			'lib/server/store/',
			'lib/server/trust/'
		]
	},
	{
		path: 'lib/server/evals/',
		imports: [
			SHARED,
			LOG,
			SAFE_PATH,
			FOREIGN_FOLDERS,
			'lib/server/agent/',
			'lib/server/runs/',
			'lib/server/skills/',
			'lib/server/store/'
		]
	},
	{
		path: 'lib/server/mcp-servers/',
		imports: [SHARED, REDACT, 'lib/server/secrets/', 'lib/server/skills/', 'lib/server/store/']
	},
	{ path: 'lib/server/openapi/', imports: [SHARED] },
	{
		path: 'lib/server/protocols/',
		imports: [
			SHARED,
			LOG,
			SAFE_PATH,
			READ_TEXT,
			'lib/server/agent/',
			'lib/server/runs/',
			'lib/server/skills/',
			'lib/server/store/'
		]
	},
	// A whole server, without its pages.
	{ path: 'lib/server/cli/serve-mcp.ts', imports: ['lib/server/'] },
	{ path: 'lib/server/cli/backup.ts', imports: [LOG, 'lib/server/backup.ts', 'lib/server/config.ts'] },
	{
		path: 'lib/server/cli/',
		imports: [
			SHARED,
			FOREIGN_FOLDERS,
			'lib/server/config.ts',
			'lib/server/evals/',
			'lib/server/models/',
			'lib/server/skills/'
		]
	},
	{ path: LOG, imports: [] },
	{ path: FOREIGN_FOLDERS, imports: [] },
	{ path: SAFE_PATH, imports: [SHARED, FOREIGN_FOLDERS] },
	{ path: READ_TEXT, imports: [SHARED] },
	{ path: ROOMS, imports: [SHARED, FOREIGN_FOLDERS] },
	{ path: 'lib/server/data-folder.ts', imports: [LOG] },
	{ path: 'lib/server/backup.ts', imports: [SHARED, LOG, SAFE_PATH, 'lib/server/data-folder.ts'] },
	{ path: 'lib/server/config.ts', imports: [SHARED, SANDBOX] },
	{ path: 'lib/server/http.ts', imports: [SHARED, 'lib/server/'], kit: true },
	{ path: 'lib/server/while-connected.ts', imports: [] },
	{ path: 'lib/server/linger.ts', imports: [] },
	{ path: 'lib/server/upgrade.ts', imports: [SHARED, 'lib/server/'] },
	{ path: 'lib/server/app.ts', imports: [SHARED, 'lib/server/'] },
	{ path: 'lib/server/open-skills.ts', imports: [SHARED, 'lib/server/'] },
	{ path: 'lib/server/handler-modules.ts', imports: ['lib/server/skills/native-handlers.ts'] },
	{ path: 'lib/server/open-sandbox.ts', imports: [LOG, 'lib/server/config.ts', 'lib/server/sandbox/'] },

	{ path: 'lib/chat/', imports: [SHARED] },
	{ path: 'lib/components/', imports: [SHARED, 'lib/chat/'] },
	{ path: 'routes/', imports: ['lib/', 'app.css'], kit: true },
	{ path: 'service-worker.ts', imports: [], kit: true },
	{ path: 'hooks.client.ts', imports: [], kit: true },
	{ path: 'hooks.server.ts', imports: [SHARED, 'lib/server/'], kit: true },
	{ path: 'app.d.ts', imports: ['lib/'], kit: true }
];

/** Files that make a concrete part, and who outside their own folder may import them besides `app.ts`. */
export const CONCRETE_PARTS: Record<string, string[]> = {
	// The library works alone, so it brings a backend of its own.
	'lib/server/sandbox/process.ts': ['lib/server/skills/provider.ts', 'lib/server/open-sandbox.ts'],
	'lib/server/sandbox/bubblewrap.ts': ['lib/server/open-sandbox.ts'],
	'lib/server/sandbox/container.ts': ['lib/server/open-sandbox.ts'],
	// The command line has no app.
	'lib/server/models/responses.ts': ['lib/server/cli/evaluate.ts'],
	'lib/server/models/offline.ts': ['lib/server/cli/evaluate.ts'],
	'lib/server/store/sqlite.ts': [],
	'lib/server/store/postgres.ts': []
};

export const COMPOSITION_ROOT = 'lib/server/app.ts';

/** Where alone processes may be started: scripts, and the programs of MCP servers that somebody has named. */
export const PROCESS_PLACES = ['lib/server/sandbox/', 'lib/server/mcp-servers/stdio-transport.ts'];

/** Tests may construct any part and look into any layer. */
export function isTestFile(file: string): boolean {
	return /\.(test|suite)\.ts$/.test(file);
}

export function layerOf(file: string): Layer | undefined {
	return LAYERS.find((layer) => startsWithPath(file, layer.path));
}

/** Is `file` the file `path`, or inside the folder `path`? */
export function startsWithPath(file: string, path: string): boolean {
	return path.endsWith('/') ? file.startsWith(path) : file === path;
}
