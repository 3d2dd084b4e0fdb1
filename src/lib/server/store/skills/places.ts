/** Folders of skills in rows: relative to the data folder or to a folder of skills, so that both can be moved. */
import { isAbsolute, join, relative, sep } from 'node:path';
import type { SkillRoot } from '../../skills/types.ts';
import type { Store } from '../store.ts';

/** Marks the label of a folder of skills: no label begins with it, and nothing that is kept in the data folder. */
export const LABEL = '~';

/** `roots`: folders of skills with their labels. */
export function createSkillPlaces(dataDir: string, roots: readonly Pick<SkillRoot, 'path' | 'source'>[] = []) {
	const bases = [...roots].sort((one, other) => other.path.length - one.path.length);
	return {
		/** `skills/pdf@1.0.0` in the data folder, `~label/pdf` in a folder of skills; as it is, elsewhere. */
		toRow(path: string): string {
			const within = withinOf(dataDir, path);
			if (within !== null) return within;
			for (const base of bases) {
				const below = withinOf(base.path, path);
				if (below !== null) return `${LABEL}${base.source}/${below}`;
			}
			return path;
		},
		/** Absolute. null if it would lead out of all these folders, or its folder of skills isn't there any more. */
		fromRow(text: string): string | null {
			if (isAbsolute(text)) {
				const isKnown = [dataDir, ...bases.map(({ path }) => path)].some((base) => withinOf(base, text) !== null);
				return isKnown ? text : null;
			}
			const [first = '', ...rest] = text.split('/');
			const base = first.startsWith(LABEL) ? bases.find(({ source }) => `${LABEL}${source}` === first)?.path : dataDir;
			const parts = first.startsWith(LABEL) ? rest : [first, ...rest];
			const isBad = (part: string) => part === '' || part === '.' || part === '..' || /[\0\\]/.test(part);
			if (base === undefined || parts.length === 0 || parts.some(isBad)) return null;
			return join(base, ...parts);
		}
	};
}

export type SkillPlaces = ReturnType<typeof createSkillPlaces>;

/** With `/`; null if it isn't below the folder. */
function withinOf(folder: string, path: string): string | null {
	const within = relative(folder, path);
	const isBelow = within !== '' && within !== '..' && !within.startsWith(`..${sep}`) && !isAbsolute(within);
	return isBelow ? within.replaceAll(sep, '/') : null;
}

/**
 * The store with absolute paths for those who use it, and relative ones in its rows. Rows of installations and of the trash
 * whose folder isn't in the data folder don't count.
 */
export function withSkillPlaces(store: Store, dataDir: string, places: SkillPlaces): Store {
	const { skillInstalls, skillTrash } = store;
	const own = (text: string): string | null => {
		const path = places.fromRow(text);
		return path !== null && withinOf(dataDir, path) !== null ? path : null;
	};
	const installAt = <Row extends { dir: string }>(row: Row): Row[] => {
		const dir = own(row.dir);
		return dir === null ? [] : [{ ...row, dir }];
	};
	const trashAt = <Row extends { path: string; stored: string }>(row: Row): Row[] => {
		const stored = own(row.stored);
		return stored === null ? [] : [{ ...row, stored, path: places.fromRow(row.path) ?? row.path }];
	};
	return {
		...store,
		skillInstalls: {
			...skillInstalls,
			add: (record, now) => skillInstalls.add({ ...record, dir: places.toRow(record.dir) }, now),
			move: (id, { state, dir }, now) => skillInstalls.move(id, { state, dir: places.toRow(dir) }, now),
			async get(id) {
				const row = await skillInstalls.get(id);
				return (row && installAt(row)[0]) ?? null;
			},
			list: async (skillId) => (await skillInstalls.list(skillId)).flatMap(installAt)
		},
		skillTrash: {
			...skillTrash,
			add: (record) =>
				skillTrash.add({ ...record, path: places.toRow(record.path), stored: places.toRow(record.stored) }),
			async get(id) {
				const row = await skillTrash.get(id);
				return (row && trashAt(row)[0]) ?? null;
			},
			list: async () => (await skillTrash.list()).flatMap(trashAt)
		}
	};
}
