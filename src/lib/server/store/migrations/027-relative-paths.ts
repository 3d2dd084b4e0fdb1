/** Paths of skills’ folders, which were absolute: relative to the data folder, so that it can be moved. */
import { type Kysely, sql } from 'kysely';

/** The end of a path that the installer made. The data folder may have been moved since, so what is before doesn't count. */
const INSTALLED = /(?:^|\/)((?:skills|owned\/key\.[0-9a-f]{24}|kept|trash)\/[^/]+)$/;
const TRASHED = /^(.*)\/(trash\/[^/]+)$/s;

export async function makePathsRelative(db: Kysely<unknown>): Promise<void> {
	const installs = await sql<{ id: string; dir: string }>`select id, dir from skill_installs`.execute(db);
	for (const { id, dir } of installs.rows) {
		await sql`update skill_installs set dir = ${relativeOf(dir)} where id = ${id}`.execute(db);
	}
	const trash = await sql<{
		id: string;
		path: string;
		stored: string;
		install_id: string | null;
	}>`select id, path, stored, install_id from skill_trash`.execute(db);
	for (const { id, path, stored, install_id } of trash.rows) {
		const [, dataDir, within] = TRASHED.exec(withSlashes(stored)) ?? [];
		if (dataDir === undefined || within === undefined) continue;
		const isInside = withSlashes(path).startsWith(`${dataDir}/`);
		const before = isInside ? withSlashes(path).slice(dataDir.length + 1) : install_id ? relativeOf(path) : path;
		await sql`update skill_trash set path = ${before}, stored = ${within} where id = ${id}`.execute(db);
	}
}

function relativeOf(path: string): string {
	return INSTALLED.exec(withSlashes(path))?.[1] ?? path;
}

/** As Windows writes them. */
function withSlashes(path: string): string {
	return /^[a-z]:\\|^\\\\/i.test(path) ? path.replaceAll('\\', '/') : path;
}
