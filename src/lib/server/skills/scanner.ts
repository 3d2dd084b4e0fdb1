/** Roots → skills, ready or broken. Opens regular files only, follows links without going round, stops at caps (A24, A27). */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, open, readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { parseManifest } from './manifest.ts';
import { parseSkill } from './parser.ts';
import { isInside, listFiles, scriptsOf } from './resources.ts';
import { SkillLoadError, type BrokenSkill, type Skill, type SkillIssue } from './types.ts';

const MAX_SKILL_FILE = 2 * 1024 * 1024;
const MAX_DEPTH = 6;
const MAX_FOLDERS = 2000;
const CONCURRENCY = 32;

/** Every folder below the roots with a SKILL.md, in the order of the roots, then by path. Absent roots are skipped. */
export async function scanRoots(roots: readonly string[]): Promise<(Skill | BrokenSkill)[]> {
	const found: { path: string; root: string }[] = [];
	const seen = new Set<string>();
	for (const root of roots) {
		for (const path of await findSkillFiles(root, seen)) found.push({ path, root });
	}
	const skills: (Skill | BrokenSkill)[] = Array.from({ length: found.length });
	let next = 0;
	const work = async () => {
		for (let index = next++; index < found.length; index = next++) {
			const entry = found[index];
			if (entry) skills[index] = await loadSkill(entry.path, entry.root);
		}
	};
	await Promise.all(Array.from({ length: Math.min(CONCURRENCY, found.length) }, work));
	return skills;
}

/** Paths of SKILL.md files: descent stops at a skill, `seen` holds real folders so that links cannot go round. */
async function findSkillFiles(root: string, seen: Set<string>): Promise<string[]> {
	const files: string[] = [];
	let level = [root];
	let folders = 0;
	for (let depth = 0; depth <= MAX_DEPTH && level.length > 0; depth += 1) {
		const next: string[] = [];
		for (const folder of level) {
			if ((folders += 1) > MAX_FOLDERS) return files;
			const real = await realpath(folder).catch(() => null);
			if (real === null || seen.has(real)) continue;
			const entries = await readdir(folder, { withFileTypes: true }).catch(() => null);
			if (!entries) continue;
			seen.add(real);
			const names = new Set(entries.map((entry) => entry.name));
			const skillFile = ['SKILL.md', 'skill.md'].find((name) => names.has(name));
			if (skillFile && depth > 0) {
				files.push(join(folder, skillFile));
				continue;
			}
			for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
				if (/^[._]/.test(entry.name) || entry.name === 'node_modules') continue;
				const path = join(folder, entry.name);
				if (entry.isDirectory() || (entry.isSymbolicLink() && (await isFolder(path)))) next.push(path);
			}
		}
		level = next;
	}
	return files.sort();
}

async function isFolder(path: string): Promise<boolean> {
	return stat(path).then(
		(entry) => entry.isDirectory(),
		() => false
	);
}

async function loadSkill(path: string, root: string): Promise<Skill | BrokenSkill> {
	const dir = dirname(path);
	const broken = (issues: readonly SkillIssue[], description = ''): BrokenSkill => {
		return { status: 'broken', name: basename(dir), description, path, dir, root, issues: [...issues] };
	};
	try {
		const contents = await readSafely(path);
		const { spec, warnings } = parseSkill(contents, path, { mode: 'lenient' });
		const issues = [...warnings];
		if (basename(path) !== 'SKILL.md') {
			issues.push({ field: '_', severity: 'warning', message: 'is named skill.md', fix: 'rename it to SKILL.md' });
		}
		if (issues.some((issue) => issue.severity === 'error')) return broken(issues, firstParagraph(spec.body));
		const files = await listFiles(dir);
		const manifest = files.includes('tools.json')
			? parseManifest(await readSafely(join(dir, 'tools.json')))
			: { tools: [], issues: [] };
		return {
			...spec,
			status: 'ready',
			root,
			digest: createHash('sha256').update(contents).digest('hex').slice(0, 16),
			tools: manifest.tools,
			files,
			scripts: scriptsOf(files),
			issues: [...issues, ...manifest.issues]
		};
	} catch (error) {
		if (error instanceof SkillLoadError) return broken(error.issues);
		return broken([{ field: '_', severity: 'error', message: (error as Error).message }]);
	}
}

/** Text of a regular file of bounded size that really lies in its folder; never blocks on a FIFO or a device. */
async function readSafely(path: string): Promise<string> {
	let target = path;
	if ((await lstat(path)).isSymbolicLink()) {
		target = await realpath(path);
		if (!isInside(await realpath(dirname(path)), target)) throw new Error('is a link that leaves the skill\u2019s folder');
	}
	const file = await open(target, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
	try {
		const entry = await file.stat();
		if (!entry.isFile()) throw new Error('is not a regular file');
		if (entry.size > MAX_SKILL_FILE) throw new Error(`is larger than 2 MiB (${entry.size} bytes)`);
		const { buffer, bytesRead } = await file.read(Buffer.alloc(entry.size), 0, entry.size, 0);
		const bytes = buffer.subarray(0, bytesRead);
		if (bytes.includes(0)) throw new Error('is a binary file');
		return decode(bytes);
	} finally {
		await file.close();
	}
}

function decode(bytes: Buffer): string {
	try {
		return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
	} catch (error) {
		throw new Error('is not UTF-8 text', { cause: error });
	}
}

function firstParagraph(body: string): string {
	return body.split(/\n\s*\n/).find((part) => part.trim() && !part.trim().startsWith('#'))?.trim().slice(0, 300) ?? '';
}
