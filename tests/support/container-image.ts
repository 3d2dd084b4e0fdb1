/** An image for container tests that needs no registry, made from this machine's Node, Python, shells and their libraries. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

export const TEST_IMAGE = 'localhost/openrouter-skills-test:latest';
/** Label that says what an existing image was made of. */
const CONTENT_LABEL = 'openrouter-skills-test.content';

const COMMANDS =
	'bash sh cat chmod cp date dd echo env false find grep head id kill ln ls mkdir mkfifo mount mv nohup nproc ps readlink rm sed seq setsid sleep sort stat tail tee timeout touch tr true uname wc yes';
/** The one locale that every usual image has. */
const LOCALE = '/usr/lib/locale/C.utf8';
/** Parts of Python's library that scripts don't need. */
const LEFT_OUT = ['test', 'idlelib', 'dist-packages', 'site-packages', 'config-3*', '__pycache__'];

const run = promisify(execFile);
const FOLDERS = ['/usr/local/bin', '/usr/bin', '/bin', '/usr/sbin', '/sbin'];

/**
 * Creates the image unless the runtime already has one with the same content, and returns its name. Takes about 6 s the
 * first time. `runtime` is podman or docker.
 */
export async function makeContainerImage(runtime: string): Promise<string> {
	const files = await filesOfImage();
	const content = createHash('sha256').update(files.map(fingerprint).join('\n')).digest('hex');
	const before = await inspect(runtime);
	if (before?.content === content) return TEST_IMAGE;
	const folder = await mkdtemp(join(tmpdir(), 'container-image-'));
	try {
		const tar = join(folder, 'image.tar');
		const node = process.execPath.slice(1);
		await run('tar', [
			...['--create', '--dereference', '--file', tar, '--directory', '/'],
			...LEFT_OUT.map((name) => `--exclude=${name}`),
			...['--transform', `s,^${node.replaceAll(/[.*^$[\]]/g, '\\$&')}$,usr/local/bin/node,`],
			...files.map((file) => file.slice(1))
		]);
		await run(runtime, ['import', '--change', `LABEL ${CONTENT_LABEL}=${content}`, tar, TEST_IMAGE]);
	} finally {
		await rm(folder, { recursive: true });
	}
	// Otherwise the image that had this name would stay behind untagged.
	if (before) await run(runtime, ['rmi', before.id]).catch(() => undefined);
	return TEST_IMAGE;
}

/** Absolute paths of programs, libraries and Python's library folder. */
async function filesOfImage(): Promise<string[]> {
	const programs = COMMANDS.split(' ').flatMap(findPrograms);
	const [python = null] = findPrograms('python3');
	const library = python
		? (await run(python, ['-c', 'import sysconfig; print(sysconfig.get_path("stdlib"))'])).stdout.trim()
		: null;
	const modules = library ? join(library, 'lib-dynload') : null;
	const linked = [
		...programs,
		process.execPath,
		...(python ? [python] : []),
		...(modules ? readdirSync(modules).map((name) => join(modules, name)) : [])
	];
	// Scripts have no libraries: ldd reports that with its exit code.
	const { stdout } = await run('ldd', linked).catch((error: Error & { stdout: string }) => error);
	const libraries = [...stdout.matchAll(/(?:=> |^\s+)(\/\S+) \(0x/gm)].map((match) => match[1] ?? '');
	return [
		...new Set([
			...programs,
			process.execPath,
			...(python ? [python] : []),
			...(library ? [library] : []),
			...(existsSync(LOCALE) ? [LOCALE] : []),
			...libraries
		])
	].sort();
}

/** Debian's own program under each of its paths (scripts name `/bin/sh`), never a version manager's shim. */
function findPrograms(name: string): string[] {
	return FOLDERS.map((folder) => join(folder, name)).filter((file) => {
		try {
			accessSync(file, constants.X_OK);
			return true;
		} catch {
			return false;
		}
	});
}

function fingerprint(file: string): string {
	const { size, mtimeMs } = statSync(file);
	return `${file} ${size} ${mtimeMs}`;
}

async function inspect(runtime: string): Promise<{ id: string; content: string } | null> {
	const format = `{{.Id}} {{index .Config.Labels "${CONTENT_LABEL}"}}`;
	try {
		const [id = '', content = ''] = (await run(runtime, ['image', 'inspect', '--format', format, TEST_IMAGE])).stdout
			.trim()
			.split(' ');
		return { id, content };
	} catch {
		return null;
	}
}
