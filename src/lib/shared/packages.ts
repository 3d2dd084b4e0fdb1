/** Packages of skills: what is to be installed, and what is (D46). */
import { z } from 'zod';

const ecosystem = z.enum(['python', 'javascript']);

export const lockedPackage = z.object({
	ecosystem,
	name: z.string(),
	version: z.string(),
	/** `sha256-` and hex for Python; for JavaScript as npm has it: `sha512-` and base64. */
	hash: z.string(),
	/** The host it comes from; `file:` for a folder. */
	from: z.string(),
	/** To download; null if the index doesn’t say. */
	bytes: z.number().nullable()
});
export type LockedPackage = z.infer<typeof lockedPackage>;

/** Exactly which packages: the same digest is the same environment on any machine. */
export const packageLock = z.object({
	/** SHA-256 of names, versions and hashes, in hex. */
	digest: z.string(),
	/** `3.12`, and the system of its wheels; null without Python packages. */
	python: z.object({ version: z.string(), system: z.string() }).nullable(),
	/** npm’s lock without addresses, and the system of its files if it isn’t the server’s own. */
	javascript: z
		.object({
			dependencies: z.record(z.string(), z.string()),
			packages: z.record(z.string(), z.unknown()),
			system: z.string().optional()
		})
		.nullable(),
	/** By name. */
	packages: z.array(lockedPackage),
	/** Guessed by an import, and not in the index. */
	notFound: z.array(z.string()).optional(),
	/** What was asked for, such as `python-docx>=1.1`. */
	requested: z.array(z.object({ ecosystem, requirement: z.string() }))
});
export type PackageLock = z.infer<typeof packageLock>;

/** What all skills’ packages take on the disk, and may take (`SKILLS_PACKAGES_MB`). */
const packagesSpace = z.object({ bytes: z.number(), maxBytes: z.number() });
export type PackagesSpace = z.infer<typeof packagesSpace>;

const shownLock = packageLock.pick({ digest: true, packages: true, notFound: true });

/** `GET /api/skills/:id/packages` */
export const skillPackages = z.object({
	/**
	 * `gone`: its files are, and the same can be installed again. `other-python`: scripts run with another Python or system
	 * than it was made for, so it has to be looked up anew.
	 */
	installed: shownLock.extend({ state: z.enum(['ready', 'gone', 'other-python']), installedAt: z.string() }).nullable(),
	/** Looked up and shown, but not yet allowed; null if that is what is installed. */
	proposed: shownLock.nullable(),
	/** While something waits for consent: what is `proposed`, or `gone`. */
	space: packagesSpace.optional(),
	/** What is going on. */
	work: z
		.object({
			kind: z.enum(['looking-up', 'installing']),
			text: z.string(),
			done: z.number().optional(),
			of: z.number().optional(),
			/** Written so far. */
			bytes: z.number().optional()
		})
		.nullable(),
	/** Why the last work failed. */
	problem: z
		.object({
			type: z.string(),
			message: z.string(),
			hint: z.string(),
			/** Files of the skill that name what can’t be found. */
			from: z.array(z.string()).optional()
		})
		.nullable()
});
export type SkillPackagesState = z.infer<typeof skillPackages>;

/** `POST /api/skills/:id/packages`: what to look up besides what the skill’s files name. */
export const packagesWanted = z.strictObject({
	also: z
		.array(z.strictObject({ ecosystem, name: z.string().min(1).max(200) }))
		.max(20)
		.default([])
});

/** `DELETE /api/skills/:id/packages` */
export const packagesRemoved = z.object({
	only: z
		.enum(['pending', 'installed'])
		.optional()
		.describe(
			'`pending`: stops what is going on and forgets what was proposed, and removes nothing that is installed. `installed`: removes that, unless more is being installed (409). Otherwise what is pending, or else what is installed.'
		)
});
export type PackagesRemoved = z.infer<typeof packagesRemoved>['only'];

/** `PUT /api/skills/:id/packages`: the digest of what was shown. */
export const packagesAllowed = z.strictObject({ digest: z.string().regex(/^[0-9a-f]{64}$/) });

/** `42 MB of 2,048 MB used`. As the setting has it, a megabyte is 2²⁰ bytes. */
export function spaceUsed({ bytes, maxBytes }: PackagesSpace): string {
	const [used, allowed] = [bytes, maxBytes].map((each) => Math.ceil(each / 2 ** 20).toLocaleString('en-US'));
	return `${used} MB of ${allowed} MB used`;
}

/** Whether a skill lacks a package that its index may have. */
export function lacksPackages(
	needed: readonly { name: string; isDeclared: boolean; isFound: boolean }[],
	installed: Pick<PackageLock, 'notFound'> | null
): boolean {
	return needed.some(
		({ name, isDeclared, isFound }) => !isFound && (isDeclared || installed?.notFound?.includes(name) !== true)
	);
}
