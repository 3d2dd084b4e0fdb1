/** The dependency rule as data: which part of `src/` may import what. */

interface Layer {
	/** A folder (ends in `/`) or one file, from `src/`. */
	path: string;
	/** What it may import besides itself: folders or files, relative to `src/`. */
	imports: string[];
	/** May it import `$app`, `$env` and `@sveltejs/kit`? */
	kit?: true;
	/** The only packages it may import; any if not set. */
	packages?: string[];
}

const SHARED = 'lib/shared/';
const LOG = 'lib/server/log.ts';
const SAFE_PATH = 'lib/server/safe-path.ts';
/** Walks, copies and removes folders that scripts write to; has no dependencies, so anything may use it. */
const FOREIGN_FOLDERS = 'lib/server/foreign-folders.ts';
const READ_TEXT = 'lib/server/read-text.ts';
/** Pure: narrows untrusted JSON. */
const JSON_VALUES = 'lib/shared/json.ts';
/** Pure: schema issues in plain words. */
const PLAIN_ISSUES = 'lib/shared/plain-issues.ts';
/** Limits of a workspace, for uploads and built-in skills. */
const ROOMS = 'lib/server/workspace-rooms.ts';
const WORKSPACES = 'lib/server/workspaces.ts';
const VERSIONS = 'lib/server/workspace-versions.ts';
const ZIP = 'lib/server/zip.ts';
/** Pure. */
const CSV = 'lib/server/csv.ts';
/** Pure: the table of hidden characters. */
const CHARACTERS = 'lib/shared/characters.ts';
/** The interface only. */
const SANDBOX = 'lib/server/sandbox/sandbox.ts';
/** Pure: redacts output. Executions need it outside their streams too. */
const REDACT = 'lib/server/sandbox/output/redact.ts';

const SKILLS = 'lib/server/skills/';
const AGENT = 'lib/server/agent/';
const STORE = 'lib/server/store/';
/** Words between servers on the same database. */
const REPLICA = 'lib/server/replica.ts';
/** Shows and stops what another server does. */
const STOP_WISHES = 'lib/server/stop-wishes.ts';
const TRUST = 'lib/server/trust/';
const TURNS = 'lib/server/turns/';
const NETWORK = 'lib/server/network/';

/** A file belongs to the first layer whose path it starts with. */
const LAYERS: Layer[] = [
	{ path: SHARED, imports: [], packages: ['zod', '@ag-ui/core'] },

	{ path: SKILLS, imports: [SANDBOX, REDACT, CHARACTERS, JSON_VALUES, PLAIN_ISSUES, FOREIGN_FOLDERS] },
	{ path: 'lib/server/sandbox/', imports: [CHARACTERS, FOREIGN_FOLDERS] },
	{ path: NETWORK, imports: [SHARED, SKILLS, STORE] },
	{ path: TRUST, imports: [SHARED, SANDBOX, FOREIGN_FOLDERS, SKILLS, STORE] },
	{ path: 'lib/server/access/', imports: [SHARED, STORE] },
	{ path: AGENT, imports: [SHARED] },
	{
		path: 'lib/server/offline/',
		imports: [SHARED, AGENT, 'lib/server/skills/find/', 'lib/server/skills/call/dialects/agent-zero.ts']
	},
	{
		path: 'lib/server/models/',
		imports: [
			SHARED,
			LOG,
			AGENT,
			'lib/server/offline/offline.ts',
			'lib/server/settings/settings.ts',
			'lib/server/skills/call/dialects/agent-zero.ts'
		]
	},
	{
		path: STORE,
		imports: [
			SHARED,
			LOG,
			'lib/server/agent/model.ts',
			'lib/server/skills/types.ts',
			'lib/server/skills/run/execution-host.ts'
		]
	},
	{ path: REPLICA, imports: [SHARED, LOG, STORE] },
	{ path: STOP_WISHES, imports: [STORE, SHARED, LOG, REPLICA] },
	{
		path: 'lib/server/workers/',
		imports: [
			...[SHARED, LOG, NETWORK, REPLICA, SANDBOX, 'lib/server/sandbox/running.ts', STORE, TRUST],
			...['lib/server/file-storage/', 'lib/server/skills/run/execution-host.ts']
		]
	},
	{
		path: 'lib/server/file-storage/',
		imports: [
			...[SHARED, LOG, FOREIGN_FOLDERS, SAFE_PATH, ROOMS, WORKSPACES, VERSIONS, STORE],
			'lib/server/skills/read/skill-tree.ts',
			'lib/server/install/folder-swap.ts',
			'lib/server/install/install-context.ts'
		]
	},
	{ path: 'lib/server/settings/', imports: [SHARED, STORE] },
	{ path: TURNS, imports: [SHARED, LOG, FOREIGN_FOLDERS, WORKSPACES, AGENT, SKILLS, STORE, TRUST, REPLICA] },
	{ path: 'lib/server/runs/', imports: [SHARED, LOG, AGENT, REPLICA, STORE, TURNS] },
	{
		path: 'lib/server/conversations/',
		imports: [SHARED, LOG, SAFE_PATH, WORKSPACES, AGENT, SKILLS, STORE, TRUST, TURNS, 'lib/server/runs/']
	},
	{
		path: 'lib/server/skill-admin/',
		imports: [SHARED, LOG, CSV, SAFE_PATH, FOREIGN_FOLDERS, VERSIONS, WORKSPACES, SKILLS, STORE, TRUST, TURNS]
	},
	{
		path: 'lib/server/builtins/',
		imports: [SHARED, LOG, SAFE_PATH, FOREIGN_FOLDERS, ROOMS, SANDBOX, 'lib/server/agent/tool.ts', NETWORK, SKILLS]
	},
	{ path: 'lib/server/packages/', imports: [SHARED, FOREIGN_FOLDERS, NETWORK, SKILLS, STOP_WISHES, STORE, TRUST] },
	{
		path: 'lib/server/install/',
		imports: [READ_TEXT, SHARED, LOG, FOREIGN_FOLDERS, SAFE_PATH, ZIP, NETWORK, SKILLS, STORE, TRUST]
	},
	{
		path: 'lib/server/evals/',
		imports: [
			SHARED,
			LOG,
			CSV,
			ZIP,
			SAFE_PATH,
			FOREIGN_FOLDERS,
			AGENT,
			SKILLS,
			REPLICA,
			STOP_WISHES,
			STORE,
			TRUST,
			TURNS,
			'lib/server/install/sources/upload.ts',
			'lib/server/install/staging-folder.ts',
			'lib/server/skill-admin/skill-details.ts'
		]
	},
	{
		path: 'lib/server/drafts/',
		imports: [
			SHARED,
			LOG,
			FOREIGN_FOLDERS,
			'lib/server/evals/evals.ts',
			WORKSPACES,
			'lib/server/agent/model.ts',
			SKILLS,
			REPLICA,
			STOP_WISHES,
			STORE,
			TRUST,
			TURNS,
			'lib/server/install/',
			'lib/server/skill-admin/'
		]
	},
	{ path: 'lib/server/mcp-servers/', imports: [SHARED, NETWORK, REDACT, SKILLS, STORE, TRUST] },
	{
		path: 'lib/server/protocols/',
		imports: [
			SHARED,
			LOG,
			SAFE_PATH,
			FOREIGN_FOLDERS,
			READ_TEXT,
			WORKSPACES,
			AGENT,
			SKILLS,
			REPLICA,
			STOP_WISHES,
			STORE,
			TRUST,
			TURNS,
			// For addresses that programs give.
			NETWORK,
			'lib/server/runs/',
			'lib/server/conversations/',
			'lib/server/packages/',
			'lib/server/skill-admin/'
		]
	},
	// The whole server, without pages.
	{ path: 'lib/server/cli/serve-stdio.ts', imports: ['lib/server/'] },
	{ path: 'lib/server/cli/install-packages.ts', imports: ['lib/server/', SHARED] },
	{ path: 'lib/server/cli/worker.ts', imports: ['lib/server/', SHARED] },
	{ path: 'lib/server/cli/backup.ts', imports: [LOG, 'lib/server/backup/', 'lib/server/config.ts'] },
	{ path: 'lib/server/cli/publish.ts', imports: [SKILLS, 'lib/server/install/publish.ts'] },
	{
		path: 'lib/server/cli/',
		imports: [
			SHARED,
			FOREIGN_FOLDERS,
			'lib/server/config.ts',
			'lib/server/evals/',
			'lib/server/models/',
			'lib/server/offline/',
			SKILLS
		]
	},
	{ path: LOG, imports: [] },
	{ path: FOREIGN_FOLDERS, imports: [] },
	{ path: SAFE_PATH, imports: [SHARED, FOREIGN_FOLDERS] },
	{ path: READ_TEXT, imports: [SHARED] },
	{ path: ROOMS, imports: [SHARED, FOREIGN_FOLDERS] },
	{ path: ZIP, imports: [] },
	{ path: CSV, imports: [] },
	{ path: VERSIONS, imports: [SHARED, FOREIGN_FOLDERS] },
	{ path: WORKSPACES, imports: [SHARED, LOG, FOREIGN_FOLDERS, SAFE_PATH, ROOMS, VERSIONS, ZIP] },
	{ path: 'lib/server/data-folder.ts', imports: [LOG, FOREIGN_FOLDERS, REPLICA] },
	{ path: 'lib/server/backup/', imports: [SHARED, LOG, SAFE_PATH, ROOMS, 'lib/server/data-folder.ts'] },
	{ path: 'lib/server/telemetry/', imports: [SHARED, LOG, AGENT, 'lib/server/skills/run/execution-host.ts'] },
	{
		path: 'lib/server/config.ts',
		imports: [SHARED, SANDBOX, 'lib/server/telemetry/telemetry.ts', 'lib/server/variables.ts']
	},
	{ path: 'lib/server/variables.ts', imports: [SHARED] },
	{ path: 'lib/server/http.ts', imports: [SHARED, 'lib/server/'], kit: true },
	{ path: 'lib/server/endpoint.ts', imports: [SHARED, 'lib/server/'], kit: true },
	{ path: 'lib/server/openapi.ts', imports: [SHARED, 'lib/server/endpoint.ts'] },
	{ path: 'lib/server/linger.ts', imports: [] },
	{ path: 'lib/server/upgrade.ts', imports: [SHARED, 'lib/server/'] },
	{ path: 'lib/server/app.ts', imports: [SHARED, 'lib/server/'] },
	{ path: 'lib/server/open-skills.ts', imports: [SHARED, 'lib/server/'] },
	{ path: 'lib/server/open-sandbox.ts', imports: ['lib/server/'] },

	// Types of endpoints only; no route code reaches the page.
	{ path: 'lib/page/', imports: [SHARED, 'routes/endpoints.ts'] },
	{ path: 'params/', imports: [], kit: true },
	{ path: 'routes/', imports: ['lib/', 'app.css'], kit: true },
	{ path: 'service-worker.ts', imports: ['lib/shared/names.ts'], kit: true },
	{ path: 'hooks.client.ts', imports: [], kit: true },
	{ path: 'hooks.server.ts', imports: [SHARED, 'lib/server/'], kit: true },
	{ path: 'app.d.ts', imports: ['lib/'], kit: true }
];

/** Files that create a concrete part, and what else may import them besides `app.ts` and their own folder. */
export const CONCRETE_PARTS: Record<string, string[]> = {
	// The library works on its own, so it includes a backend.
	'lib/server/sandbox/process.ts': ['lib/server/skills/provider.ts', 'lib/server/open-sandbox.ts'],
	'lib/server/sandbox/bubblewrap.ts': ['lib/server/open-sandbox.ts'],
	'lib/server/sandbox/container.ts': ['lib/server/open-sandbox.ts'],
	// The command line has no app.
	'lib/server/models/responses/responses.ts': ['lib/server/models/models.ts', 'lib/server/cli/evaluate.ts'],
	'lib/server/offline/offline.ts': ['lib/server/models/models.ts', 'lib/server/cli/evaluate.ts'],
	'lib/server/store/sqlite.ts': []
};

export const COMPOSITION_ROOT = 'lib/server/app.ts';

/** The only places that may start processes: scripts, configured MCP servers, Node and the browser. */
export const PROCESS_PLACES = [
	'lib/server/sandbox/',
	'lib/server/mcp-servers/open-server.ts',
	'lib/server/packages/program.ts',
	'lib/server/cli/main.ts'
];

/** Tests may create any part and import from any layer. */
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
